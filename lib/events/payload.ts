/** The two forms an event's fields travel in: bare, and the wire form that hooks read (rule 3.3). */
import { isObject, JsonNumber, JsonSyntaxError, parseJson, stringAt, writeJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Fields } from "./outcome.ts";

/** The key of the telemetry marker (section 7). */
export const TELEMETRY_KEY = "telemetry_schema_version";
/** Its one value. */
export const TELEMETRY_VALUE = "hermes.observer.v1";

/** What the wire form needs beyond the event's own fields. */
export interface WireOptions {
  /** The folder the hook runs in, already settled (rule 3.2). */
  readonly cwd: string;
  /** The profile's name (rule 1.4). */
  readonly profile: string;
  /** Does the event carry the telemetry marker? Every plugin event but `gateway_platform_event`. */
  readonly telemetry: boolean;
}

/**
 * The object a hook reads on stdin, keys in the order of rule 3.3; print it with `writeJson`.
 * Nothing of `fields` is lost but the keys it consumes, and `fields` is not changed.
 */
export function toWire(event: string, fields: Fields, options: WireOptions): JsonObject {
  const args = fields.get("args");
  return new Map<string, Json>([
    ["hook_event_name", event],
    ["tool_name", toolName(fields) ?? null],
    ["tool_input", isObject(args) ? args : null],
    ["session_id", sessionId(fields)],
    ["cwd", options.cwd],
    ["profile", options.profile],
    ["extra", extraOf(fields, options.telemetry)],
  ]);
}

/** The event's tool, or undefined when it has none or says it with something else than a string. */
export function toolName(fields: Fields): string | undefined {
  const name = fields.get("tool_name");
  return typeof name === "string" ? name : undefined;
}

/** `session_id`, else `parent_session_id`, else `""`: always a string; a number gives its digits. */
export function sessionId(fields: Fields): string {
  return idText(fields.get("session_id")) || idText(fields.get("parent_session_id"));
}

function idText(value: Json | undefined): string {
  return value === undefined || value === null ? "" : asText(value);
}

const CONSUMED: ReadonlySet<string> = new Set(["session_id", "parent_session_id", "cwd"]);

function extraOf(fields: Fields, telemetry: boolean): JsonObject {
  const extra: JsonObject = new Map();
  for (const [key, value] of fields) {
    if (CONSUMED.has(key) || (telemetry && key === TELEMETRY_KEY)) continue;
    if (key === "tool_name") {
      if (value !== null && typeof value !== "string") extra.set(key, value);
    } else if (key === "args") {
      if (value !== null && !isObject(value)) extra.set(key, asText(value));
    } else extra.set(key, value);
  }
  if (telemetry) extra.set(TELEMETRY_KEY, TELEMETRY_VALUE);
  return extra;
}

function asText(value: Json): string {
  return typeof value === "string" ? value : writeJson(value);
}

/** What {@link readFields} gives back. */
export type FieldsRead =
  | {
    readonly ok: true;
    readonly event: string;
    /** In the order they were given. */
    readonly fields: Map<string, Json>;
  }
  | {
    readonly ok: false;
    readonly kind: "not-json" | "not-an-object" | "mismatch" | "no-event";
    /** The exit code of section 11: 1 for what cannot be read, 64 for usage. */
    readonly exit: 1 | 64;
    /** What is wrong; the caller puts in front where the text came from. */
    readonly message: string;
  };

/**
 * Reads an event's fields: bare, or in the wire form, which is known by a string
 * `hook_event_name`, or by a `tool_input` object without `args`. Blank text is no fields.
 * @param eventArgument the event named on the command line; with the wire form it may be left out
 */
export function readFields(text: string, eventArgument?: string): FieldsRead {
  const read = readObject(text);
  if (!(read instanceof Map)) return read;
  const named = stringAt(read, "hook_event_name");
  if (named !== undefined && eventArgument !== undefined && named !== eventArgument) {
    const message = `the payload is a "${named}" event, but "${eventArgument}" was asked for; ` +
      "name the same event, or leave one of the two out";
    return { ok: false, kind: "mismatch", exit: 64, message };
  }
  const event = eventArgument ?? named;
  if (event === undefined) {
    const message = 'no event: name one, or give the payload a "hook_event_name"';
    return { ok: false, kind: "no-event", exit: 64, message };
  }
  const wire = named !== undefined || speaksWire(read);
  return { ok: true, event, fields: wire ? fromWire(read) : read };
}

// With "tool_input" and no "args" it is the wire form without its event's name, as other agents'
// callers send it: read as bare fields, every gate would see no tool input and let the call pass.
function speaksWire(read: JsonObject): boolean {
  return isObject(read.get("tool_input")) && !read.has("args");
}

function readObject(text: string): JsonObject | FieldsRead & { ok: false } {
  if (text.trim() === "") return new Map();
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const message = `not JSON: ${error.message}; expected an object with the event's fields`;
    return { ok: false, kind: "not-json", exit: 1, message };
  }
  if (isObject(value)) return value;
  const kind = Array.isArray(value) ? "an array" : value === null ? "null" : nameOf(value);
  const message = `${kind}, not a JSON object; expected an object with the event's fields`;
  return { ok: false, kind: "not-an-object", exit: 1, message };
}

function nameOf(value: string | boolean | JsonNumber): string {
  return value instanceof JsonNumber ? "a number" : `a ${typeof value}`;
}

/** Wire keys that become fields, under which name; null there means absent. */
const FROM_WIRE: ReadonlyMap<string, string> = new Map([
  ["tool_name", "tool_name"],
  ["tool_input", "args"],
  ["session_id", "session_id"],
  ["cwd", "cwd"],
]);

function fromWire(wire: JsonObject): Map<string, Json> {
  const fields = new Map<string, Json>();
  for (const [key, field] of FROM_WIRE) {
    const value = wire.get(key) ?? null;
    if (value !== null) fields.set(field, value);
  }
  const extra = wire.get("extra") ?? null;
  if (isObject(extra)) addAbsent(fields, extra);
  else if (extra !== null) fields.set("extra", extra);
  addAbsent(fields, [...wire].filter(([key]) => !OF_THE_WIRE.has(key)));
  fields.delete(TELEMETRY_KEY);
  return fields;
}

const OF_THE_WIRE: ReadonlySet<string> = new Set([
  "hook_event_name",
  ...FROM_WIRE.keys(),
  "profile",
  "extra",
]);

function addAbsent(fields: Map<string, Json>, entries: Iterable<[string, Json]>): void {
  for (const [key, value] of entries) if (!fields.has(key)) fields.set(key, value);
}
