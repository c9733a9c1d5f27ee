/**
 * The engine on `outbound.db`: what is accepted is in the file before anyone is told so. One process
 * of a home sends at a time; what it has under way is in its memory alone, and in the file until it
 * is made.
 */
import { setImmediate } from "node:timers";
import type {
  Delivery,
  Enqueued,
  KeptQueue,
  QueueCounts,
  QueueEngine,
  Settlement,
} from "../engine.ts";
import { type QueueOptions, SentElsewhere } from "../queue.ts";
import { DEFAULT_RETRY } from "../target/retry.ts";
import type { RetryPlan } from "../target/shape.ts";
import { storeError } from "./database.ts";
import { Drops } from "../drops.ts";
import { QueueFile } from "./file.ts";
import { SqliteKept } from "./kept.ts";
import { STATE } from "./schema.ts";
import { type Accepted, type Row, statusOf } from "./store.ts";
import { expiredText, sweep } from "./sweep.ts";
import { type Release, said, takeTurn } from "./turn.ts";
import { type Budget, type Entry, READ_ROWS, Window } from "./window.ts";
import { Writer } from "./writer.ts";

/** How often the file is asked whether another process has written, in ms. */
const POLL_MS = 100;
/** How often the turn to send is asked for while somebody else has it, in ms. */
const TURN_MS = 250;
/** How often what is too old is looked for, in ms. */
const SWEEP_MS = 60_000;
/** So many rows that turn out to be removed or too old are passed over at a time. */
const MOST_GONE = 256;
/** So many ends of attempts may wait to be written on a full disk; then no more are made. */
const MOST_UNWRITTEN = 1024;

interface Flight {
  readonly n: number;
  readonly t: number;
  readonly ordered: string | null;
}

interface Alarm {
  readonly at: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** A {@link QueueEngine} that keeps what it accepted. */
export class SqliteEngine implements QueueEngine {
  readonly kept: KeptQueue;
  readonly #kept: SqliteKept;
  readonly #options: QueueOptions;
  readonly #file: QueueFile;
  readonly #writer: Writer;
  readonly #drops: Drops;
  readonly #windows = new Map<string, Window>();
  readonly #budget: Budget = { chars: 0 };
  readonly #flights = new Map<string, Flight>();
  /** The rows of {@link #flights}. */
  readonly #flying = new Set<number>();
  readonly #alarms = new Map<string, Alarm>();
  #disabled: ReadonlySet<string> = new Set();
  #version = 0;
  #ready: (target: string) => void = () => {};
  #landed: (() => void) | undefined;
  #release: Release | undefined;
  #poll: ReturnType<typeof setInterval> | undefined;
  #sweeps: ReturnType<typeof setInterval> | undefined;
  #sweeping = false;
  #draining = false;
  #closed = false;

  private constructor(file: QueueFile, options: QueueOptions) {
    this.#file = file;
    this.#options = options;
    this.#drops = new Drops({ tell: (target, count) => options.onDropped?.(target, count) });
    this.#writer = new Writer({
      store: () => file.writable,
      intakeOf: options.target,
      now: options.now,
      isFlying: (n) => this.#flying.has(n),
      onAccepted: (deliveries, accepted) => this.#onAccepted(deliveries, accepted),
      errorOf: (error) => storeError(file.file, error),
      mend: (error) => file.mend(error),
      onStuck: (error) => this.#sayStuck(error),
    });
    const sending = { inFlight: () => this.#inFlight(), changed: () => this.#lookAgain() };
    this.kept = this.#kept = new SqliteKept(file, this.#writer, sending, options.now);
    file.onReplaced = () => this.#forget();
  }

  /**
   * Opens the file. Sending begins at once, or when whoever sends now has ended.
   * @throws NotAccepted when the file cannot be had; SentElsewhere as told by `onlyIfFree`
   */
  static async open(options: QueueOptions): Promise<SqliteEngine> {
    const { home, log, now, role = "listener", onlyIfFree } = options;
    const file = await QueueFile.open(home, log, now);
    try {
      const release = await takeTurn(file.file, role);
      if (!release && onlyIfFree) throw new SentElsewhere(said(file.file) ?? "sender");
      const engine = new SqliteEngine(file, options);
      if (release) engine.#begin(release);
      else engine.#waitForTurn(role);
      return engine;
    } catch (error) {
      file.close();
      throw error instanceof SentElsewhere ? error : storeError(file.file, error);
    }
  }

  #waitForTurn(role: "listener" | "sender"): void {
    this.#poll = setInterval(async () => {
      const release = await takeTurn(this.#file.file, role).catch(() => undefined);
      if (!release) return;
      if (this.#closed || this.#release) return release();
      clearInterval(this.#poll);
      this.#begin(release);
    }, TURN_MS);
  }

