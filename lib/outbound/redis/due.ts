/** When something is due. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { RedisLink } from "./link.ts";
import { DISABLED, PAUSED } from "./names.ts";
import type { Queues } from "./queues.ts";
import { readStatus } from "./statuses.ts";

/** BullMQ puts a counter into the low bits of a delayed job's score, above it the time in ms. */
const SCORE_UNIT = 0x1000;

/** When these delayed jobs of a queue are due, in ms since 1970; undefined for one that is not. */
export async function dueOf(
  client: Redis,
  queue: Queue,
  ids: readonly string[],
): Promise<(number | undefined)[]> {
  const key = queue.toKey("delayed");
  const scores = await Promise.all(ids.map((id) => client.zscore(key, id)));
  return scores.map((score) => score === null ? undefined : timeOf(score));
}

/** See {@link KeptQueue.dueIn}. */
export async function dueTime(
  link: RedisLink,
  queues: Queues,
  targets: readonly string[],
): Promise<number | undefined> {
  if (targets.length === 0) return undefined;
  const client = await link.ready();
  const pipeline = client.pipeline().hmget(DISABLED, ...targets).hmget(PAUSED, ...targets);
  for (const target of targets) {
    const queue = queues.of(target);
    pipeline.llen(queue.toKey("wait")).llen(queue.toKey("active"))
      .zrange(queue.toKey("delayed"), "0", "0", "WITHSCORES");
  }
  const answers = (await pipeline.exec() ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
  const [disabledTexts, pausedTexts, ...counts] = answers as [
    (string | null)[],
    (string | null)[],
    ...unknown[],
  ];
  const now = Date.now();
  const due = targets.flatMap((_, i) => {
    const [waiting, active, first] = counts.slice(3 * i, 3 * i + 3) as [number, number, string[]];
    if (active > 0) return [now];
    const { disabled, paused } = readStatus(disabledTexts[i], pausedTexts[i]) ?? {};
    if (disabled) return [];
    const free = paused ? Date.parse(paused.until) : now;
    if (waiting > 0) return [free];
    return first[1] === undefined ? [] : [Math.max(free, timeOf(first[1]))];
  });
  return due.length === 0 ? undefined : Math.max(0, Math.min(...due) - now);
}

function timeOf(score: string | number): number {
  return Math.floor(Number(score) / SCORE_UNIT);
}
