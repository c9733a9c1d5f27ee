/** Takes deliveries in: all of them together, in one transaction over all their queues. */
import { type Delivery, type Enqueued, NotAccepted, queueFull } from "../engine.ts";
import type { Target } from "../target/shape.ts";
import { isConnectionLoss } from "./failure.ts";
import { jobOf } from "./job.ts";
import { ANSWER_MS, type RedisLink } from "./link.ts";
import type { Queues } from "./queues.ts";
import { Room } from "./room.ts";

/** What an intake works with. */
export interface IntakeOptions {
  readonly link: RedisLink;
  readonly queues: Queues;
  /** A target's options as they are now; undefined for one that is not configured. */
  readonly target: (key: string) => Target["options"] | undefined;
  /** Told of deliveries that were dropped since a queue was full. */
  readonly onDropped: (target: string, count: number) => void;
}

/** Where nothing is said of a target. */
const MAX_QUEUE = 100_000;

/** The way in. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #room: Room;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#room = new Room(options.queues);
  }

  /**
   * See {@link KeptQueue.accept}. When the connection is lost while Redis is asked, the same is asked
   * again within the time there is: a delivery that is there already is not added twice.
   * @throws NotAccepted within about 3 s
   */
  async accept(deliveries: readonly Delivery[]): Promise<readonly Enqueued[]> {
    const until = performance.now() + ANSWER_MS;
    for (;;) {
      try {
        return await within(until - performance.now(), this.#add(deliveries));
      } catch (error) {
        if (error instanceof NotAccepted) throw error;
        const left = until - performance.now();
        if (left < 100 || !isConnectionLoss(error)) throw this.#options.link.refusal(error);
      }
    }
  }

  async #add(deliveries: readonly Delivery[]): Promise<readonly Enqueued[]> {
    if (deliveries.length === 0) return [];
    const { link, queues } = this.#options;
    const byTarget = Map.groupBy(deliveries, ({ target }) => target);
    await link.ready();
    await queues.list(byTarget.keys());
    const shares = await Promise.all([...byTarget].map((entry) => this.#share(...entry)));
    let isIn = false;
    try {
      const refusing = shares.find(({ over, whenFull }) => over > 0 && whenFull === "refuse");
      if (refusing) throw queueFull(refusing.name, refusing.maxQueue);
      for (const share of shares) await this.#giveWay(share);
      const dropped = new Set(shares.flatMap(({ dropped }) => dropped));
      await this.#enter(deliveries.filter((delivery) => !dropped.has(delivery)));
      isIn = true;
      return deliveries.map((delivery) => dropped.has(delivery) ? "dropped" : "queued");
    } finally {
      for (const { key, list, granted, dropped, gone } of shares) {
        this.#room.settle(key, granted, isIn ? list.length - dropped.length - gone : 0);
        if (isIn && dropped.length + gone > 0) {
          this.#options.onDropped(key, dropped.length + gone);
        }
      }
    }
  }

  async #enter(deliveries: readonly Delivery[]): Promise<void> {
    const { queues } = this.#options;
    const [first] = deliveries;
    if (!first) return;
    const entries = deliveries.map((delivery) => {
      const { jobData, jobId, ...entry } = jobOf(queues.of(delivery.target), delivery)
        .toFlowEntry();
      return { ...entry, jobData, jobId: jobId as string };
    });
    // BullMQ adds a whole flow within one MULTI, whichever queues it spans.
    const added = await queues.of(first.target).getBackend().addFlow(entries);
    for (const [error, id] of added) {
      if (error) throw error;
      if (typeof id === "number" && id < 0) throw new Error(`BullMQ refuses a job: ${id}`);
    }
  }

  /** What there is room for of a target's deliveries. */
  async #share(key: string, list: readonly Delivery[]): Promise<Share> {
    const { maxQueue = MAX_QUEUE, whenFull = "drop_new", name = key } = this.#options.target(key) ??
      {};
    const granted = await this.#room.grant(key, maxQueue, list.length);
    const over = list.length - granted;
    return { key, name, list, maxQueue, whenFull, granted, over, dropped: [], gone: 0 };
  }

  /** Decides what gives way where there is not room for all. */
  async #giveWay(share: Share): Promise<void> {
    const { key, list, maxQueue, whenFull, over } = share;
    if (over === 0) return;
    if (whenFull === "drop_new") share.dropped = list.slice(list.length - over);
    else {
      // Of more than the queue ever holds the last ones stay.
      share.dropped = list.slice(0, Math.max(0, list.length - maxQueue));
      share.gone = await this.#dropOldest(key, over - share.dropped.length);
    }
  }

  async #dropOldest(target: string, count: number): Promise<number> {
    if (count <= 0) return 0;
    const queue = this.#options.queues.of(target);
    const oldest = await queue.getRanges(["wait"], 0, count - 1, true);
    const more = count - oldest.length;
    if (more > 0) oldest.push(...await queue.getRanges(["delayed"], 0, more - 1, true));
    const removed = await Promise.all(oldest.map((id) => queue.remove(id)));
    return removed.filter((code) => code === 1).length;
  }
}

/** The deliveries of one target, among those handed in together. */
interface Share {
  readonly key: string;
  readonly name: string;
  readonly list: readonly Delivery[];
  readonly maxQueue: number;
  readonly whenFull: Target["options"]["whenFull"];
  /** How many there was room for. */
  readonly granted: number;
  readonly over: number;
  /** Of the new ones. */
  dropped: readonly Delivery[];
  /** Old ones that were removed. */
  gone: number;
}

/** What a promise comes to, when it does within so many milliseconds. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("timed out")), Math.max(0, ms));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
