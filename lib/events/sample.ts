/** Made-up fields for an event, and what is wrong with real ones. */
import { findEvent } from "./catalog.ts";
import type { EventRow, Field, Variant } from "./catalog.ts";
import { firstChars, fromJs, isObject, JsonNumber, writeJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** What may stand beside the fields of any plugin event: the keys the wire form takes out. */
const ENVELOPE: readonly Field[] = ["session_id", "cwd"].map((name) => ({
  name,
  type: "string|null",
  about: "part of the wire form",
  required: false,
}));

/** The marker of rule 7, tolerated where the event carries it. */
const MARKER: Field = {
  name: "telemetry_schema_version",
  type: "string",
  about: "the schema of all plugin events",
  required: false,
};

/** The variant of that name, or undefined. */
export function variantOf(row: EventRow, name: string): Variant | undefined {
  return row.variants.find((variant) => variant.name === name);
}

/**
 * The made-up fields of an event, in the event's order, fresh on each call.
 * @param event a name or a row; `command:model` gets its own name as `command`
 * @param variant default: the first, which is the usual one
 * @throws RangeError when there is no such event or variant
 */
export function sampleFields(event: string | EventRow, variant?: string): JsonObject {
  const row = typeof event === "string" ? findEvent(event) : event;
  if (!row) throw new RangeError(`unknown event "${event}"`);
  const chosen = variant === undefined ? row.variants[0] : variantOf(row, variant);
  if (!chosen) throw new RangeError(`"${row.name}" has no variant "${variant}"`);
  const fields = fromJs(chosen.sample) as JsonObject;
  if (typeof event === "string" && event !== row.name) nameCommand(fields, event);
  return fields;
}

/** The row `command:<name>` stands for every command, so its sample takes the name asked for. */
function nameCommand(fields: JsonObject, event: string): void {
  const name = event.slice(event.indexOf(":") + 1);
  for (const key of ["command", "raw_command"]) fields.set(key, name);
}

/**
 * What is wrong with an event's fields, one message each, naming the field and what was expected;
 * empty: nothing. Without a variant the fields are held against the one they fit best.
 */
export function validateFields(
  row: EventRow,
  variant: Variant | undefined,
  fields: ReadonlyMap<string, Json>,
): string[] {
  if (variant) return problemsOf(row, variant, fields);
  let best: string[] | undefined;
  for (const each of row.variants) {
    const problems = problemsOf(row, each, fields);
    if (!best || problems.length < best.length) best = problems;
  }
  return best ?? [];
}

function problemsOf(
  row: EventRow,
  variant: Variant,
  fields: ReadonlyMap<string, Json>,
): string[] {
  const known = fieldsOf(row, variant);
  const tolerated = row.kind === "gateway" ? [] : row.telemetry ? [...ENVELOPE, MARKER] : ENVELOPE;
  const problems = compare(known, tolerated, fields, "");
  const payload = fields.get("payload");
  if (variant.payloadFields && isObject(payload)) {
    problems.push(...compare(variant.payloadFields, [], payload, "payload."));
  }
  return problems;
}

/** The fields of one variant, with its own required ones and closed sets; in the row's order. */
export function fieldsOf(row: EventRow, variant: Variant): Field[] {
  const required = new Set(variant.required ?? namesOf(row, true));
  const optional = new Set(variant.optional ?? namesOf(row, false));
  return row.fields
    .filter((field) => required.has(field.name) || optional.has(field.name))
    .map((field) => ({
      ...field,
      required: required.has(field.name),
      values: variant.values?.[field.name] ?? field.values,
    }));
}

function namesOf(row: EventRow, required: boolean): string[] {
  return row.fields.filter((field) => field.required === required).map((field) => field.name);
}

function compare(
  known: readonly Field[],
  tolerated: readonly Field[],
  fields: ReadonlyMap<string, Json>,
  prefix: string,
): string[] {
  const problems: string[] = [];
  for (const field of known) {
    const value = fields.get(field.name);
    const name = `"${prefix}${field.name}"`;
    if (value !== undefined) problems.push(...mismatch(field, value, name));
    else if (field.required) problems.push(`${name} is missing, expected ${expected(field)}`);
  }
  const names = known.map((field) => field.name);
  for (const [key, value] of fields) {
    if (names.includes(key)) continue;
    const field = tolerated.find((each) => each.name === key);
    const name = `"${prefix}${key}"`;
    if (field) problems.push(...mismatch(field, value, name));
    else problems.push(`${name} is unknown, expected one of ${names.map(quoted).join(", ")}`);
  }
  return problems;
}

function mismatch(field: Field, value: Json, name: string): string[] {
  const fits = field.type.split("|").some((type) => isOf(type, value)) &&
    (!field.values || typeof value !== "string" || field.values.includes(value));
  return fits ? [] : [`${name} is ${shown(value)}, expected ${expected(field)}`];
}

/** Whether the value is of one {@link BaseType}. */
function isOf(type: string, value: Json): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return value instanceof JsonNumber && Number.isInteger(value.valueOf());
    case "number":
      return value instanceof JsonNumber;
    case "object":
      return isObject(value);
    case "list":
      return Array.isArray(value);
    case "list of strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "list of objects":
      return Array.isArray(value) && value.every(isObject);
    case "null":
      return value === null;
    default:
      return type === "any";
  }
}

function expected(field: Field): string {
  if (!field.values) return field.type.split("|").join(" or ");
  const values = field.values.map(quoted).join(", ");
  return field.type.split("|").includes("null") ? `${values} or null` : values;
}

function quoted(text: string): string {
  return `"${text}"`;
}

/** Enough of a value to recognise it by, on one line. */
function shown(value: Json): string {
  const text = writeJson(value, { printable: true });
  const start = firstChars(text, 60);
  return start === text ? text : `${start}…`;
}
