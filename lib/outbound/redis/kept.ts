/** What is kept in Redis: looked at and changed by any process, whether it sends or not. */
import type { Queue } from "bullmq";
import type {
  Delivery,
  Enqueued,
  KeptDelivery,
  KeptFilter,
  KeptQueue,
  KeptState,
  StatusChange,
  TargetStatus,
} from "../engine.ts";
import { Recent } from "../recent.ts";
import { find, isPlace, type Place, PLACES } from "./find.ts";
import type { Intake } from "./intake.ts";
import type { RedisLink } from "./link.ts";
import { dueTime } from "./due.ts";
import type { Queues } from "./queues.ts";
import { Statuses } from "./statuses.ts";

/** What a {@link RedisKept} works with. */
export interface RedisKeptOptions {
  readonly link: RedisLink;
  readonly queues: Queues;
  readonly intake: Intake;
}

/** Ids asked for in one go. */
const BATCH = 500;
/** Targets of what was handed in here: asking for its fate asks one queue, not all. */
const REMEMBERED = { entries: 20_000 };

/** The {@link KeptQueue} in Redis. */
export class RedisKept implements KeptQueue {
  readonly #options: RedisKeptOptions;
  readonly #statuses: Statuses;
  readonly #targetOf = new Recent<string>(REMEMBERED);

  constructor(options: RedisKeptOptions) {
    this.#options = options;
    this.#statuses = new Statuses(options.link, options.queues);
  }

  async accept(deliveries: readonly Delivery[]): Promise<readonly Enqueued[]> {
    const became = await this.#options.intake.accept(deliveries);
    for (const { id, target } of deliveries) this.#targetOf.set(id, target);
    return became;
  }

  async fates(ids: readonly string[]): Promise<ReadonlyMap<string, "pending" | "dead">> {
    const fates = new Map<string, "pending" | "dead">();
    for (let at = 0; at < ids.length; at += BATCH) {
      await this.#asking(() => this.#fatesOf(ids.slice(at, at + BATCH), fates));
    }
    return fates;
  }

  /** Not by BullMQ's own question: that one looks through the whole list of what waits. */
  async #fatesOf(ids: readonly string[], fates: Map<string, "pending" | "dead">): Promise<void> {
    const { link, queues } = this.#options;
    const client = await link.ready();
    const isKnown = ids.every((id) => this.#targetOf.get(id) !== undefined);
    const all = isKnown ? [] : await queues.known();
    const asked = ids.flatMap((id) => {
      const target = this.#targetOf.get(id);
      return (target === undefined ? all : [target]).map((key) => ({ id, queue: queues.of(key) }));
    });
    const pipeline = client.pipeline();
    for (const { id, queue } of asked) {
      pipeline.exists(queue.toKey(id)).zscore(queue.toKey("failed"), id);
    }
    const answers = await pipeline.exec() ?? [];
    asked.forEach(({ id }, i) => {
      const [[existsError, exists], [deadError, dead]] = answers.slice(2 * i, 2 * i + 2) as [
        [Error | null, unknown],
        [Error | null, unknown],
      ];
      if (existsError ?? deadError) throw existsError ?? deadError;
      if (exists === 1) fates.set(id, dead === null ? "pending" : "dead");
    });
  }

  async find(
    filter: KeptFilter,
    { limit = 100, offset = 0 }: { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<readonly KeptDelivery[]> {
    return await this.#asking(async () => {
      const client = await this.#options.link.ready();
      const found: KeptDelivery[] = [];
      for (const queue of await this.#queuesOf(filter)) {
        for (const place of placesOf(filter)) {
          let count = 0;
          for await (const delivery of find(client, queue, place, filter)) {
            found.push(delivery);
            if (++count === offset + limit && !isShort(place, count)) break;
          }
        }
      }
      return found.sort(byAge).slice(offset, offset + limit);
    });
  }

  async redeliver(filter: KeptFilter): Promise<number> {
    return await this.#change(filter, async (queue, id, place) => {
      if (place === "active") return false;
      if (place === "failed") {
        const options = { resetAttemptsMade: true, resetAttemptsStarted: true };
        await (await queue.getJob(id))?.retry("failed", options);
        return true;
      }
      // BullMQ has no way to give a job that did not fail its attempts back.
      await (await this.#options.link.ready()).hdel(queue.toKey(id), "atm", "ats");
      if (place === "delayed") await (await queue.getJob(id))?.promote();
      return true;
    });
  }

  async purge(filter: KeptFilter): Promise<number> {
    const { ids, states, event, before, after, ...targets } = filter;
    const areDead = states?.every((state) => state === "dead") ?? false;
    if (areDead && !ids && !event && !before && !after) return await this.#purgeDead(targets);
    return await this.#change(
      filter,
      async (queue, id, place) => place !== "active" && await queue.remove(id) === 1,
    );
  }

  /** All of them, by the thousands. */
  async #purgeDead(targets: KeptFilter): Promise<number> {
    return await this.#asking(async () => {
      let purged = 0;
      for (const queue of await this.#queuesOf(targets)) {
        purged += (await queue.clean(0, 0, "failed")).length;
      }
      return purged;
    });
  }

  /** Ids first: what is changed moves while it is gone through. */
  async #change(
    filter: KeptFilter,
    change: (queue: Queue, id: string, place: Place) => Promise<boolean>,
  ): Promise<number> {
    return await this.#asking(async () => {
      const client = await this.#options.link.ready();
      let changed = 0;
      for (const queue of await this.#queuesOf(filter)) {
        const matches: [string, Place][] = [];
        for (const place of placesOf(filter)) {
          for await (const { id } of find(client, queue, place, filter)) matches.push([id, place]);
        }
        for (let at = 0; at < matches.length; at += BATCH) {
          const changes = matches.slice(at, at + BATCH).map(async ([id, place]) => {
            // One that moved on meanwhile is no match any more.
            return await change(queue, id, place).catch((error: Error) => {
              if (/Missing|not in the|is locked|could not/i.test(error.message)) return false;
              throw error;
            });
          });
          changed += (await Promise.all(changes)).filter(Boolean).length;
        }
      }
      return changed;
    });
  }

  async statuses(): Promise<ReadonlyMap<string, TargetStatus>> {
    return await this.#asking(() => this.#statuses.all());
  }

  async setStatus(target: string, change: StatusChange): Promise<void> {
    await this.#asking(() => this.#statuses.set(target, change));
  }

  async dueIn(targets: readonly string[]): Promise<number | undefined> {
    return await this.#asking(() => dueTime(this.#options.link, this.#options.queues, targets));
  }

  async #queuesOf({ targets }: KeptFilter): Promise<Queue[]> {
    const known = await this.#options.queues.known();
    return known.filter((key) => targets?.includes(key) ?? true)
      .map((key) => this.#options.queues.of(key));
  }

  /** What fails is told in our words. */
  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    return await this.#options.link.asking(ask);
  }
}

/** Sets that are not in the order of age are gone through whole while they are short. */
const SHORT = 2_000;

function isShort(place: Place, count: number): boolean {
  return place !== "wait" && count < SHORT;
}

/** Where deliveries of these states are: one that is tried again may wait in line by now. */
function placesOf({ states }: KeptFilter): readonly Place[] {
  if (!states) return PLACES;
  return PLACES.filter((place) => states.some((state: KeptState) => isPlace(place, state)));
}

function byAge(a: KeptDelivery, b: KeptDelivery): number {
  return a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : 0;
}
