/** A map that forgets its oldest entries by halves, which costs next to nothing an entry. */

/** How much is kept: between half of `entries` and all of it, and no more than `weight`. */
export interface RecentBounds {
  readonly entries: number;
  /** In whatever unit `weigh` measures. Default: no bound. */
  readonly weight?: number;
}

/** Remembers what was set lately. */
export class Recent<T> {
  readonly #bounds: RecentBounds;
  readonly #weigh: (value: T) => number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();
  #weight = 0;

  constructor(bounds: RecentBounds, weigh: (value: T) => number = () => 0) {
    this.#bounds = bounds;
    this.#weigh = weigh;
  }

  /** Remembers a value; one heavier than half the bound is not. */
  set(key: string, value: T): void {
    const { entries, weight = Infinity } = this.#bounds;
    const own = this.#weigh(value);
    if (own > weight / 2) return;
    if (this.#young.size >= entries / 2 || this.#weight + own > weight / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, value);
    this.#weight += own;
  }

  get(key: string): T | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }
}
