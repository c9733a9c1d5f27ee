/** Goes through what a queue keeps, a page at a time, and picks what matches. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { KeptDelivery, KeptFilter, KeptState } from "../engine.ts";
import { dueOf } from "./due.ts";
import { type DeliveryJob, deliveryOf, failureIn } from "./job.ts";

/** The lists and sets of a BullMQ queue in which a job of ours can be. */
export const PLACES = ["active", "wait", "delayed", "failed"] as const;
/** One of them. */
export type Place = typeof PLACES[number];

const PAGE = 200;

const STATES: Readonly<Record<Place, readonly KeptState[]>> = {
  active: ["sending"],
  wait: ["waiting", "retrying"],
  delayed: ["retrying"],
  failed: ["dead"],
};

/** Can a delivery of this state be there? */
export function isPlace(place: Place, state: KeptState): boolean {
  return STATES[place].includes(state);
}

/** Every match in one place of a queue, in BullMQ's order: by age, by due time, by time of end. */
export async function* find(
  client: Redis,
  queue: Queue,
  place: Place,
  filter: KeptFilter,
): AsyncGenerator<KeptDelivery> {
  const pages = filter.ids ? byId(client, queue, place, filter.ids) : inOrder(queue, place);
  for await (const jobs of pages) {
    const due = place === "delayed" ? await dueOf(client, queue, jobs.map(idOf)) : [];
    for (const [i, job] of jobs.entries()) {
      const kept = keptOf(job, place, due[i]);
      if (matches(kept, filter)) yield kept;
    }
  }
}

async function* inOrder(queue: Queue, place: Place): AsyncGenerator<DeliveryJob[]> {
  for (let at = 0;; at += PAGE) {
    const jobs = await queue.getJobs([place], at, at + PAGE - 1, true) as DeliveryJob[];
    const there = jobs.filter((job) => job !== undefined && job !== null);
    yield there;
    if (jobs.length < PAGE) return;
  }
}

async function* byId(
  client: Redis,
  queue: Queue,
  place: Place,
  ids: readonly string[],
): AsyncGenerator<DeliveryJob[]> {
  for (let at = 0; at < ids.length; at += PAGE) {
    const found = await Promise.all(
      ids.slice(at, at + PAGE).map((id) => queue.getJob(id) as Promise<DeliveryJob | undefined>),
    );
    const jobs = found.filter((job) => job !== undefined);
    const places = await placesOf(client, queue, jobs.map(idOf));
    yield jobs.filter((_, i) => places[i] === place);
  }
}

/** Where jobs are, without looking through lists: a lock says that one is being worked on. */
async function placesOf(
  client: Redis,
  queue: Queue,
  ids: readonly string[],
): Promise<Place[]> {
  return await Promise.all(ids.map(async (id): Promise<Place> => {
    const [dead, delayed, lock] = await Promise.all([
      client.zscore(queue.toKey("failed"), id),
      client.zscore(queue.toKey("delayed"), id),
      client.exists(`${queue.toKey(id)}:lock`),
    ]);
    if (dead !== null) return "failed";
    if (delayed !== null) return "delayed";
    return lock === 1 ? "active" : "wait";
  }));
}

function keptOf(job: DeliveryJob, place: Place, due: number | undefined): KeptDelivery {
  const delivery = deliveryOf(job);
  const { failedReason, finishedOn } = job;
  const state = place === "wait" && delivery.attempts > 0 ? "retrying" : STATES[place][0]!;
  return {
    ...delivery,
    state,
    ...(place !== "failed" && { dueAt: time(due ?? job.timestamp) }),
    ...(place === "failed" && finishedOn !== undefined && { endedAt: time(finishedOn) }),
    ...(failedReason && { why: failureIn(failedReason) }),
  };
}

const idOf = ({ id }: DeliveryJob) => id as string;

const time = (ms: number) => new Date(ms).toISOString();

function matches(kept: KeptDelivery, { states, event, before, after }: KeptFilter): boolean {
  const fired = Date.parse(kept.occurredAt);
  return (states?.includes(kept.state) ?? true) &&
    (event === undefined || kept.event === event) &&
    (before === undefined || fired < before.getTime()) &&
    (after === undefined || fired >= after.getTime());
}
