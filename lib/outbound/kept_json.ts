/** A kept delivery as JSON, the same from the command line and over HTTP. */
import { type Json, JsonNumber, type JsonObject, parseJson } from "../events/json.ts";
import type { KeptDelivery } from "./engine.ts";

/**
 * A delivery as it is shown.
 * @param name its target's
 * @param whole with the event that it carries
 */
export function keptJson(delivery: KeptDelivery, name: string, whole = false): JsonObject {
  const { session, dueAt, endedAt, why } = delivery;
  const shown: JsonObject = new Map<string, Json>([
    ["id", delivery.id],
    ["target", name],
    ["event", delivery.event],
    ["state", delivery.state],
    ["attempts", new JsonNumber(String(delivery.attempts))],
    ["occurred_at", delivery.occurredAt],
  ]);
  if (session !== undefined) shown.set("session", session);
  if (dueAt !== undefined) shown.set("due_at", dueAt);
  if (endedAt !== undefined) shown.set("ended_at", endedAt);
  if (why) shown.set("error", why.error);
  if (why?.status !== undefined) shown.set("status", new JsonNumber(String(why.status)));
  if (whole) shown.set("wire", parseJson(delivery.wire));
  return shown;
}
