/** A bounded memory of deliveries that were accepted, so that none is accepted twice. */
import { TOLERANCE_S } from "./verification.ts";

/** How much is remembered, and for how long. */
export interface Memory {
  /** So many names are kept however old they are. Default 10,000. */
  readonly least?: number;
  /** Never more than so many. Default 500,000 (some 60 MB). */
  readonly most?: number;
  /**
   * Younger names are kept beyond `least`, in ms. Default twice the tolerance, 600,000: a delivery
   * signed by a clock five minutes ahead of ours stays fresh for ten.
   */
  readonly windowMs?: number;
}

/** Names of deliveries seen lately. */
export class SeenDeliveries {
  readonly #least: number;
  readonly #most: number;
  readonly #windowMs: number;
  // A Map keeps the order of arrival: the first is the oldest.
  readonly #names = new Map<string, number>();

  constructor({ least = 10_000, most = 500_000, windowMs = 2000 * TOLERANCE_S }: Memory = {}) {
    this.#least = least;
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** How many names are remembered. */
  get size(): number {
    return this.#names.size;
  }

  /** Was a delivery of any of these names accepted? */
  has(names: readonly string[]): boolean {
    return names.some((name) => this.#names.has(name));
  }

  /**
   * Remembers names as of now, also those known already.
   * @param now in ms, on any clock that the caller keeps to
   */
  add(names: readonly string[], now: number): void {
    for (const name of names) {
      this.#names.delete(name);
      this.#names.set(name, now);
    }
    this.#forget(now);
  }

  #forget(now: number): void {
    for (const [name, at] of this.#names) {
      const { size } = this.#names;
      if (size <= this.#least || (size <= this.#most && now - at < this.#windowMs)) return;
      this.#names.delete(name);
    }
  }
}
