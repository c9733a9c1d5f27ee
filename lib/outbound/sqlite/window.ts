/**
 * What of a target is next, in memory: the rows, and their deliveries while they are few and small.
 * A backlog of a million is a few thousand rows here.
 */
import type { Delivery } from "../engine.ts";

/** Rows held of one target. */
const WINDOW_ROWS = 2048;
/** So many are read from the file at once, which the loop waits for. */
export const READ_ROWS = 256;
/** Characters of deliveries held over all targets. */
const WINDOW_CHARS = 16 * 1024 * 1024;

/** What all windows hold together. */
export interface Budget {
  chars: number;
}

/** One row that is due. */
export interface Entry {
  readonly n: number;
  /** Absent: to be read from the file. */
  readonly delivery?: Delivery;
  readonly ordered?: string | null;
}

/** The next rows of one target, in order. */
export class Window {
  /** Is everything that is due now in here? Else the file is asked again. */
  complete = false;
  /** Rows in here, under way, or whose end is not written yet: not to be taken again. */
  readonly busy = new Set<number>();
  readonly #entries: (Entry | undefined)[] = [];
  readonly #budget: Budget;
  #head = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get size(): number {
    return this.#entries.length - this.#head;
  }

  /** Adds a row at the end; without its delivery when too much is held already. */
  push(entry: Entry): void {
    this.busy.add(entry.n);
    const chars = entry.delivery?.wire.length ?? 0;
    if (this.#budget.chars + chars > WINDOW_CHARS) return void this.#entries.push({ n: entry.n });
    this.#budget.chars += chars;
    this.#entries.push(entry);
  }

  /** Takes the first. */
  shift(): Entry | undefined {
    const entry = this.#entries[this.#head];
    if (!entry) return undefined;
    this.#entries[this.#head++] = undefined;
    this.#budget.chars -= entry.delivery?.wire.length ?? 0;
    if (this.#head === this.#entries.length || this.#head > 1024) {
      this.#entries.splice(0, this.#head);
      this.#head = 0;
    }
    return entry;
  }

  /** Is there no room for more? */
  get full(): boolean {
    return this.size >= WINDOW_ROWS || this.#budget.chars >= WINDOW_CHARS;
  }

  /** Forgets what is in here; the file is asked again. */
  clear(): void {
    for (let entry = this.shift(); entry; entry = this.shift()) this.busy.delete(entry.n);
    this.complete = false;
  }
}
