/** What follows from an attempt where deliveries are kept: the target's schedule, and its breaker. */
import { durationText } from "../config/duration.ts";
import type { Context } from "../context.ts";
import { Breaker, LONGEST_PAUSE_MS, type Mark } from "./breaker.ts";
import type { Delivery, Failure, Settlement, TargetStatus } from "./engine.ts";
import type { AttemptResult } from "./send.ts";
import type { Target } from "./target.ts";
import type { Policy, Step } from "./work.ts";

/** What a policy works with. */
export interface KeptPolicyOptions {
  /** How old a delivery is, and when a pause ends, is told by this. */
  readonly now: () => Date;
  readonly log: Context["log"];
  /** A clock that does not jump, in ms. Default `performance.now`. */
  readonly clock?: () => number;
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Statuses that say "later", though they are 4xx. */
const LATER: readonly (number | undefined)[] = [408, 425, 429];
const GONE = 410;
/** Waits differ by so much, so that what failed together does not come again together. */
const JITTER = 0.2;

/** Is an attempt worth another, where deliveries are kept? */
function isWorthAnother({ outcome, status }: AttemptResult): boolean {
  return outcome === "unreachable" || outcome === "server_error" || LATER.includes(status);
}

/**
 * A receiver that answers is well, whatever it thinks of one delivery: only what is worth another
 * attempt counts against it. What was not dialled says nothing.
 */
function markOf(result: AttemptResult): Mark {
  if (isWorthAnother(result)) return "failure";
  return result.outcome === "refused" ? "neither" : "success";
}

/**
 * How long until the next attempt, in ms: the schedule's step, 20 % more or less. `Retry-After`
 * counts between once and twice the step, so that no receiver can park a queue.
 * @param made attempts made; the last step repeats
 * @param random from 0 to below 1
 */
export function waitMs(
  scheduleMs: readonly number[],
  made: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  const step = scheduleMs[Math.min(made, scheduleMs.length) - 1] ?? 0;
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, step), 2 * step);
  return Math.round(step * (1 - JITTER + 2 * JITTER * random));
}

/** The policy of engines that keep deliveries. */
export class KeptPolicy implements Policy {
  readonly #now: () => Date;
  readonly #log: Context["log"];
  /** By it attempts that were under way when the breaker opened are told from probes. */
  readonly clock: () => number;
  readonly #random: () => number;
  readonly #breakers = new Map<string, Breaker>();

  constructor({ now, log, clock, random }: KeptPolicyOptions) {
    this.#now = now;
    this.#log = log;
    this.clock = clock ?? (() => performance.now());
    this.#random = random ?? Math.random;
  }

  after(
    target: Target,
    delivery: Delivery,
    result: AttemptResult,
    made: number,
    began = this.clock() - result.durationMs,
  ): Step {
    const changed = this.#noted(target, result, began);
    // An answer, so the breaker is closed; but one by which it wants no more.
    if (result.status === GONE) return this.#disabled(target, result, changed === "closed");
    const settlement = this.#settlement(target, delivery, result, made);
    if (changed === undefined) return { settlement };
    if (changed === "closed") {
      this.#say("info", target, "well again, deliveries go on");
      return { settlement, resume: true };
    }
    const reason = result.error ?? "failed";
    const text = `fails for long (${reason}): left alone for ${durationText(changed)}, then probed`;
    this.#say("warning", target, text);
    return { settlement, pause: { ms: changed, reason } };
  }

  #noted(target: Target, result: AttemptResult, began: number): number | "closed" | undefined {
    return this.#breaker(target.key).note(markOf(result), began, this.clock());
  }

  /** The delivery is not lost: it waits for whoever lifts it. */
  #disabled(target: Target, result: AttemptResult, closed: boolean): Step {
    const reason = `it answered ${GONE}, so it wants no more`;
    const how = `hermes-hooks deliveries enable "${target.name}"`;
    this.#say(
      "error",
      target,
      `${reason}: disabled; what comes is kept and not sent until: ${how}`,
    );
    const settlement: Settlement = { kind: "retry", afterMs: 0, why: whyOf(result) };
    return { settlement, disable: reason, ...(closed && { resume: true as const }) };
  }

  #settlement(
    target: Target,
    delivery: Delivery,
    result: AttemptResult,
    made: number,
  ): Settlement {
    if (result.outcome === "delivered") return { kind: "done" };
    const why = whyOf(result);
    if (!isWorthAnother(result)) return { kind: "dead", why };
    const { attempts, maxAgeMs, scheduleMs } = target.options.retry;
    if (made >= attempts) {
      return givenUp(why, `given up after ${made} attempt${made === 1 ? "" : "s"}`);
    }
    const afterMs = waitMs(scheduleMs, made, result.retryAfterMs, this.#random());
    const age = this.#now().getTime() - (delivery.agesFrom ?? Date.parse(delivery.occurredAt));
    if (age + afterMs > maxAgeMs) {
      return givenUp(
        why,
        `given up, since the next attempt would be past ${durationText(maxAgeMs)}`,
      );
    }
    return { kind: "retry", afterMs, why };
  }

  /** One at a time as long as it is not known whether the target is well again. */
  width({ key }: Target): number {
    return this.#breakers.get(key)?.isOpen ? 1 : Infinity;
  }

  restore(key: string, { paused }: TargetStatus): number {
    if (!paused) return 0;
    this.#breaker(key).restore();
    const left = Date.parse(paused.until) - this.#now().getTime();
    // No longer than any pause is: a clock may have been set back meanwhile.
    return Number.isNaN(left) ? 0 : Math.min(Math.max(0, left), LONGEST_PAUSE_MS);
  }

  #breaker(key: string): Breaker {
    let breaker = this.#breakers.get(key);
    if (!breaker) this.#breakers.set(key, breaker = new Breaker());
    return breaker;
  }

  #say(level: "info" | "warning" | "error", { name }: Target, line: string): void {
    this.#log(level, `outbound "${name}": ${line}`);
  }
}

function whyOf({ error = "failed", status }: AttemptResult): Failure {
  return { error, ...(status !== undefined && { status }) };
}

function givenUp(why: Failure, text: string): Settlement {
  return { kind: "dead", why: { ...why, error: `${why.error}; ${text}` } };
}
