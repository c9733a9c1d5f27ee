/** Looking for deliveries in the file, and changing what is found, a few hundred rows at a time. */
import type { KeptDelivery, KeptFilter, KeptState } from "../engine.ts";
import { whenFree } from "./busy.ts";
import { STATE } from "./schema.ts";
import type { Row, Store } from "./store.ts";

/** How many rows are changed in one transaction: nobody else waits for longer. */
const BATCH = 256;
/** How many are looked at before others have their turn. */
const SLICE = 2_048;

type Value = string | number;

interface Where {
  readonly text: string;
  readonly values: readonly Value[];
}

const marks = (count: number) => Array.from({ length: count }, () => "?").join(", ");

/** `sending` is known to the process that sends only: `inFlight` are its rows. */
function stateClause(states: readonly KeptState[], inFlight: readonly number[]): Where {
  const parts: string[] = [];
  const values: Value[] = [];
  const flying = `n IN (${marks(inFlight.length)})`;
  const resting = inFlight.length === 0 ? "" : ` AND NOT ${flying}`;
  for (const state of new Set(states)) {
    if (state === "dead") parts.push(`state = ${STATE.dead}`);
    else if (state === "sending") {
      parts.push(inFlight.length === 0 ? "0" : flying);
      values.push(...inFlight);
    } else {
      const tried = state === "retrying" ? "attempts > 0" : "attempts = 0";
      parts.push(`(state < ${STATE.dead} AND ${tried}${resting})`);
      values.push(...inFlight);
    }
  }
  return { text: `(${parts.join(" OR ")})`, values };
}

function whereOf(store: Store, filter: KeptFilter, inFlight: readonly number[]): Where {
  const parts: Where[] = [];
  const among = (column: string, values: readonly Value[]) =>
    parts.push({ text: `${column} IN (${marks(values.length)})`, values });
  // As one value: there may be more of them than a statement takes.
  if (filter.ids) {
    parts.push({
      text: "id IN (SELECT value FROM json_each(?))",
      values: [JSON.stringify(filter.ids)],
    });
  }
  if (filter.targets) {
    among("t", filter.targets.flatMap((key) => store.targetOf(key) ?? []));
  }
  if (filter.states) parts.push(stateClause(filter.states, inFlight));
  if (filter.event !== undefined) parts.push({ text: "event = ?", values: [filter.event] });
  if (filter.before) parts.push({ text: "fired < ?", values: [filter.before.getTime()] });
  if (filter.after) parts.push({ text: "fired >= ?", values: [filter.after.getTime()] });
  return {
    text: parts.length === 0 ? "1" : parts.map(({ text }) => text).join(" AND "),
    values: parts.flatMap(({ values }) => values),
  };
}

const iso = (ms: number) => new Date(ms).toISOString();

function keptOf(row: Row, key: string, inFlight: readonly number[]): KeptDelivery {
  const { id, event, session, wire, attempts, error, status, due } = row;
  const dead = row.state === STATE.dead;
  const state = dead
    ? "dead"
    : inFlight.includes(row.n)
    ? "sending"
    : attempts > 0
    ? "retrying"
    : "waiting";
  return {
    id,
    target: key,
    event,
    wire,
    occurredAt: row.occurred_at,
    attempts,
    ...(session !== null && { session }),
    state,
    ...(dead ? { endedAt: iso(due) } : { dueAt: iso(due) }),
    ...(error !== null && { why: { error, ...(status !== null && { status }) } }),
  };
}

/** Only dead letters are meant: those have an index of their own. */
const deadOnly = ({ states }: KeptFilter) => states?.every((state) => state === "dead") === true;

/**
 * The parts of the file that a filter is to be looked for in, in order: all of it where an index
 * leads to what matches, else a few thousand rows at a time, since a look at a million takes a while.
 */
function* slices(store: Store, filter: KeptFilter): Generator<readonly [number, number]> {
  if (filter.ids || deadOnly(filter)) return yield [0, Number.MAX_SAFE_INTEGER];
  const next = store.sql("SELECT n FROM delivery WHERE n >= ? ORDER BY n LIMIT 1");
  for (let from = 0;;) {
    const row = next.get(from) as { n: number } | undefined;
    if (!row) return;
    from = row.n + SLICE;
    yield [row.n, from - 1];
  }
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve));

/** The rows of a slice that match. A text of its own each time, so it is not among those kept. */
function rowsIn(
  store: Store,
  filter: KeptFilter,
  inFlight: readonly number[],
  columns: string,
  [from, to]: readonly [number, number],
  limit: number,
): Row[] {
  const { text, values } = whereOf(store, filter, inFlight);
  const dead = !filter.ids && deadOnly(filter);
  return store.database.prepare(
    `SELECT ${columns} FROM delivery ${dead ? "INDEXED BY delivery_dead" : ""} WHERE ` +
      `${dead ? `state = ${STATE.dead} AND ` : ""}n >= ? AND n <= ? AND ${text} ` +
      "ORDER BY n LIMIT ?",
  ).all(from, to, ...values, limit) as unknown as Row[];
}

/** The rows that match, the oldest first. */
export async function find(
  store: Store,
  filter: KeptFilter,
  { limit = 100, offset = 0 }: { readonly limit?: number; readonly offset?: number },
  inFlight: readonly number[],
): Promise<KeptDelivery[]> {
  const found: number[] = [];
  for (const slice of slices(store, filter)) {
    const left = offset + limit - found.length;
    found.push(...rowsIn(store, filter, inFlight, "n", slice, left).map(({ n }) => n));
    if (found.length >= offset + limit) break;
    await pause();
  }
  const keys = new Map(store.targets().map(({ t, key }) => [t, key]));
  const rows = found.slice(offset).flatMap((n) => store.load(n) ?? []);
  return rows.map((row) => keptOf(row, keys.get(row.t) ?? "", inFlight));
}

/**
 * Changes every row that matches, in transactions of a few hundred; returns how many.
 * @param change true: it was changed
 */
export async function changeFound(
  store: Store,
  filter: KeptFilter,
  inFlight: () => readonly number[],
  change: (row: Row) => boolean,
): Promise<number> {
  let changed = 0;
  for (const [from, to] of slices(store, filter)) {
    for (let at = from; at <= to;) {
      const { count, seen, last } = await whenFree(() =>
        store.transact(() => {
          const rows = rowsIn(store, filter, inFlight(), "*", [at, to], BATCH);
          const flying = new Set(inFlight());
          const count = rows.filter((row) => !flying.has(row.n) && change(row)).length;
          return { count, seen: rows.length, last: rows.at(-1)?.n ?? to };
        })
      );
      changed += count;
      await pause();
      if (seen < BATCH) break;
      at = last + 1;
    }
  }
  return changed;
}

/** Those of these ids that are still there. */
export function fates(store: Store, ids: readonly string[]): Map<string, "pending" | "dead"> {
  const found = new Map<string, "pending" | "dead">();
  const statement = store.sql("SELECT state FROM delivery WHERE id = ?");
  for (const id of ids) {
    const row = statement.get(id) as { state: number } | undefined;
    if (row) found.set(id, row.state === STATE.dead ? "dead" : "pending");
  }
  return found;
}
