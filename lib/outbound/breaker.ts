/**
 * A circuit breaker: a target that fails for long is left alone for a while, then probed with one
 * attempt at a time. A pure state machine; times are ms on any one clock that does not jump.
 */

/** So many failures in a row open it. */
const IN_ROW = 10;
/** Or this share of at least so many attempts within so long. */
const SHARE = 0.7, LEAST = 10, WITHIN_MS = 5 * 60_000;
/** Attempts that are looked at for the share, at most: the newest ones. */
const REMEMBERED = 256;
/** The first pause. */
const PAUSE_MS = 30_000;
/** The longest pause, in ms: a failed probe doubles it up to here. */
export const LONGEST_PAUSE_MS = 5 * 60_000;

/** What came of an attempt for the breaker: `neither` says nothing about the receiver's health. */
export type Mark = "success" | "failure" | "neither";

/** One target's breaker. */
export class Breaker {
  /** When it opened last; undefined: it is closed. */
  #openedAt: number | undefined;
  #pauseMs = PAUSE_MS;
  #row = 0;
  #recent: { readonly at: number; readonly failed: boolean }[] = [];

  /**
   * Is it open? It stays so when its pause is over: each attempt that is made then is a probe, and
   * there should be one at a time.
   */
  get isOpen(): boolean {
    return this.#openedAt !== undefined;
  }

  /** Opens it as it was left by a process before this one: the next attempt is a probe. */
  restore(): void {
    this.#openedAt ??= -Infinity;
  }

  /**
   * Notes an attempt.
   * @param began when it began: one that was under way when the breaker opened tells nothing new
   * @param now when it ended
   * @returns for how long, in ms, the target is to be left alone from now on; `closed`: it is well
   * again; undefined: nothing changes
   */
  note(mark: Mark, began: number, now: number): number | "closed" | undefined {
    if (mark === "neither") return undefined;
    if (this.#openedAt === undefined) return this.#whileClosed(mark === "failure", now);
    if (began < this.#openedAt) return undefined;
    if (mark === "success") return this.#close();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return this.#open(now);
  }

  #whileClosed(failed: boolean, now: number): number | undefined {
    this.#remember(failed, now);
    this.#row = failed ? this.#row + 1 : 0;
    return failed && (this.#row >= IN_ROW || this.#failsOften(now)) ? this.#open(now) : undefined;
  }

  #open(now: number): number {
    this.#openedAt = now;
    return this.#pauseMs;
  }

  #close(): "closed" {
    this.#openedAt = undefined;
    this.#pauseMs = PAUSE_MS;
    this.#row = 0;
    this.#recent = [];
    return "closed";
  }

  #remember(failed: boolean, at: number): void {
    // Cut in bulk: shifting at each attempt would move the whole list.
    if (this.#recent.length >= 2 * REMEMBERED) this.#recent = this.#recent.slice(-REMEMBERED);
    this.#recent.push({ at, failed });
  }

  #failsOften(now: number): boolean {
    const recent = this.#recent.slice(-REMEMBERED).filter(({ at }) => at > now - WITHIN_MS);
    const failed = recent.filter((each) => each.failed).length;
    return recent.length >= LEAST && failed / recent.length >= SHARE;
  }
}
