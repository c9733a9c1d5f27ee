/**
 * One lane a target: deliveries of a target one after another (or `concurrency` at a time), and no
 * lane ever waits for another. All lanes together keep to a number of attempts under way.
 */
import { setImmediate } from "node:timers";
import type { Delivery, QueueEngine } from "./engine.ts";
import { Pace } from "./pace.ts";
import type { AttemptResult } from "./send.ts";
import { isRetryable } from "./send.ts";
import { Slots } from "./slots.ts";
import type { Target } from "./target.ts";

/** When a failed attempt is followed by another. */
export interface RetryPolicy {
  /**
   * Milliseconds until the next attempt, or undefined: given up.
   * @param made attempts made, this one included
   */
  next(result: AttemptResult, made: number): number | undefined;
}

/** rule 10.4: one retry about a second later. */
export const ONE_RETRY: RetryPolicy = {
  next: (result, made) => made === 1 && isRetryable(result.outcome) ? 1_000 : undefined,
};

/** An attempt that ended. */
export interface AttemptEnd {
  readonly target: Target;
  readonly delivery: Delivery;
  /** 1 for the first. */
  readonly attempt: number;
  readonly result: AttemptResult;
  /** Milliseconds until the next one; absent: this was the last. */
  readonly retryMs?: number;
}

/** What lanes work with. */
export interface LaneOptions {
  readonly engine: QueueEngine;
  /** Makes one attempt; never throws. */
  readonly send: (target: Target, delivery: Delivery, attempt: number) => Promise<AttemptResult>;
  readonly onEnd: (end: AttemptEnd) => void;
  /** Told of a delivery that was taken for a target that is gone, and is not sent. */
  readonly onGone: (delivery: Delivery) => void;
  /** Default {@link ONE_RETRY}. */
  readonly retry?: RetryPolicy;
  /** Attempts under way over all lanes. Default 200. */
  readonly maxInFlight?: number;
}

/** Below the number at which a runtime's own bounds would stall everyone. */
export const MAX_IN_FLIGHT = 200;
/** A retry this near holds its place in the lane, so that order is kept; a later one lets others by. */
const HOLD_MS = 5_000;

interface Lane {
  target: Target;
  pace: Pace | undefined;
  workers: number;
  /** Something may have become due while a worker was asking. */
  woken: boolean;
  /** Its target is gone: what still waits is taken and not sent. */
  gone: boolean;
}

/** The lanes of all targets. */
export class Lanes {
  readonly #options: LaneOptions;
  readonly #slots: Slots;
  readonly #lanes = new Map<string, Lane>();
  readonly #sleepers = new Map<ReturnType<typeof setTimeout>, () => void>();
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#slots = new Slots(options.maxInFlight ?? MAX_IN_FLIGHT);
    options.engine.onReady((key) => this.#wake(key));
  }

  /**
   * Sends to these targets from now on. A lane whose target has the same key goes on with its queue
   * and the new options; what waits for one that is gone is given up.
   */
  setTargets(targets: readonly Target[]): void {
    const wanted = new Map(targets.map((target) => [target.key, target]));
    for (const [key, lane] of this.#lanes) {
      lane.gone = !wanted.has(key);
      if (lane.gone) this.#wake(key);
    }
    for (const [key, target] of wanted) {
      const { ratePerSecond } = target.options;
      const lane = this.#lanes.get(key);
      const samePace = lane && lane.target.options.ratePerSecond === ratePerSecond;
      const pace = samePace ? lane.pace : ratePerSecond ? new Pace(ratePerSecond) : undefined;
      if (lane) Object.assign(lane, { target, pace });
      else this.#lanes.set(key, { target, pace, workers: 0, woken: false, gone: false });
      this.#wake(key);
    }
  }

  /** Takes nothing more, and waits for nothing. */
  close(): void {
    this.#closed = true;
    this.#lanes.clear();
    for (const [timer, wake] of this.#sleepers) {
      clearTimeout(timer);
      wake();
    }
    this.#sleepers.clear();
  }

  #wake(key: string): void {
    const lane = this.#lanes.get(key);
    if (!lane) return;
    lane.woken = true;
    if (lane.workers >= lane.target.options.concurrency) return;
    lane.workers++;
    // Not now: who fires an event must not pay for its sending.
    setImmediate(() => this.#work(key, lane));
  }

  async #work(key: string, lane: Lane): Promise<void> {
    while (!this.#closed && lane.workers <= lane.target.options.concurrency) {
      lane.woken = false;
      const taken = this.#options.engine.take(key);
      const delivery = taken instanceof Promise ? await taken : taken;
      if (delivery) await this.#deliver(lane, delivery);
      else if (!lane.woken) break;
    }
    lane.workers--;
  }

  async #deliver(lane: Lane, delivery: Delivery): Promise<void> {
    const { engine, send, onEnd, onGone, retry = ONE_RETRY } = this.#options;
    if (lane.gone) {
      await engine.settle(delivery, { kind: "done" });
      return onGone(delivery);
    }
    const wait = lane.pace?.turn(performance.now()) ?? 0;
    if (wait > 0) await this.#sleep(wait);
    const queued = this.#slots.take();
    if (queued) await queued;
    if (this.#closed) return;
    const { target } = lane;
    const attempt = delivery.attempts + 1;
    const result = await send(target, delivery, attempt);
    this.#slots.give();
    if (this.#closed) return;
    // A target that is gone is not tried again.
    const retryMs = lane.gone ? undefined : retry.next(result, attempt);
    onEnd({ target, delivery, attempt, result, retryMs });
    const settled = engine.settle(
      delivery,
      retryMs === undefined ? { kind: "done" } : { kind: "retry", afterMs: retryMs },
    );
    if (settled) await settled;
    if (retryMs !== undefined && retryMs <= HOLD_MS) await this.#sleep(retryMs);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#sleepers.delete(timer);
        resolve();
      }, ms);
      this.#sleepers.set(timer, resolve);
    });
  }
}
