/** What was sent lately: attempts to show, results to wait for, bodies to send again. All bounded. */
import type { Delivery } from "./engine.ts";
import { Recent } from "./recent.ts";
import type { AttemptOutcome } from "./send.ts";

/** One attempt, for people. */
export interface Attempt {
  /** When it ended, UTC, `…Z`. */
  readonly at: string;
  /** The target's name. */
  readonly target: string;
  readonly event: string;
  /** The delivery's id. */
  readonly id: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly status?: number;
  readonly error?: string;
  readonly location?: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  /** Will there be another? */
  readonly retried: boolean;
}

/** What became of a delivery in the end. */
export type DeliveryResult = "delivered" | "failed" | "dropped";

const MAX_ATTEMPTS = 500;
const RESULTS = { entries: 20_000 };
const HELD = { entries: 1_000, weight: 16 * 1024 * 1024 };

/** The bounded memory of an outbox. */
export class History {
  readonly #attempts: Attempt[] = [];
  #oldest = 0;
  readonly #results = new Recent<DeliveryResult>(RESULTS);
  readonly #held = new Recent<Delivery>(HELD, ({ wire }) => wire.length);

  /** Adds an attempt; the oldest of more than 500 goes. */
  addAttempt(attempt: Attempt): void {
    if (this.#attempts.length < MAX_ATTEMPTS) this.#attempts.push(attempt);
    else {
      this.#attempts[this.#oldest] = attempt;
      this.#oldest = (this.#oldest + 1) % MAX_ATTEMPTS;
    }
  }

  /** The newest first. */
  attempts(): Attempt[] {
    return [
      ...this.#attempts.slice(this.#oldest),
      ...this.#attempts.slice(0, this.#oldest),
    ].reverse();
  }

  /** Notes how a delivery ended; at least the last 10,000 are known. */
  setResult(id: string, result: DeliveryResult): void {
    this.#results.set(id, result);
  }

  result(id: string): DeliveryResult | undefined {
    return this.#results.get(id);
  }

  /** Keeps a delivery that ended, to send it again: at least the last 500 within 8 MiB. */
  hold(delivery: Delivery): void {
    this.#held.set(delivery.id, delivery);
  }

  held(id: string): Delivery | undefined {
    return this.#held.get(id);
  }
}
