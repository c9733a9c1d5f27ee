/** The payload of an event as a JSON Schema (draft 7), made from its row of the catalogue. */
import { type EventRow, type Field, findEvent, type Variant } from "./catalog.ts";
import { TELEMETRY_KEY, TELEMETRY_VALUE } from "./payload.ts";
import { fieldsOf } from "./sample.ts";

type Schema = { readonly [keyword: string]: unknown };

const TYPES: Readonly<Record<string, Schema>> = {
  "list": { type: "array" },
  "list of strings": { type: "array", items: { type: "string" } },
  "list of objects": { type: "array", items: { type: "object" } },
  "any": {},
};

function typeSchema(type: string): Schema {
  return TYPES[type] ?? { type };
}

function fieldSchema({ type, about, values }: Field): Schema {
  const types = type.split("|");
  const nullable = types.includes("null");
  if (values) return { description: about, enum: nullable ? [...values, null] : values };
  const [only, ...more] = types.map(typeSchema);
  if (more.length === 0) return { description: about, ...only };
  const plain = types.every((each) => TYPES[each] === undefined);
  return { description: about, ...(plain ? { type: types } : { anyOf: [only, ...more] }) };
}

function objectSchema(fields: readonly Field[], extra: Readonly<Record<string, Schema>> = {}) {
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
      ...extra,
    },
    required: [
      ...fields.filter(({ required }) => required).map(({ name }) => name),
      ...Object.keys(extra),
    ],
  };
}

/** What stands beside `extra` in the wire form (rule 3.3), and so not in it. */
const CONSUMED = ["tool_name", "args", "session_id", "parent_session_id", "cwd"];

function fieldsOfVariant(row: EventRow, variant: Variant): Schema {
  const fields = fieldsOf(row, variant);
  const wire = row.kind !== "gateway";
  const own = wire ? fields.filter(({ name }) => !CONSUMED.includes(name)) : fields;
  const schema = objectSchema(own, row.telemetry ? { [TELEMETRY_KEY]: TELEMETRY } : {});
  if (!variant.payloadFields) return schema;
  const payload = objectSchema(variant.payloadFields);
  return { ...schema, properties: { ...schema.properties, payload } };
}

const TELEMETRY = { const: TELEMETRY_VALUE };

/** One shape, or any of several, each with its name as title. */
function shapes(row: EventRow): Schema {
  const [only, ...more] = row.variants;
  if (more.length === 0) return fieldsOfVariant(row, only!);
  const all = row.variants.map((variant) => {
    const title = `${variant.name}: ${variant.about}`;
    return { title, ...fieldsOfVariant(row, variant) };
  });
  return { anyOf: all };
}

/** What of `field` a hook reads at the top of the wire form; null for an event without it. */
function envelope(row: EventRow, field: string): Schema {
  const own = row.fields.find(({ name }) => name === field);
  return own ? fieldSchema(own) : { type: "null" };
}

/**
 * The schema of what a hook reads on stdin for an event (rule 3.3); of a gateway event, what a
 * handler gets as its context (rule 9.3). Keys that are not named may stand beside the named ones.
 * @returns undefined when there is no such event
 */
export function payloadSchema(event: string): Schema | undefined {
  const row = findEvent(event);
  if (!row) return undefined;
  const head = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: row.name,
    description: row.about,
  };
  if (row.kind === "gateway") return { ...head, ...shapes(row) };
  const properties = {
    hook_event_name: { const: row.name },
    tool_name: envelope(row, "tool_name"),
    tool_input: envelope(row, "args"),
    session_id: { type: "string" },
    cwd: { type: "string", description: "the folder the hook runs in, absolute" },
    profile: { type: "string", description: "the name of the home's profile" },
    extra: shapes(row),
  };
  return { ...head, type: "object", properties, required: Object.keys(properties) };
}
