/** The line that is printed for an accepted delivery. */
import { Buffer } from "node:buffer";
import { type Json, writeJson } from "../events/json.ts";
import type { Delivery } from "./delivery.ts";

/**
 * One JSON object on one line, with its line end: `received_at`, `scheme`, `event`, `delivery_id`
 * (each null when not known), `verified`, and `body` with its digits and the order of its keys, or
 * `body_base64` when the body is no JSON.
 */
export function deliveryLine(delivery: Delivery, body: Uint8Array, at: Date): string {
  const { scheme, event, deliveryId, json } = delivery;
  const line = new Map<string, Json>([
    ["received_at", at.toISOString()],
    ["scheme", scheme ?? null],
    ["event", event ?? null],
    ["delivery_id", deliveryId ?? null],
    ["verified", scheme !== undefined],
  ]);
  if (json === undefined) line.set("body_base64", Buffer.from(body).toString("base64"));
  else line.set("body", json);
  return writeJson(line, { printable: true }) + "\n";
}
