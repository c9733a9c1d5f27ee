/** One attempt and what follows from it: the same for every engine, whoever takes deliveries out. */
import type { Delivery, Settlement, StatusChange, TargetStatus } from "./engine.ts";
import { type AttemptResult, isRetryable } from "./send.ts";
import { Slots } from "./slots.ts";
import type { Target } from "./target.ts";

/** What follows from an attempt. */
export interface Step {
  readonly settlement: Settlement;
  /** The target is to be left alone for so long, in ms, and why. */
  readonly pause?: { readonly ms: number; readonly reason: string };
  /** The target is well again: what is known of a pause is to be forgotten. */
  readonly resume?: true;
  /** The target is to be left alone until someone lifts it, and why. */
  readonly disable?: string;
}

/** Decides what follows from an attempt. */
export interface Policy {
  /**
   * @param made attempts made, this one included
   * @param began when the attempt began, by `clock`
   */
  after(
    target: Target,
    delivery: Delivery,
    result: AttemptResult,
    made: number,
    began?: number,
  ): Step;
  /** The clock by which it is told when an attempt began, in ms; absent: it is not told. */
  readonly clock?: () => number;
  /** How many attempts at a target may be under way now; absent: as many as it asks for. */
  width?(target: Target): number;
  /**
   * Takes over how a target stands from a process before this one; for how long, in ms, it is still
   * to be left alone. Asked once, before anything is taken.
   */
  restore?(target: string, status: TargetStatus): number;
}

/** What a step says of the target itself, to be noted for others; undefined: nothing. */
export function statusChange(
  { pause, resume, disable }: Step,
  now: number,
): StatusChange | undefined {
  if (!pause && !resume && disable === undefined) return undefined;
  return {
    ...(pause && {
      paused: { until: new Date(now + pause.ms).toISOString(), reason: pause.reason },
    }),
    ...(resume && { paused: null }),
    ...(disable !== undefined &&
      { disabled: { since: new Date(now).toISOString(), reason: disable } }),
  };
}

const failure = ({ error = "failed", status }: AttemptResult) => ({ error, status });

/** rule 10.4: one retry about a second later. */
export const ONE_RETRY: Policy = {
  after: (_target, _delivery, result, made) => {
    if (result.outcome === "delivered") return { settlement: { kind: "done" } };
    const why = failure(result);
    return made === 1 && isRetryable(result.outcome)
      ? { settlement: { kind: "retry", afterMs: 1_000, why } }
      : { settlement: { kind: "dead", why } };
  },
};

/** An attempt that ended. */
export interface AttemptEnd {
  readonly target: Target;
  readonly delivery: Delivery;
  /** 1 for the first. */
  readonly attempt: number;
  readonly result: AttemptResult;
  readonly step: Step;
}

/** What {@link Work} is made of. */
export interface WorkOptions {
  /** Makes one attempt; never throws. */
  readonly send: (target: Target, delivery: Delivery, attempt: number) => Promise<AttemptResult>;
  readonly onEnd: (end: AttemptEnd) => void;
  /** Default {@link ONE_RETRY}. */
  readonly policy?: Policy;
  /** Attempts under way over all targets. Default {@link MAX_IN_FLIGHT}. */
  readonly maxInFlight?: number;
}

/** Below the number at which a runtime's own bounds would stall everyone. */
export const MAX_IN_FLIGHT = 200;

/** Makes attempts, so many at a time over all targets. */
export class Work {
  readonly policy: Policy;
  readonly #options: WorkOptions;
  readonly #slots: Slots;
  #closed = false;

  constructor(options: WorkOptions) {
    this.#options = options;
    this.policy = options.policy ?? ONE_RETRY;
    this.#slots = new Slots(options.maxInFlight ?? MAX_IN_FLIGHT);
  }

  /** Attempts that end after this count as not made. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Makes one attempt. Undefined when we were closed meanwhile: nothing is known of it.
   * @param isGone is the target gone by now? Then it is not tried again
   */
  async attempt(
    targetNow: () => Target,
    delivery: Delivery,
    isGone: () => boolean = () => false,
  ): Promise<Step | undefined> {
    const { send, onEnd } = this.#options;
    const queued = this.#slots.take();
    if (queued) await queued;
    if (this.#closed) return undefined;
    const target = targetNow();
    const attempt = delivery.attempts + 1;
    const began = this.policy.clock?.();
    const result = await send(target, delivery, attempt);
    this.#slots.give();
    if (this.#closed) return undefined;
    const decided = this.policy.after(target, delivery, result, attempt, began);
    const step: Step = isGone() && decided.settlement.kind === "retry"
      ? { settlement: { kind: "dead", why: failure(result) } }
      : decided;
    onEnd({ target, delivery, attempt, result, step });
    return step;
  }
}
