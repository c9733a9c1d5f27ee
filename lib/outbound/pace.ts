/** `rate_limit_per_second`: attempts wait their turn and are never dropped. */

/** Milliseconds of lateness that may be made up for, so that coarse timers do not lower the rate. */
const SLACK_MS = 20;

/** Gives out turns at a steady rate. */
export class Pace {
  readonly #intervalMs: number;
  #next = -Infinity;

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /**
   * Takes the next turn.
   * @param now in ms, of a clock that never goes back
   * @returns milliseconds until it comes
   */
  turn(now: number): number {
    const slack = Math.min(SLACK_MS, this.#intervalMs * 10);
    const at = Math.max(this.#next, now - slack);
    this.#next = at + this.#intervalMs;
    return Math.max(0, at - now);
  }
}
