/** What every family of events shares in reading an answer: the shape of a reading, and its words. */
import { firstChars, isObject, stringAt, writeJson } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Directive } from "../outcome.ts";

/** What one answer says on one event. */
export interface Reading {
  /** What it asks for, in the canonical shape; a block may still lack its message. */
  readonly directive?: Directive;
  /** Meant as a directive but not one that can be followed; a closed gate blocks on these. */
  readonly malformed: readonly string[];
  /** Said beside the directive and without effect, where the author should know. */
  readonly warnings: readonly string[];
  /** The same, but only worth showing in `test` and `doctor`. */
  readonly hints: readonly string[];
  /** Does any of its keys count on this event? */
  readonly counted: boolean;
}

/** How one family of events reads answers. */
export interface Family {
  /** The reading, or undefined for a kind of value this event does not take at all. */
  read(value: Json): Reading | undefined;
  /** What to say instead, for an object none of whose keys counts. */
  advice(value: JsonObject): string;
}

/** A reading with the given parts; the rest empty, and `counted` true. */
export function reading(parts: Partial<Reading>): Reading {
  return { malformed: [], warnings: [], hints: [], counted: true, ...parts };
}

/** A reading of an object none of whose keys counts. */
export const UNCOUNTED: Reading = reading({ counted: false });

/** A directive from its entries; those that are undefined are left out. */
export function directive(entries: readonly (readonly [string, Json | undefined])[]): Directive {
  const made: Directive = new Map();
  for (const [key, value] of entries) if (value !== undefined) made.set(key, value);
  return made;
}

/** The string when it says something, else undefined: blank is nothing. */
export function usable(value: Json | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** The first usable string under these keys. */
export function firstUsable(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = usable(object.get(key));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The verb under `key`, trimmed and lower-cased; undefined when it is no string. */
export function verbAt(object: JsonObject, key: string): string | undefined {
  return stringAt(object, key)?.trim().toLowerCase();
}

/** `object[key]` when that is an object, else an empty one. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object.get(key);
  return isObject(value) ? value : new Map();
}

/** A value from a hook as it is quoted in a message: JSON, cut visibly at 100 characters. */
export function quoted(value: Json | undefined): string {
  // A long string is cut before it is written: it may be megabytes.
  const short = typeof value === "string" ? firstChars(value, 101) : value ?? null;
  const text = writeJson(short);
  const head = firstChars(text, 100);
  return head === text ? text : head + "…";
}

/** `unknown "action" verb "alow" (expected …)`, or that it is no string. */
export function badVerb(key: string, value: Json | undefined, expected: string): string {
  const what = typeof value === "string" ? `unknown "${key}" verb` : `"${key}" is no string:`;
  return `${what} ${quoted(value)} (expected ${expected})`;
}
