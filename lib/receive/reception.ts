/** What becomes of one request whose body is read: checked, known already, or accepted. */
import type { Json, JsonObject } from "../events/json.ts";
import { SeenDeliveries } from "./dedupe.ts";
import { type Delivery, unverified } from "./delivery.ts";
import { type HeaderSource, readHeaders } from "./headers.ts";
import { verifyDelivery } from "./verification.ts";

/** What is said to the sender. */
export interface Answer {
  readonly status: number;
  readonly json: JsonObject;
}

/** How deliveries are received. */
export interface ReceptionOptions {
  /** None: nothing is checked, and deliveries are taken at their word. */
  readonly secrets: readonly string[];
  readonly now: () => Date;
  /**
   * Takes an accepted delivery over; false when there is no room for it now, so that the sender
   * tries again. Called once for each.
   */
  readonly accept: (delivery: Delivery, body: Uint8Array) => boolean;
  /** In seconds; default 300. */
  readonly toleranceS?: number;
  /** Default: a new one. */
  readonly seen?: SeenDeliveries;
}

/** An answer that says no, and why. */
export function refusal(status: number, error: string): Answer {
  return { status, json: new Map<string, Json>([["ok", false], ["error", error]]) };
}

function accepted(more: readonly [string, Json][] = []): Answer {
  return { status: 200, json: new Map<string, Json>([["ok", true], ...more]) };
}

/** Receives deliveries, one after another; whatever it does it does at once. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #seen: SeenDeliveries;

  constructor(options: ReceptionOptions) {
    this.#options = options;
    this.#seen = options.seen ?? new SeenDeliveries();
  }

  /** 200 accepted or known already, 401 not to be believed, 503 no room. Never throws. */
  take(headers: HeaderSource, body: Uint8Array): Answer {
    const { secrets, accept, toleranceS } = this.#options;
    const now = this.#options.now();
    const delivery = secrets.length === 0
      ? { ok: true as const, ...unverified(readHeaders(headers), body) }
      : verifyDelivery({ headers, body, secrets, now, toleranceS });
    if (!delivery.ok) return refusal(401, delivery.reason);
    const repeated = this.#seen.has(delivery.knownAs);
    // Only what is accepted is remembered: what there was no room for must be taken next time.
    if (!repeated && !accept(delivery, body)) return refusal(503, "too much is waiting, try again");
    // A repetition may carry a newer time, and stay fresh longer, than what is remembered.
    this.#seen.add(delivery.knownAs, now.getTime());
    return accepted(repeated ? [["duplicate", true]] : []);
  }
}
