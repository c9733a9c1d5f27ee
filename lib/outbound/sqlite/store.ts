/** What is read from and written to the file: plain statements, no timing and no memory of its own. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  Delivery,
  Enqueued,
  Failure,
  QueueCounts,
  StatusChange,
  TargetStatus,
} from "../engine.ts";
import { queueFull } from "../engine.ts";
import type { TargetOptions } from "../target/shape.ts";
import { STATE } from "./schema.ts";

/** What of a target's options decides how much is taken in, and in what order it goes out. */
export type Intake = Pick<TargetOptions, "name" | "maxQueue" | "whenFull" | "ordering">;

/** A delivery in the file. */
export interface Row {
  readonly n: number;
  readonly id: string;
  readonly t: number;
  readonly event: string;
  readonly session: string | null;
  readonly wire: string;
  readonly occurred_at: string;
  readonly fired: number;
  readonly ages_from: number;
  readonly attempts: number;
  readonly state: number;
  readonly due: number;
  readonly ordered: string | null;
  readonly error: string | null;
  readonly status: number | null;
}

/** A target in the file. */
export interface TargetRow {
  readonly t: number;
  readonly key: string;
  readonly waiting: number;
  readonly dead: number;
  readonly disabled_since: string | null;
  readonly disabled_reason: string | null;
  readonly paused_until: string | null;
  readonly paused_reason: string | null;
}

/** What became of deliveries handed in together. */
export interface Accepted {
  readonly became: readonly Enqueued[];
  /** The rows that were made and may be taken at once, by the place of their delivery. */
  readonly ready: ReadonlyMap<number, { readonly n: number; readonly ordered: string | null }>;
  /** How many of a target's were dropped to make room, or for want of it. */
  readonly dropped: ReadonlyMap<string, number>;
}

const ROW = "n, id, t, event, session, wire, occurred_at, fired, ages_from, attempts, state, " +
  "due, ordered, " +
  "error, status";

