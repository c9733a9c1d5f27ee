/**
 * The engine on Redis, through BullMQ: deliveries in one queue a target, shared by every process that
 * names the same server. Which are in flight, delayed or given up is BullMQ's business.
 */
import type { Context } from "../../context.ts";
import type { Delivery, Driver, Enqueued, QueueCounts, QueueEngine } from "../engine.ts";
import type { Target } from "../target/shape.ts";
import { Drops } from "../drops.ts";
import type { Work } from "../work.ts";
import type { RedisAddress } from "../../config/redis_url.ts";
import { RedisDriver } from "./driver.ts";
import { Intake } from "./intake.ts";
import { RedisKept } from "./kept.ts";
import { RedisLink } from "./link.ts";
import { Queues } from "./queues.ts";

/** What a {@link RedisEngine} is opened with. */
export interface RedisEngineOptions {
  readonly address: RedisAddress;
  readonly log: Context["log"];
  /** A target's options as they are now, by key; undefined for one that is not configured. */
  readonly target: (key: string) => Target["options"] | undefined;
  /** How long dead letters are kept, in ms. */
  readonly retainMs: number;
  /** See {@link RedisDriverOptions.lockMs}. */
  readonly lockMs?: number;
  /** Told how many of a target's deliveries were dropped, once a burst. */
  readonly onDropped?: (target: string, count: number) => void;
}

/** Milliseconds for attempts that were cut off to be put back, before connections are closed. */
const LAST_WORDS_MS = 2_000;
/** How often dead letters that are too old are looked for, in ms. */
const SWEEP_MS = 3_600_000;

/** Opens nothing yet: the connection is made with the first question. */
export class RedisEngine implements QueueEngine {
  readonly kept: RedisKept;
  readonly #options: RedisEngineOptions;
  readonly #link: RedisLink;
  readonly #queues: Queues;
  readonly #drops: Drops;
  #driver: RedisDriver | undefined;
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: RedisEngineOptions) {
    this.#options = options;
    this.#link = new RedisLink(options.address, options.log);
    this.#queues = new Queues(this.#link);
    this.#drops = new Drops({ tell: (target, count) => options.onDropped?.(target, count) });
    const intake = new Intake({
      link: this.#link,
      queues: this.#queues,
      target: options.target,
      onDropped: (target, count) => this.#drops.add(target, count),
    });
    this.kept = new RedisKept({ link: this.#link, queues: this.#queues, intake });
  }

  drive(work: Work): Driver {
    const { log, retainMs, lockMs } = this.#options;
    const [link, kept] = [this.#link, this.kept];
    this.#driver = new RedisDriver({ link, kept, work, log, retainMs, lockMs });
    void this.#sweep();
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
    return this.#driver;
  }

  async enqueue(delivery: Delivery): Promise<Enqueued> {
    const [became] = await this.kept.accept([delivery]);
    return became as Enqueued;
  }

  /** Nothing: deliveries are handed out by BullMQ. */
  take(): undefined {}

  /** Nothing, for the same reason. */
  settle(): void {}

  /** Never calls back, for the same reason. */
  onReady(): void {}

  async counts(): Promise<ReadonlyMap<string, QueueCounts>> {
    return await this.#link.asking(async () => {
      const counts = (await this.#queues.known()).map(async (target) => {
        const { wait = 0, delayed = 0, active = 0, failed = 0 } = await this.#queues
          .of(target).getJobCounts("wait", "delayed", "active", "failed");
        const dropped = this.#drops.total(target);
        const waiting = wait + delayed;
        return [target, { waiting, inFlight: active, dropped, dead: failed }] as const;
      });
      return new Map(await Promise.all(counts));
    });
  }

  /** Waits for attempts under way; what is cut off then goes back to its queue. */
  async drain(ms: number): Promise<readonly Delivery[]> {
    this.#driver?.close();
    await this.#driver?.ended(ms);
    void this.close();
    return [];
  }

  async close(): Promise<void> {
    await (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#drops.close();
    this.#driver?.close();
    await this.#driver?.ended(LAST_WORDS_MS);
    await this.#queues.close();
    this.#link.close();
  }

  /** BullMQ removes them when another one is added; this is for when none is. */
  async #sweep(): Promise<void> {
    try {
      for (const target of await this.#queues.known()) {
        await this.#queues.of(target).clean(this.#options.retainMs, 0, "failed");
      }
    } catch {
      // It is tried again in an hour.
    }
  }
}