  #begin(release: Release): void {
    this.#release = release;
    this.#poll = setInterval(() => this.#lookForOthers(), POLL_MS);
    this.#sweeps = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweep();
    this.#lookAgain();
  }

  async #sweep(): Promise<void> {
    if (this.#sweeping || this.#closed) return;
    this.#sweeping = true;
    const { retainMs, now, log } = this.#options;
    const maxAge = (key: string) => this.#retryOf(key).maxAgeMs;
    const isFlying = (n: number) => this.#flying.has(n);
    try {
      const options = { now: now().getTime(), retainMs, maxAge, isFlying };
      const expired = await this.#file.use((store) => sweep(store, options));
      if (expired > 0) this.#lookAgain();
    } catch (error) {
      if (!this.#closed) log("warning", (error as Error).message);
    }
    this.#sweeping = false;
  }

  #lookForOthers(): void {
    try {
      const version = this.#file.writable.version();
      if (version === this.#version) return;
      this.#version = version;
      this.#lookAgain();
    } catch (error) {
      this.#mend(error);
    }
  }

  #mend(error: unknown): void {
    this.#file.mend(error).catch((again) =>
      this.#options.log("error", storeError(this.#file.file, again).message)
    );
  }

  /** Another file: nothing that is known of the old one counts. */
  #forget(): void {
    for (const window of this.#windows.values()) {
      window.clear();
      window.busy.clear();
    }
    this.#flights.clear();
    this.#flying.clear();
    this.#landed?.();
    this.#version = 0;
  }

  /** What is known of the file may be out of date. */
  #lookAgain(): void {
    if (!this.#release || this.#closed) return;
    try {
      const rows = this.#file.store.targets();
      this.#disabled = new Set(rows.flatMap((row) => statusOf(row).disabled ? [row.key] : []));
      // What stands in them may have been removed, or is to be tried anew.
      for (const window of this.#windows.values()) window.clear();
      for (const { key, waiting } of rows) if (waiting > 0) this.#ready(key);
    } catch (error) {
      this.#mend(error);
    }
  }

  #window(key: string): Window {
    let window = this.#windows.get(key);
    if (!window) this.#windows.set(key, window = new Window(this.#budget));
    return window;
  }

  async enqueue(delivery: Delivery): Promise<Enqueued> {
    return (await this.kept.accept([delivery]))[0]!;
  }

  #onAccepted(deliveries: readonly Delivery[], { ready, dropped }: Accepted): void {
    for (const [target, count] of dropped) {
      this.#drops.add(target, count);
      // It may be what gave way.
      this.#windows.get(target)?.clear();
    }
    if (!this.#release) return;
    for (const [place, { n, ordered }] of ready) {
      const delivery = deliveries[place]!;
      const window = this.#window(delivery.target);
      if (window.complete && !window.full) window.push({ n, delivery, ordered });
      else window.complete = false;
      this.#ready(delivery.target);
    }
  }

  take(target: string): Delivery | undefined {
    if (!this.#release || this.#draining || this.#closed) return undefined;
    if (this.#disabled.has(target) || this.#writer.stuck > MOST_UNWRITTEN) return undefined;
    try {
      return this.#next(target);
    } catch (error) {
      this.#mend(error);
      return undefined;
    }
  }

  #next(key: string): Delivery | undefined {
    const window = this.#window(key);
    for (let gone = 0; gone < MOST_GONE;) {
      const entry = window.shift();
      if (!entry) {
        if (window.complete || !this.#refill(key, window)) return undefined;
        continue;
      }
      const taken = this.#depart(key, window, entry);
      if (taken) return taken;
      gone++;
    }
    // So many in a row that were removed or are too old: others have their turn first.
    void this.#sweep();
    setImmediate(() => this.#reopen(key));
    return undefined;
  }

  /** Fills a window from the file; false: nothing is due. */
  #refill(key: string, window: Window): boolean {
    const { store } = this.#file;
    const now = this.#options.now().getTime();
    const t = store.targetOf(key);
    window.complete = true;
    if (t === undefined) return false;
    // Rows that are busy are still due in the file: room for them, too.
    const limit = READ_ROWS + window.busy.size;
    let seen = 0;
    for (const row of store.due(t, now, limit)) {
      seen++;
      if (window.busy.has(row.n)) continue;
      window.push({ n: row.n, delivery: deliveryOf(row, key), ordered: row.ordered });
      if (window.size < READ_ROWS && !window.full) continue;
      window.complete = false;
      break;
    }
    if (seen === limit) window.complete = false;
    const next = store.nextDue(t, now);
    if (next !== undefined) this.#wakeAt(key, next);
    return window.size > 0;
  }

  /** Reads what is not held, and notes that it is under way; undefined: it is gone, or too old. */
  #depart(key: string, window: Window, entry: Entry): Delivery | undefined {
    const { n } = entry;
    const row = entry.delivery ? undefined : this.#file.store.load(n);
    const given = entry.delivery ?? (row?.state === STATE.ready ? deliveryOf(row, key) : undefined);
    if (!given) {
      window.busy.delete(n);
      return undefined;
    }
    const ordered = (row ? row.ordered : entry.ordered) ?? null;
    if (!this.#isOld(key, given)) {
      this.#flights.set(given.id, { n, t: this.#file.store.targetOf(key)!, ordered });
      this.#flying.add(n);
      return given;
    }
    const { maxAgeMs } = this.#retryOf(key);
    // Busy until then: else it would be found due again.
    this.#writer.later(
      (store, now) =>
        store.die(n, given.id, given.attempts, expiredText(maxAgeMs, store.load(n)?.error), now),
      () => this.#ended(key, n, ordered !== null),
    );
    return undefined;
  }

  #retryOf(key: string): RetryPlan {
    return this.#options.target(key)?.retry ?? DEFAULT_RETRY;
  }

  #isOld(key: string, { agesFrom, occurredAt }: Delivery): boolean {
    const from = agesFrom ?? Date.parse(occurredAt);
    return from + this.#retryOf(key).maxAgeMs <= this.#options.now().getTime();
  }

  settle(delivery: Delivery, settlement: Settlement): void {
    const { id, target } = delivery;
    const flight = this.#flights.get(id);
    if (!flight) return;
    const { n, t, ordered } = flight;
    this.#flights.delete(id);
    this.#flying.delete(n);
    const attempts = delivery.attempts + 1;
    let found = true;
    // One that was removed meanwhile has left its number to another, and its session to the next.
    const ended = () => this.#ended(target, n, ordered !== null || !found);
    switch (settlement.kind) {
      case "done":
        this.#writer.later((store, now) => found = store.done(n, id, t, ordered, now), ended);
        break;
      case "dead": {
        const { why } = settlement;
        this.#writer.later((store, now) => found = store.die(n, id, attempts, why, now), ended);
        break;
      }
      case "retry": {
        const due = this.#options.now().getTime() + settlement.afterMs;
        const { why } = settlement;
        this.#writer.later((store) => found = store.retry(n, id, attempts, due, why), () => {
          this.#ended(target, n, !found);
          this.#wakeAt(target, due);
        });
        break;
      }
      case "untried":
        this.#window(target).busy.delete(n);
        this.#window(target).complete = false;
    }
    if (this.#flights.size === 0) this.#landed?.();
  }

  /** The end of an attempt is written. */
  #ended(key: string, n: number, othersMayBeDue: boolean): void {
    this.#window(key).busy.delete(n);
    if (othersMayBeDue) this.#reopen(key);
  }

  #reopen(key: string): void {
    this.#window(key).complete = false;
    this.#ready(key);
  }

  /** One alarm a target, at the earliest. */
  #wakeAt(key: string, at: number): void {
    const alarm = this.#alarms.get(key);
    if (this.#closed || (alarm && alarm.at <= at)) return;
    clearTimeout(alarm?.timer);
    const ms = Math.min(Math.max(1, at - this.#options.now().getTime()), 0x7fffffff);
    const timer = setTimeout(() => {
      this.#alarms.delete(key);
      this.#reopen(key);
    }, ms);
    this.#alarms.set(key, { at, timer });
  }

  onReady(callback: (target: string) => void): void {
    this.#ready = callback;
    this.#lookAgain();
  }

  async counts(): Promise<ReadonlyMap<string, QueueCounts>> {
    const flying = new Map<number, number>();
    for (const { t } of this.#flights.values()) flying.set(t, (flying.get(t) ?? 0) + 1);
    const counts = await this.#kept.counts();
    return new Map([...counts].map(([key, count]) => {
      const inFlight = flying.get(this.#file.store.targetOf(key) ?? -1) ?? 0;
      const waiting = Math.max(0, count.waiting - inFlight);
      return [key, { ...count, waiting, inFlight, dropped: this.#drops.total(key) }];
    }));
  }

  async drain(ms: number): Promise<readonly Delivery[]> {
    this.#draining = true;
    if (this.#flights.size > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#landed = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    await this.#writer.flush();
    return [];
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#poll);
    clearInterval(this.#sweeps);
    for (const { timer } of this.#alarms.values()) clearTimeout(timer);
    await this.#writer.flush();
    this.#writer.close();
    this.#drops.close();
    this.#file.close();
    this.#release?.();
  }

  #inFlight(): readonly number[] {
    return [...this.#flying];
  }

  #sayStuck(error: Error | undefined): void {
    if (error) {
      this.#options.log(
        "error",
        `what was delivered cannot be noted, trying again: ${error.message}`,
      );
    } else {
      this.#options.log("info", "what was delivered is noted again");
      this.#lookAgain();
    }
  }
}

function deliveryOf(row: Row, target: string): Delivery {
  const { id, event, wire, occurred_at, ages_from, attempts, session } = row;
  const at = { occurredAt: occurred_at, agesFrom: ages_from };
  const given = { id, target, event, wire, ...at, attempts };
  return session === null ? given : { ...given, session };
}
