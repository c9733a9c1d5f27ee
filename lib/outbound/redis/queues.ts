/** The BullMQ queues, one a target, and the list of them that every process can read. */
import { Queue } from "bullmq";
import type { RedisLink } from "./link.ts";
import { PREFIX, queueNameOf, TARGETS } from "./names.ts";

/** Events that BullMQ keeps of a queue for its own tools; we read none. */
const MAX_EVENTS = 100;

/** The queues of an engine. */
export class Queues {
  readonly #link: RedisLink;
  readonly #queues = new Map<string, Queue>();
  readonly #listed = new Set<string>();

  constructor(link: RedisLink) {
    this.#link = link;
    link.onReady(() => this.#listed.clear());
  }

  /** The queue of a target. */
  of(target: string): Queue {
    let queue = this.#queues.get(target);
    if (!queue) {
      queue = new Queue(queueNameOf(target), {
        connection: this.#link.producer,
        prefix: PREFIX,
        // Its first question must not decide for good whether the queue works.
        skipVersionCheck: true,
        skipWaitingForReady: true,
        streams: { events: { maxLen: MAX_EVENTS } },
      });
      queue.on("error", () => {});
      this.#queues.set(target, queue);
    }
    return queue;
  }

  /** Puts targets on the list, before anything is added for them. */
  async list(targets: Iterable<string>): Promise<void> {
    const fresh = [...targets].filter((target) => !this.#listed.has(target));
    if (fresh.length === 0) return;
    const client = await this.#link.ready();
    await client.hset(TARGETS, ...fresh.flatMap((target) => [queueNameOf(target), target]));
    for (const target of fresh) this.#listed.add(target);
  }

  /** Every target that something was ever queued for. */
  async known(): Promise<readonly string[]> {
    const client = await this.#link.ready();
    return await client.hvals(TARGETS);
  }

  /** How many deliveries of a target wait, those to be tried again included. */
  async waiting(target: string): Promise<number> {
    return await this.of(target).getJobCountByTypes("wait", "delayed");
  }

  /** Lets go of them; the connection is the link's. */
  async close(): Promise<void> {
    const queues = [...this.#queues.values()];
    this.#queues.clear();
    await Promise.all(queues.map((queue) => queue.close().catch(() => {})));
  }
}
