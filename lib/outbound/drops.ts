/** Tells of dropped deliveries once a burst, with the count. */

/** Milliseconds without a drop that end a burst; a burst that does not end is told of this often. */
const QUIET_MS = 1_000, LONG_MS = 60_000;

interface Burst {
  count: number;
  readonly began: number;
  timer: ReturnType<typeof setTimeout>;
}

/** The drops of one process. */
export class Drops {
  readonly #bursts = new Map<string, Burst>();
  readonly #totals = new Map<string, number>();
  readonly #tell: (target: string, count: number) => void;

  constructor(tell: (target: string, count: number) => void) {
    this.#tell = tell;
  }

  /** How many of a target's since start. */
  total(target: string): number {
    return this.#totals.get(target) ?? 0;
  }

  /** Counts them in. */
  add(target: string, count: number): void {
    this.#totals.set(target, this.total(target) + count);
    const burst = this.#bursts.get(target);
    clearTimeout(burst?.timer);
    const began = burst?.began ?? performance.now();
    const sum = (burst?.count ?? 0) + count;
    const timer = setTimeout(() => this.#end(target), QUIET_MS);
    // A warning that is still to come keeps no process alive: closing gives it too.
    timer.unref();
    this.#bursts.set(target, { count: sum, began, timer });
    if (performance.now() - began > LONG_MS) this.#end(target);
  }

  #end(target: string): void {
    const burst = this.#bursts.get(target);
    if (!burst) return;
    clearTimeout(burst.timer);
    this.#bursts.delete(target);
    this.#tell(target, burst.count);
  }

  /** Tells of what was not told yet. */
  close(): void {
    for (const target of [...this.#bursts.keys()]) this.#end(target);
  }
}
