/** What things are called in Redis. */
import { createHash } from "node:crypto";

/** In front of every key. The braces put all of them into one slot where slots matter. */
export const PREFIX = "{hermes-hooks}";

/** A hash: a queue's name → the key of the target it belongs to. */
export const TARGETS = `${PREFIX}:targets`;

/** Hashes: a target's key → since when and why nothing is sent to it, as JSON. */
export const DISABLED = `${PREFIX}:disabled`;
/** The same for a pause: until when, and why. */
export const PAUSED = `${PREFIX}:paused`;

/** The BullMQ queue of a target: its key holds characters that no queue's name may. */
export function queueNameOf(target: string): string {
  return createHash("sha256").update(target).digest("hex").slice(0, 24);
}
