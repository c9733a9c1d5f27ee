/** Counts what is dropped, and tells of it once a burst, with the count. */

/** How drops are told of. */
export interface DropsOptions {
  readonly tell: (target: string, count: number) => void;
  /** Milliseconds without a drop that end a burst. Default 1,000. */
  readonly quietMs?: number;
}

/** A burst that does not end is told of this often, in ms. */
const LONG_MS = 60_000;
/** Timers may fire a little early. */
const EARLY_MS = 10;

interface Burst {
  count: number;
  readonly began: number;
  last: number;
}

/** The drops of one process. A drop costs no timer of its own: there may be floods of them. */
export class Drops {
  readonly #bursts = new Map<string, Burst>();
  readonly #totals = new Map<string, number>();
  readonly #tell: DropsOptions["tell"];
  readonly #quietMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ tell, quietMs = 1_000 }: DropsOptions) {
    this.#tell = tell;
    this.#quietMs = quietMs;
  }

  /** How many of a target's since start. */
  total(target: string): number {
    return this.#totals.get(target) ?? 0;
  }

  /** Counts them in. */
  add(target: string, count: number): void {
    const now = performance.now();
    this.#totals.set(target, this.total(target) + count);
    let burst = this.#bursts.get(target);
    if (!burst) this.#bursts.set(target, burst = { count: 0, began: now, last: now });
    burst.count += count;
    burst.last = now;
    if (now - burst.began > LONG_MS) this.#end(target, burst);
    this.#watch();
  }

  /** Looks again when the earliest of the bursts may be over. */
  #watch(): void {
    if (this.#timer !== undefined || this.#bursts.size === 0) return;
    const earliest = Math.min(...[...this.#bursts.values()].map(({ last }) => last));
    const left = earliest + this.#quietMs - performance.now();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.tell(performance.now() - this.#quietMs + EARLY_MS);
      this.#watch();
    }, Math.max(1, left));
    // A warning that is still to come keeps no process alive: draining and closing give it too.
    this.#timer.unref();
  }

  /** Tells of the bursts whose last drop was before `until`; default: of all. */
  tell(until = Infinity): void {
    for (const [target, burst] of this.#bursts) if (burst.last <= until) this.#end(target, burst);
  }

  #end(target: string, { count }: Burst): void {
    this.#bursts.delete(target);
    this.#tell(target, count);
  }

  /** Tells of what was not told yet, and watches no more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.tell();
  }
}
