/**
 * Our schemas as JSON Schema for editors. Draft 7: it is what the YAML language server behind VS
 * Code, Neovim and others understands in full; of 2020-12 it knows parts.
 */
import { z } from "zod";

/** A JSON Schema, as plain data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  /** Ours: the rules of docs/behaviour.md, such as `2.5, 3.7`. */
  readonly rule?: string;
  /** Ours: the type in words, where it is long. */
  readonly doc?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/**
 * The JSON Schema (draft 7) of one of our schemas, each key with its description, default and
 * bounds, and under `rule` the rules of docs/behaviour.md.
 */
export function describedSchema(schema: z.ZodType): JsonSchema {
  const made = z.toJSONSchema(schema, { target: "draft-7", io: "input", unrepresentable: "any" });
  return tidy(made as JsonSchema) as JsonSchema;
}

/**
 * {@link describedSchema} without what only the docs read, for an editor.
 * @param expands whether `${NAME}` is replaced in the file before it is read (rule 1.2b)
 */
export function editorSchema(schema: z.ZodType, expands: boolean): JsonSchema {
  return mapSchema(describedSchema(schema), ({ rule: _, doc: __, ...rest }) => {
    const { pattern } = rest;
    return expands && typeof pattern === "string"
      ? { ...rest, pattern: `\\$\\{|${pattern}` }
      : rest;
  }) as JsonSchema;
}

/** What says nothing is left out, and "or nothing" is one more type, not one more schema. */
function tidy(schema: unknown): unknown {
  return mapSchema(schema, (node) => {
    const { anyOf, ...outer } = bounded(node);
    if (!anyOf) return outer;
    if (anyOf.length !== 2 || anyOf[1]!.type !== "null") return { ...outer, anyOf };
    const { type, enum: words, const: word, ...inner } = anyOf[0]!;
    if (inner.anyOf) return { ...inner, ...outer, anyOf: [...inner.anyOf, { type: "null" }] };
    if (type === undefined) return { ...outer, anyOf };
    const all = words ?? (word === undefined ? undefined : [word]);
    const values = all && { enum: [...all, null] };
    return { ...inner, ...outer, type: [type, "null"].flat(), ...values };
  });
}

/** Every whole number has the bounds of a double's digits: no news to a reader. */
function bounded(node: JsonSchema): JsonSchema {
  const { maximum, ...rest } = node;
  return maximum === Number.MAX_SAFE_INTEGER ? rest : node;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords whose keys are names of properties, not keywords. */
const NAMED = ["properties", "definitions"];
/** Keywords whose values are data. */
const DATA = ["default", "examples", "enum", "const"];

/** Applies `change` to every schema in `schema`, the innermost first. */
function mapSchema(schema: unknown, change: (node: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(schema)) return schema.map((item) => mapSchema(item, change));
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (DATA.includes(keyword)) return [keyword, value];
    if (!NAMED.includes(keyword) || !isRecord(value)) return [keyword, mapSchema(value, change)];
    const named = Object.entries(value).map(([name, each]) => [name, mapSchema(each, change)]);
    return [keyword, Object.fromEntries(named)];
  });
  return change(Object.fromEntries(entries));
}
