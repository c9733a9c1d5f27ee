/** What the catalogue knows of an event: the shape of its rows, and the fields many rows share. */

/** How an event's return values count: see rules 4 and 5. `gateway` events live in HOOK.yaml only. */
export type EventKind = "directive" | "transform" | "observe" | "gateway";

/** The types a field can have; `number` takes integers too. */
export type BaseType =
  | "string"
  | "boolean"
  | "integer"
  | "number"
  | "object"
  | "list"
  | "list of strings"
  | "list of objects"
  | "null"
  | "any";

/** A type, or several joined by `|`: `"string"`, `"string|null"`. */
export type FieldType = BaseType | `${BaseType}|${BaseType}` | `${BaseType}|${BaseType}|null`;

/** One field of an event. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** What it holds, in one line. */
  readonly about: string;
  /** Always there, in every variant that does not say otherwise. */
  readonly required: boolean;
  /** The only strings allowed; absent: any. Null is allowed beside them when the type has it. */
  readonly values?: readonly string[];
}

/** Plain JSON, as samples are written. */
export type Plain =
  | null
  | boolean
  | number
  | string
  | readonly Plain[]
  | { readonly [key: string]: Plain };

/** One of the shapes an event comes in, by surface, kind or event type. */
export interface Variant {
  readonly name: string;
  /** When it is this shape. */
  readonly about: string;
  /** The fields always there in this shape. Absent: the row's required fields. */
  readonly required?: readonly string[];
  /** The fields that may be there besides. Absent: the row's optional fields. */
  readonly optional?: readonly string[];
  /** Sets narrower than the fields' own, by field name: what tells this variant from its siblings. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** The fields inside `payload`, when the variant settles them. */
  readonly payloadFields?: readonly Field[];
  /** Made-up fields of the real shape, bare, as `fire` takes them. */
  readonly sample: { readonly [field: string]: Plain };
}

/** One event: all that anything in the program knows about it. */
export interface EventRow {
  readonly name: string;
  readonly kind: EventKind;
  /** One of the two tool events: matchers are honoured (rule 2.4). */
  readonly tool: boolean;
  /** A hook can stop what the event announces, and so fail closed (rule 2.6). */
  readonly canBlock: boolean;
  /** Shell hooks are refused (rule 2.1). */
  readonly pluginOnly: boolean;
  /** It carries `telemetry_schema_version` (rule 7). */
  readonly telemetry: boolean;
  /** When it fires and what becomes of return values, in a sentence or two. */
  readonly about: string;
  /** What private things its fields may show. */
  readonly privacy: string;
  /** The answers that count, one form an item; empty: none does. */
  readonly answers: readonly string[];
  /** In the order the event carries them; without the telemetry marker. */
  readonly fields: readonly Field[];
  /** Never empty; the first is the usual one. */
  readonly variants: readonly Variant[];
}

/** What an observing row has in common with all others. */
export const OBSERVES = {
  kind: "observe",
  answers: [],
  tool: false,
  canBlock: false,
  pluginOnly: false,
  telemetry: true,
} as const;

/** What an event for HOOK.yaml has in common with all others. */
export const GATEWAY = { ...OBSERVES, kind: "gateway", telemetry: false } as const;
