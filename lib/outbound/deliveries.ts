/** From an event to its deliveries: who wants it, and what each is sent. No network here. */
import { randomBytes } from "node:crypto";
import { stringAt, writeJson } from "../events/json.ts";
import type { Call, Match } from "../sources/hook.ts";
import type { Delivery } from "./engine.ts";
import { redactWire } from "./redact.ts";
import type { Target } from "./target/shape.ts";

/** Hears of a matcher that could not decide in time. */
export type OnWarning = (target: Target, warning: string) => void;

/**
 * One delivery for each target that wants the call, in the targets' order; the wire text is shared.
 * A promise only when a matcher takes its time.
 */
export function deliveriesFor(
  call: Call,
  targets: Iterable<Target>,
  occurredAt: Date,
  onWarning: OnWarning,
): Delivery[] | Promise<Delivery[]> {
  const wanted: Target[] = [];
  const undecided: Promise<Target | undefined>[] = [];
  const decide = (target: Target, match: Match) => {
    if (match.warning) onWarning(target, match.warning);
    return match.matched ? target : undefined;
  };
  for (const target of targets) {
    const match = target.wants(call);
    if (match instanceof Promise) undecided.push(match.then((m) => decide(target, m)));
    else if (decide(target, match)) wanted.push(target);
  }
  if (undecided.length === 0) return made(call, wanted, occurredAt);
  return Promise.all(undecided).then((late) =>
    made(call, [...wanted, ...late.filter((target) => target !== undefined)], occurredAt)
  );
}

function made(call: Call, targets: readonly Target[], occurredAt: Date): Delivery[] {
  if (targets.length === 0) return [];
  let redacted: string | undefined;
  const at = occurredAt.toISOString();
  const session = stringAt(call.wire, "session_id");
  return targets.map((target) => ({
    id: timeOrderedId(occurredAt),
    target: target.key,
    event: call.event,
    wire: target.options.redact ? redacted ??= redactedText(call) : call.text,
    occurredAt: at,
    attempts: 0,
    ...(session && { session }),
  }));
}

/**
 * 32 hex digits that grow with time, so that an index on them appends: 48 bits of milliseconds, then
 * 80 random ones, which nobody else has, whichever process made theirs in the same millisecond.
 */
export function timeOrderedId(at: Date): string {
  const ms = Math.max(0, Math.trunc(at.getTime())) || 0;
  return ms.toString(16).padStart(12, "0").slice(-12) + randomBytes(10).toString("hex");
}

function redactedText(call: Call): string {
  const wire = redactWire(call.wire);
  return wire === call.wire ? call.text : writeJson(wire);
}

/** Is it a delivery as we make them? For what came from another process or from a file. */
export function isDelivery(value: unknown): value is Delivery {
  if (typeof value !== "object" || value === null) return false;
  const { id, target, event, wire, occurredAt, attempts } = value as Record<string, unknown>;
  const text = (given: unknown, pattern: RegExp) =>
    typeof given === "string" && pattern.test(given);
  return text(id, /^[0-9a-f]{32}$/) && typeof target === "string" &&
    text(event, /^[\x21-\x7e]{1,200}$/) && text(wire, /^\{[\s\S]*\}$/) &&
    text(occurredAt, /^[0-9T:.-]{19,30}Z$/) && Number.isSafeInteger(attempts);
}
