/** What is too old: dead letters are removed, deliveries that still wait become dead letters. */
import type { Failure } from "../engine.ts";
import { STATE } from "./schema.ts";
import type { Row, Store } from "./store.ts";

/** How many rows are changed in one transaction. */
const BATCH = 256;

/** What is too old. */
export interface SweepOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long dead letters are kept, in ms. */
  readonly retainMs: number;
  /** How long a target's deliveries are tried, in ms. */
  readonly maxAge: (target: string) => number;
  /** Rows under way are left alone. */
  readonly isFlying: (n: number) => boolean;
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Looks through the file once, letting others in between; returns how many became dead letters. */
export async function sweep(store: Store, options: SweepOptions): Promise<number> {
  const { now, retainMs, maxAge, isFlying } = options;
  while (removeOld(store, now - retainMs, now) === BATCH) await pause();
  let expired = 0;
  for (const { t, key, waiting } of store.targets()) {
    if (waiting === 0) continue;
    for (let some = -1; some !== 0; expired += some) {
      some = expire(store, t, maxAge(key), now, isFlying);
      if (some > 0) await pause();
    }
  }
  return expired;
}

function removeOld(store: Store, before: number, now: number): number {
  const rows = store.sql(
    `SELECT * FROM delivery INDEXED BY delivery_dead WHERE state = ${STATE.dead} AND due < ? ` +
      `LIMIT ${BATCH}`,
  ).all(before) as unknown as Row[];
  if (rows.length > 0) store.transact(() => rows.forEach((row) => store.remove(row, now)));
  return rows.length;
}

/** The oldest of a target, whether they are due or stand behind others; returns how many. */
function expire(
  store: Store,
  t: number,
  maxAgeMs: number,
  now: number,
  isFlying: (n: number) => boolean,
): number {
  const rows = store.sql(
    "SELECT n, id, attempts, error FROM delivery INDEXED BY delivery_age WHERE t = ? AND " +
      `state < ${STATE.dead} AND ages_from <= ? ORDER BY ages_from, n LIMIT ${2 * BATCH}`,
  ).all(t, now - maxAgeMs) as unknown as Row[];
  const idle = rows.filter(({ n }) => !isFlying(n)).slice(0, BATCH);
  if (idle.length === 0) return 0;
  store.transact(() => {
    for (const { n, id, attempts, error } of idle) {
      store.die(n, id, attempts, expiredText(maxAgeMs, error), now);
    }
  });
  return idle.length;
}

/** Why a delivery was given up before an attempt. */
export function expiredText(maxAgeMs: number, last: string | null | undefined): Failure {
  const hours = Math.round(maxAgeMs / 360_000) / 10;
  const before = !last ? "" : `; last: ${last.replace(/^expired[^;]*; last: /, "")}`;
  return { error: `expired after ${hours} h${before}` };
}
