/** What a receiver knows of one delivery, from its headers and its body. */
import { isObject, type Json, parseJson, printable, stringAt } from "../events/json.ts";
import { type HeaderValues, only } from "./headers.ts";

/** Who signs so: we ourselves, GitHub, or a sender of Standard Webhooks. */
export type Scheme = "hermes" | "github" | "standard";

/** One delivery. */
export interface Delivery {
  /** How it was signed; undefined when that was not checked. */
  readonly scheme?: Scheme;
  readonly event?: string;
  readonly deliveryId?: string;
  /** When it was signed; only where the scheme signs a time. */
  readonly timestamp?: Date;
  /** Every name by which a repetition of it would be known again. */
  readonly knownAs: readonly string[];
  /** The body, when it is JSON. */
  readonly json?: Json;
}

/** What our own deliveries say of themselves in the signed body (rule 10.2). */
export interface OwnFields {
  readonly event: string;
  readonly deliveryId: string;
  readonly timestamp: Date;
}

/** The body as JSON; undefined when it is not UTF-8 or not JSON. */
export function bodyJson(body: Uint8Array): Json | undefined {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** The fields of a body that is of our shape; undefined when one is missing or unreadable. */
export function ownFields(json: Json | undefined): OwnFields | undefined {
  if (!isObject(json)) return undefined;
  const event = stringAt(json, "hook_event_name");
  const deliveryId = stringAt(json, "delivery_id");
  const time = stringAt(json, "timestamp") ?? "";
  const timestamp = new Date(INSTANT.test(time) ? time : NaN);
  if (!event || !deliveryId || isNaN(timestamp.getTime())) return undefined;
  return { event, deliveryId, timestamp };
}

/** Names under which a repetition is known; each scheme has its own, so that none can pass for another. */
export function nameOf(scheme: Scheme, id: string): string {
  return `${scheme} ${id}`;
}

/** A short label from a header nobody signed; undefined when it is missing or odd. */
export function label(headers: HeaderValues, name: string): string | undefined {
  const value = only(headers, name);
  return value !== undefined && /^[\w.:-]{1,200}$/.test(value) ? value : undefined;
}

/** The event of a body that follows the custom of Standard Webhooks: its `type`. */
export function typeOf(json: Json | undefined): string | undefined {
  return isObject(json) ? stringAt(json, "type") : undefined;
}

/** A delivery taken at its word, where there is no secret to check it with. */
export function unverified(headers: HeaderValues, body: Uint8Array): Delivery {
  const json = bodyJson(body);
  const own = ownFields(json);
  const [scheme, deliveryId] = own
    ? ["hermes", own.deliveryId] as const
    : label(headers, "webhook-id")
    ? ["standard", label(headers, "webhook-id")] as const
    : label(headers, "X-GitHub-Delivery")
    ? ["github", label(headers, "X-GitHub-Delivery")] as const
    : ["hermes", label(headers, "X-Hermes-Delivery")] as const;
  const event = own?.event ?? label(headers, "X-Hermes-Event") ??
    label(headers, "X-GitHub-Event") ?? typeOf(json);
  return {
    event,
    deliveryId,
    knownAs: deliveryId === undefined ? [] : [nameOf(scheme, deliveryId)],
    json,
  };
}

/** A value from a request, for a message: in quotes, short, nothing in it that steers a terminal. */
export function quoted(text: string): string {
  const shown = printable(text);
  return `"${shown.length > 80 ? shown.slice(0, 80) + "…" : shown}"`;
}
