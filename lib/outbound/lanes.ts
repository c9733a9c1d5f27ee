/**
 * One lane a target: deliveries of a target one after another (or `concurrency` at a time), and no
 * lane ever waits for another. All lanes together keep to a number of attempts under way.
 */
import { setImmediate } from "node:timers";
import type { Delivery, Driver, QueueEngine } from "./engine.ts";
import { Pace } from "./pace.ts";
import type { Target } from "./target.ts";
import { statusChange, type Step, type Work } from "./work.ts";

/** What lanes work with. */
export interface LaneOptions {
  readonly engine: QueueEngine;
  readonly work: Work;
  /** Told of a delivery that was taken for a target that is gone, and is not sent. */
  readonly onGone: (delivery: Delivery) => void;
  /** Told when the store failed to note how a target stands. */
  readonly onFault: (error: unknown) => void;
}

/** How often it is asked whether a pause was lifted, in ms. */
const ASK_MS = 1_000;
/** A retry this near holds its place in the lane, so that order is kept; a later one lets others by. */
const HOLD_MS = 5_000;

interface Lane {
  target: Target;
  pace: Pace | undefined;
  workers: number;
  /** Something may have become due while a worker was asking. */
  woken: boolean;
  /** Its target is gone: what still waits is taken and not sent, or left where it is kept. */
  gone: boolean;
  /**
   * Left alone until then, on the clock of `performance.now()`; infinite while it is not known yet
   * how the target stands.
   */
  pausedUntil: number;
  /** Is the pause in the store, where somebody may lift it? */
  noted: boolean;
  /** Is it being asked whether the pause was lifted? */
  asking: boolean;
}

/** The lanes of all targets: the driver of engines that are asked for deliveries. */
export class Lanes implements Driver {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #sleepers = new Map<ReturnType<typeof setTimeout>, () => void>();
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    options.engine.onReady((key) => this.#wake(key));
  }

  /**
   * Sends to these targets from now on. A lane whose target has the same key goes on with its queue
   * and the new options; what waits for one that is gone is given up where nothing is kept.
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
      else this.#open(key, target, pace);
      this.#wake(key);
    }
  }

  #open(key: string, target: Target, pace: Pace | undefined): void {
    const { kept } = this.#options.engine;
    const pausedUntil = kept ? Infinity : 0;
    const idle = { workers: 0, woken: false, gone: false, noted: false, asking: false };
    const lane = { target, pace, pausedUntil, ...idle };
    this.#lanes.set(key, lane);
    if (kept) void this.#restore(key, lane);
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
    if (lane.pausedUntil > performance.now()) return void this.#askAgain(key, lane);
    if (lane.workers >= this.#width(lane)) return;
    lane.workers++;
    // Not now: who fires an event must not pay for its sending.
    setImmediate(() => this.#work(key, lane));
  }

  /** How many workers a lane may have now. */
  #width({ target, pausedUntil, gone }: Lane): number {
    if (gone && this.#options.engine.kept) return 0;
    if (pausedUntil > performance.now()) return 0;
    const { policy } = this.#options.work;
    return Math.min(target.options.concurrency, policy.width?.(target) ?? Infinity);
  }

  async #work(key: string, lane: Lane): Promise<void> {
    while (!this.#closed && lane.workers <= this.#width(lane)) {
      lane.woken = false;
      const taken = this.#options.engine.take(key);
      const delivery = taken instanceof Promise ? await taken : taken;
      if (delivery) {
        // What is kept may be a backlog, of which nobody is told one by one.
        if (this.#options.engine.kept) this.#wake(key);
        await this.#deliver(lane, delivery);
      } else if (!lane.woken) break;
    }
    lane.workers--;
  }

  async #deliver(lane: Lane, delivery: Delivery): Promise<void> {
    const { engine, work, onGone } = this.#options;
    if (lane.gone && !engine.kept) {
      await engine.settle(delivery, { kind: "done" });
      return onGone(delivery);
    }
    const wait = lane.pace?.turn(performance.now()) ?? 0;
    if (wait > 0) await this.#sleep(wait);
    if (engine.kept && (this.#closed || this.#width(lane) === 0)) {
      return await engine.settle(delivery, { kind: "untried" });
    }
    const isGone = () => lane.gone && engine.kept === undefined;
    const step = await work.attempt(() => lane.target, delivery, isGone);
    if (!step) return;
    const { settlement } = step;
    await this.#follow(lane, step);
    const settled = engine.settle(delivery, settlement);
    if (settled) await settled;
    const hold = !engine.kept && settlement.kind === "retry" && settlement.afterMs <= HOLD_MS;
    if (hold) await this.#sleep(settlement.afterMs);
  }

  /** What a step says of the target itself, noted for others too; a store that fails only says so. */
  async #follow(lane: Lane, step: Step): Promise<void> {
    const { engine: { kept }, onFault } = this.#options;
    const change = statusChange(step, Date.now());
    if (!kept || !change) return;
    const { pause, resume } = step;
    if (pause) this.#pause(lane, pause.ms);
    else if (resume) this.#lift(lane);
    try {
      await kept.setStatus(lane.target.key, change);
      if (pause) lane.noted = true;
    } catch (error) {
      onFault(error);
    }
  }

  #pause(lane: Lane, ms: number): void {
    const until = performance.now() + ms;
    lane.pausedUntil = until;
    lane.noted = false;
    void this.#sleep(ms).then(() => {
      // A timer may be early by a hair.
      if (lane.pausedUntil === until) this.#lift(lane);
    });
  }

  #lift(lane: Lane): void {
    lane.pausedUntil = 0;
    this.#wake(lane.target.key);
  }

  /** A pause from before we began goes on. */
  async #restore(key: string, lane: Lane): Promise<void> {
    const { engine: { kept }, work: { policy }, onFault } = this.#options;
    try {
      const status = (await kept!.statuses()).get(key);
      const ms = status && policy.restore ? policy.restore(key, status) : 0;
      if (ms <= 0) return this.#lift(lane);
      this.#pause(lane, ms);
      lane.noted = true;
    } catch (error) {
      onFault(error);
      this.#lift(lane);
    }
  }

  /** Something changed in the store, so somebody may have lifted the pause; asked once a second. */
  async #askAgain(key: string, lane: Lane): Promise<void> {
    if (lane.asking) return;
    lane.asking = true;
    while (lane.woken && lane.noted && lane.pausedUntil > performance.now()) {
      lane.woken = false;
      const { pausedUntil } = lane;
      const statuses = await this.#options.engine.kept!.statuses().catch(() => undefined);
      const isLifted = statuses && !statuses.get(key)?.paused;
      if (isLifted && lane.pausedUntil === pausedUntil) this.#lift(lane);
      else await this.#sleep(ASK_MS);
    }
    lane.asking = false;
  }

  #sleep(ms: number): Promise<void> {
    // A timer that nobody clears would keep the process.
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#sleepers.delete(timer);
        resolve();
      }, ms);
      this.#sleepers.set(timer, resolve);
    });
  }
}
