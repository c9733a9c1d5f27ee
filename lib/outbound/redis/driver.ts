/** Has attempts made: a BullMQ worker for each target, which takes jobs out and ends them. */
import { UnrecoverableError, WaitingError, Worker } from "bullmq";
import type { Context } from "../../context.ts";
import type { Driver, KeptQueue } from "../engine.ts";
import type { Target } from "../target.ts";
import { statusChange, type Step, type Work } from "../work.ts";
import { type DeliveryJob, deliveryOf, failureLine, type JobData, POLICY_BACKOFF } from "./job.ts";
import type { RedisLink } from "./link.ts";
import { limiterFor } from "./limiter.ts";
import { PREFIX, queueNameOf } from "./names.ts";

/** What a driver works with. */
export interface RedisDriverOptions {
  readonly link: RedisLink;
  readonly work: Work;
  readonly kept: KeptQueue;
  readonly log: Context["log"];
  /** How long dead letters are kept, in ms. */
  readonly retainMs: number;
  /** Milliseconds after which a job of a process that died may be taken up. Default 15,000. */
  readonly lockMs?: number;
}

/**
 * A job whose lock was not renewed for so long is another's. The lock is renewed at half its time,
 * and looked for at a third: a killed listener's jobs are taken up within 25 s.
 */
const LOCK_MS = 15_000;
/** A worker that waits for the end of a pause looks this often whether it was lifted, in ms. */
const PAUSE_CHECK_MS = 2_000;
/** A worker whose question failed asks again after so long, in ms. */
const ASK_AGAIN_MS = 1_000;
/** While it ends it looks this often whether it has, in ms. */
const LOOK_MS = 10;
/** The same trouble is told once in so long, in ms. */
const TELL_AGAIN_MS = 60_000;

/** An attempt that failed and is to be followed by another. */
class TryAgain extends Error {
  constructor(why: string, readonly afterMs: number) {
    super(why);
  }
}

interface Lane {
  target: Target;
  readonly worker: Worker<JobData, unknown, string>;
  /** On the clock of `performance.now()`. */
  pausedUntil: number;
}

/** The workers of all targets. */
export class RedisDriver implements Driver {
  readonly #options: RedisDriverOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #closing = new Set<Promise<void>>();
  readonly #told = new Map<string, number>();
  #closed = false;
  /** Attempts. */
  #underWay = 0;

  constructor(options: RedisDriverOptions) {
    this.#options = options;
  }