/** The statements of one connection, prepared when first used. */
export class Store {
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #full = true;
  readonly #keys = new Map<string, number>();
  /** Of the transaction under way: what waited when it was first asked, and what has changed since. */
  readonly #counts = new Map<number, { before?: number; waiting: number; dead: number }>();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  /** A statement, prepared once. */
  sql(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, statement = this.database.prepare(text));
    return statement;
  }

  /** Runs `change` whole or not at all; the write lock is waited for. */
  transact<T>(change: () => T): T {
    this.sql("BEGIN IMMEDIATE").run();
    try {
      const result = change();
      this.#writeCounts();
      this.sql("COMMIT").run();
      return result;
    } catch (error) {
      this.#counts.clear();
      try {
        this.database.exec("ROLLBACK");
      } catch {
        // A full disk has rolled back by itself.
      }
      this.#keys.clear();
      throw error;
    }
  }

  /** From now on a commit is on the disk when it returns, or only in order with the others. */
  sync(full: boolean): void {
    if (full === this.#full) return;
    this.#full = full;
    this.database.exec(`PRAGMA synchronous = ${full ? "FULL" : "NORMAL"}`);
  }

  /** Changes whenever another connection has written. */
  version(): number {
    return Number(this.sql("PRAGMA data_version").get()!["data_version"]);
  }

  /** The number of a target; made when it is new. Within a transaction only. */
  #target(key: string): number {
    const known = this.#keys.get(key) ?? this.targetOf(key);
    if (known !== undefined) return known;
    const { lastInsertRowid } = this.sql("INSERT INTO target (key) VALUES (?)").run(key);
    this.#keys.set(key, Number(lastInsertRowid));
    return Number(lastInsertRowid);
  }

  /** The number of a target that the file knows. */
  targetOf(key: string): number | undefined {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const row = this.sql("SELECT t FROM target WHERE key = ?").get(key) as
      | { t: number }
      | undefined;
    if (row) this.#keys.set(key, row.t);
    return row?.t;
  }

  #waiting(t: number): number {
    const count = this.#countOf(t);
    count.before ??= Number(
      this.sql("SELECT waiting FROM target WHERE t = ?").get(t)!["waiting"],
    );
    return count.before + count.waiting;
  }

  #countOf(t: number) {
    let count = this.#counts.get(t);
    if (!count) this.#counts.set(t, count = { waiting: 0, dead: 0 });
    return count;
  }

  /** One write a target and transaction, however many deliveries come and go. */
  #writeCounts(): void {
    for (const [t, { waiting, dead }] of this.#counts) {
      if (waiting === 0 && dead === 0) continue;
      this.sql("UPDATE target SET waiting = waiting + ?, dead = dead + ? WHERE t = ?")
        .run(waiting, dead, t);
    }
    this.#counts.clear();
  }

  /**
   * Takes deliveries in, all of them or none. Within a transaction.
   * @throws NotAccepted when a target that says `refuse` is full
   */
  accept(
    deliveries: readonly Delivery[],
    intakeOf: (key: string) => Intake | undefined,
    now: number,
    isFlying: (n: number) => boolean,
  ): Accepted {
    this.#refuseWhenFull(deliveries, intakeOf);
    const dropped = new Map<string, number>();
    const ready = new Map<number, { n: number; ordered: string | null }>();
    const became = deliveries.map((delivery, place): Enqueued => {
      const { target } = delivery;
      const intake = intakeOf(target);
      const t = this.#target(target);
      if (intake && this.#waiting(t) >= intake.maxQueue && !this.#has(delivery.id)) {
        dropped.set(target, (dropped.get(target) ?? 0) + 1);
        const isNew = intake.whenFull === "drop_new";
        if (isNew || !this.#dropOldest(t, now, isFlying)) return "dropped";
      }
      const made = this.#insert(t, delivery, intake?.ordering === "session", now);
      if (made?.ready) ready.set(place, made);
      return "queued";
    });
    return { became, ready, dropped };
  }

  #refuseWhenFull(
    deliveries: readonly Delivery[],
    intakeOf: (key: string) => Intake | undefined,
  ): void {
    for (const key of new Set(deliveries.map(({ target }) => target))) {
      const intake = intakeOf(key);
      if (intake?.whenFull !== "refuse") continue;
      const mine = deliveries.filter(({ target }) => target === key);
      const room = intake.maxQueue - this.#waiting(this.#target(key));
      if (mine.length <= room || mine.filter(({ id }) => !this.#has(id)).length <= room) continue;
      throw queueFull(intake.name, intake.maxQueue);
    }
  }

  #has(id: string): boolean {
    return this.sql("SELECT 1 FROM delivery WHERE id = ?").get(id) !== undefined;
  }

  #dropOldest(t: number, now: number, isFlying: (n: number) => boolean): boolean {
    const rows = this.sql(
      `SELECT ${ROW} FROM delivery WHERE t = ? AND state < 2 ORDER BY ages_from, n LIMIT ?`,
    );
    // Few are under way at a time, but those are the oldest.
    for (const limit of [1, 64, -1]) {
      const found = rows.all(t, limit) as unknown as Row[];
      const row = found.find(({ n }) => !isFlying(n));
      if (row) return this.#delete(row, now);
      if (found.length < limit) break;
    }
    return false;
  }

  /** Undefined: it is there already, since ids are handed in again when an answer was lost. */
  #insert(t: number, delivery: Delivery, ordering: boolean, now: number) {
    const { id, event, session, wire, occurredAt, attempts } = delivery;
    const ordered = ordering && session ? session : null;
    const fired = Date.parse(occurredAt) || now;
    const behind = ordered !== null && this.#hasActive(t, ordered);
    const { lastInsertRowid, changes } = this.sql(
      "INSERT OR IGNORE INTO delivery (id, t, event, session, wire, occurred_at, fired, ages_from, " +
        "attempts, state, due, ordered) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ).run(
      id,
      t,
      event,
      session ?? null,
      wire,
      occurredAt,
      fired,
      fired,
      attempts,
      behind ? STATE.behind : STATE.ready,
      now,
      ordered,
    );
    if (Number(changes) === 0) return undefined;
    this.#count(t, 1, 0);
    return { n: Number(lastInsertRowid), ordered, ready: !behind };
  }

  #hasActive(t: number, ordered: string): boolean {
    return this.sql(
      "SELECT 1 FROM delivery WHERE t = ? AND ordered = ? AND state < 2 LIMIT 1",
    ).get(t, ordered) !== undefined;
  }

  #count(t: number, waiting: number, dead: number): void {
    const count = this.#countOf(t);
    count.waiting += waiting;
    count.dead += dead;
  }

  /** The next of a session steps forward when the one before it has ended. */
  #promote(t: number, ordered: string | null, now: number): void {
    if (ordered === null || this.#hasReady(t, ordered)) return;
    this.sql(
      "UPDATE delivery SET state = 0, due = ? WHERE n = (SELECT n FROM delivery WHERE t = ? AND " +
        "ordered = ? AND state = 1 ORDER BY n LIMIT 1)",
    ).run(now, t, ordered);
  }

  #hasReady(t: number, ordered: string): boolean {
    return this.sql(
      "SELECT 1 FROM delivery WHERE t = ? AND ordered = ? AND state = 0 LIMIT 1",
    ).get(t, ordered) !== undefined;
  }

  #delete({ n, id, t, state, ordered }: Row, now: number): boolean {
    if (Number(this.sql("DELETE FROM delivery WHERE n = ? AND id = ?").run(n, id).changes) === 0) {
      return false;
    }
    if (state === STATE.dead) this.#count(t, 0, -1);
    else {
      this.#count(t, -1, 0);
      if (state === STATE.ready) this.#promote(t, ordered, now);
    }
    return true;
  }

  /** A delivery that was made: gone. `ordered` as it was when it was taken. False: it was not there. */
  done(n: number, id: string, t: number, ordered: string | null, now: number): boolean {
    const { changes } = this.sql("DELETE FROM delivery WHERE n = ? AND id = ? AND state = 0")
      .run(n, id);
    if (Number(changes) === 0) return false;
    this.#count(t, -1, 0);
    this.#promote(t, ordered, now);
    return true;
  }

  /** To be tried again. Nothing happens to one that was removed meanwhile: false. */
  retry(n: number, id: string, attempts: number, due: number, why?: Failure): boolean {
    const { changes } = this.sql(
      "UPDATE delivery SET attempts = ?, due = ?, error = ?, status = ? WHERE n = ? AND id = ? AND " +
        "state = 0",
    ).run(attempts, due, why?.error ?? null, why?.status ?? null, n, id);
    return Number(changes) > 0;
  }

  /** Given up: kept as a dead letter. False: it was not there, or dead already. */
  die(n: number, id: string, attempts: number, why: Failure, now: number): boolean {
    const row = this.load(n);
    if (row?.id !== id || row.state === STATE.dead) return false;
    this.sql(
      "UPDATE delivery SET state = 2, attempts = ?, due = ?, error = ?, status = ? WHERE n = ?",
    )
      .run(attempts, now, why.error, why.status ?? null, n);
    this.#count(row.t, -1, 1);
    if (row.state === STATE.ready) this.#promote(row.t, row.ordered, now);
    return true;
  }

  /**
   * Every attempt before it, due now, and as young as if it were fired now. One that stands behind
   * another of its session goes on doing so; a dead letter's session has gone on without it.
   */
  revive({ n, t, state, ordered }: Row, now: number): void {
    const dead = state === STATE.dead;
    this.sql(
      "UPDATE delivery SET state = ?, attempts = 0, due = ?, ages_from = ?, error = NULL, " +
        "status = NULL, ordered = ? WHERE n = ?",
    ).run(dead ? STATE.ready : state, now, now, dead ? null : ordered, n);
    if (dead) this.#count(t, 1, -1);
  }

  /** Removes it for good. */
  remove(row: Row, now: number): boolean {
    return this.#delete(row, now);
  }

  /** One row, or undefined when it is gone. */
  load(n: number): Row | undefined {
    return this.sql(`SELECT ${ROW} FROM delivery WHERE n = ?`).get(n) as unknown as Row | undefined;
  }

  /** The rows of a target that are due, the longest due first; read as they are asked for. */
  due(t: number, now: number, limit: number): Iterable<Row> {
    return this.sql(
      `SELECT ${ROW} FROM delivery WHERE t = ? AND state = 0 AND due <= ? ORDER BY due, n LIMIT ?`,
    ).iterate(t, now, limit) as unknown as Iterable<Row>;
  }

  /** When the next one of a target is due that is due later than `after`, in ms since 1970. */
  nextDue(t: number, after: number): number | undefined {
    const row = this.sql(
      "SELECT due FROM delivery WHERE t = ? AND state = 0 AND due > ? ORDER BY due LIMIT 1",
    ).get(t, after) as { due: number } | undefined;
    return row?.due;
  }

  /** Every target that the file knows. */
  targets(): TargetRow[] {
    return this.sql("SELECT * FROM target").all() as unknown as TargetRow[];
  }

  /** Changes a target's status. Within a transaction. */
  setStatus(key: string, { disabled, paused }: StatusChange): void {
    const t = this.#target(key);
    if (disabled !== undefined) {
      this.sql("UPDATE target SET disabled_since = ?, disabled_reason = ? WHERE t = ?")
        .run(disabled?.since ?? null, disabled?.reason ?? null, t);
    }
    if (paused !== undefined) {
      this.sql("UPDATE target SET paused_until = ?, paused_reason = ? WHERE t = ?")
        .run(paused?.until ?? null, paused?.reason ?? null, t);
    }
  }
}

/** What a target's row says of its status. */
export function statusOf(row: TargetRow): TargetStatus {
  const { disabled_since, disabled_reason, paused_until, paused_reason } = row;
  return {
    ...(disabled_since !== null &&
      { disabled: { since: disabled_since, reason: disabled_reason ?? "" } }),
    ...(paused_until !== null && { paused: { until: paused_until, reason: paused_reason ?? "" } }),
  };
}

/** What a target's row says of its counts. */
export function countsOf({ waiting, dead }: TargetRow): QueueCounts {
  return { waiting, inFlight: 0, dropped: 0, dead };
}
