/** The body of one attempt: the wire form, then what belongs to the delivery (rule 10.2). */
import { Buffer } from "node:buffer";
import type { Delivery } from "./engine.ts";

/** UTC to the second, as the original writes it: receivers parse it with a fixed pattern. */
export function timestampOf(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

/**
 * The exact bytes that are signed and sent.
 * @param attempt 1 for the first
 * @param at when this attempt is made
 */
export function bodyOf(delivery: Delivery, attempt: number, at: Date): Uint8Array {
  // The wire is an object that we wrote ourselves, so its last character closes it.
  const open = delivery.wire.slice(0, -1);
  const comma = open === "{" ? "" : ", ";
  return Buffer.from(
    `${open}${comma}"delivery_id": "${delivery.id}", "timestamp": "${timestampOf(at)}", ` +
      `"occurred_at": "${delivery.occurredAt}", "attempt": ${attempt}}`,
    "utf8",
  );
}