  setTargets(targets: readonly Target[]): void {
    if (this.#closed) return;
    const wanted = new Map(targets.map((target) => [target.key, target]));
    for (const [key, { target: { options } }] of this.#lanes) {
      const rate = wanted.get(key)?.options.ratePerSecond;
      if (!wanted.has(key) || rate !== options.ratePerSecond) this.#end(key);
    }
    for (const [key, target] of wanted) {
      const lane = this.#lanes.get(key);
      if (lane) lane.target = target;
      else this.#lanes.set(key, this.#begin(target));
      this.#widen(this.#lanes.get(key) as Lane);
    }
  }

  /** Begins to end: nothing more is taken. {@link ended} tells when attempts under way are over. */
  close(): void {
    this.#closed = true;
    for (const key of [...this.#lanes.keys()]) this.#end(key);
  }

  /**
   * Waits, at most `ms`, until every attempt under way has ended and Redis knows of it. While Redis
   * is away only attempts are waited for: what it does not hear of is tried again.
   */
  async ended(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#closing.size > 0 && performance.now() < until) {
      if (this.#options.link.isAway && this.#underWay === 0) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  #begin(target: Target): Lane {
    const { lockMs = LOCK_MS } = this.#options;
    const lane: Omit<Lane, "worker"> & { worker?: Lane["worker"] } = { target, pausedUntil: 0 };
    const worker = new Worker<JobData, unknown, string>(
      queueNameOf(target.key),
      (job, token) => this.#attempt(lane as Lane, job, token as string),
      {
        connection: this.#options.link.worker,
        prefix: PREFIX,
        concurrency: target.options.concurrency,
        limiter: limiterFor(target.options.ratePerSecond),
        lockDuration: lockMs,
        stalledInterval: lockMs / 3,
        // A job that stalls is never given up for it: nothing accepted is lost.
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        maximumRateLimitDelay: PAUSE_CHECK_MS,
        runRetryDelay: ASK_AGAIN_MS,
        removeOnComplete: { count: 0 },
        removeOnFail: { age: Math.ceil(this.#options.retainMs / 1000) },
        settings: { backoffStrategy },
      },
    );
    worker.on("error", (error) => this.#tell(lane.target, error));
    worker.on("stalled", (id) => {
      const line = `delivery ${id} was left unfinished by another process, and is taken up again`;
      this.#options.log("info", `outbound "${lane.target.name}": ${line}`);
    });
    lane.worker = worker;
    void this.#restore(lane as Lane);
    return lane as Lane;
  }

  #end(key: string): void {
    const lane = this.#lanes.get(key);
    if (!lane) return;
    this.#lanes.delete(key);
    const closing = lane.worker.close().catch(() => {})
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #attempt(lane: Lane, job: DeliveryJob, token: string): Promise<void> {
    this.#underWay++;
    const step = await this.#step(lane, job).finally(() => this.#underWay--);
    if (!step) return await putBack(job, token);
    await this.#follow(lane, step);
    this.#widen(lane);
    const { settlement } = step;
    switch (settlement.kind) {
      case "done":
        return;
      case "untried":
        return await putBack(job, token);
      case "retry":
        throw new TryAgain(
          failureLine(settlement.why ?? { error: "failed" }),
          Math.max(1, Math.round(settlement.afterMs)),
        );
      case "dead":
        throw new UnrecoverableError(failureLine(settlement.why));
    }
  }

  async #step(lane: Lane, job: DeliveryJob): Promise<Step | undefined> {
    if (this.#closed) return undefined;
    return await this.#options.work.attempt(() => lane.target, deliveryOf(job));
  }

  /** Before the job goes back, so that nobody takes it up meanwhile. */
  async #follow(lane: Lane, step: Step): Promise<void> {
    const change = statusChange(step, Date.now());
    if (!change) return;
    if (step.pause) lane.pausedUntil = performance.now() + step.pause.ms;
    try {
      await this.#options.kept.setStatus(lane.target.key, change);
    } catch (error) {
      this.#tell(lane.target, error as Error);
    }
  }

  /** Redis itself keeps a pause from before we began; the policy is to know of it too. */
  async #restore(lane: Lane): Promise<void> {
    const { kept, work: { policy } } = this.#options;
    const { key } = lane.target;
    const status = policy.restore && (await kept.statuses().catch(() => undefined))?.get(key);
    if (!status || !policy.restore) return;
    lane.pausedUntil = performance.now() + policy.restore(key, status);
    this.#widen(lane);
  }

  /** After a pause the first attempt is a probe, and alone. */
  #widen({ target, worker, pausedUntil }: Lane): void {
    const isPaused = pausedUntil > performance.now();
    const width = isPaused ? 1 : this.#options.work.policy.width?.(target) ?? Infinity;
    worker.concurrency = Math.max(1, Math.min(target.options.concurrency, width));
  }

  /** The connection has its own words; what else goes wrong is told once in a while. */
  #tell({ name }: Target, { message }: Error): void {
    const now = performance.now();
    const { log, link } = this.#options;
    const kind = message.replace(/[0-9a-f]{32}/g, "…");
    const isNew = now - (this.#told.get(kind) ?? -Infinity) >= TELL_AGAIN_MS;
    if (isNew) this.#told.set(kind, now);
    const line = link.isAway || this.#closed ? undefined : link.refusal(new Error(message)).message;
    if (line) log(isNew ? "warning" : "debug", `outbound "${name}": ${line}`);
  }
}

/** Back to the front of its queue, as if it had not been taken. */
async function putBack(job: DeliveryJob, token: string): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** What the policy said; a job that failed by something of ours is tried again a second later. */
function backoffStrategy(_made: number, type?: string, error?: Error): number {
  return type === POLICY_BACKOFF && error instanceof TryAgain ? error.afterMs : 1_000;
}
