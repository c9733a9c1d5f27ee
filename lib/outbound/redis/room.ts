/**
 * How many deliveries wait for each target, near enough: asked now and then, and counted on from
 * there. Several listeners that add at the same time may go over `max_queue` by what each adds.
 */
import type { Queues } from "./queues.ts";

/** Milliseconds after which Redis is asked anew. */
const FRESH_MS = 1_000;

interface Guess {
  /** What Redis said, and what was added since. */
  count: number;
  /** Granted and on its way. */
  pending: number;
  /** When Redis was asked, on the clock of `performance.now()`. */
  at: number;
}

/** The room in the queues of all targets. */
export class Room {
  readonly #queues: Queues;
  readonly #guesses = new Map<string, Guess>();

  constructor(queues: Queues) {
    this.#queues = queues;
  }

  /**
   * Grants places; each must be given back with {@link settle}.
   * @param max the target's `max_queue`
   * @returns how many of those wanted there is room for
   */
  async grant(target: string, max: number, wanted: number): Promise<number> {
    let guess = this.#guesses.get(target);
    if (!guess || performance.now() - guess.at >= FRESH_MS || leftOf(guess, max) < wanted) {
      const count = await this.#queues.waiting(target);
      guess = { count, pending: this.#guesses.get(target)?.pending ?? 0, at: performance.now() };
      this.#guesses.set(target, guess);
    }
    const granted = Math.min(wanted, leftOf(guess, max));
    guess.pending += granted;
    return granted;
  }

  /**
   * Ends a grant.
   * @param added how many deliveries came to wait, less those that gave way
   */
  settle(target: string, granted: number, added: number): void {
    const guess = this.#guesses.get(target);
    if (!guess) return;
    guess.pending -= granted;
    guess.count += added;
  }
}

function leftOf({ count, pending }: Guess, max: number): number {
  return Math.max(0, max - count - pending);
}
