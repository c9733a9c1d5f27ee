/** Small readers for one entry under `hooks.outbound`: a value in, a value or a problem out. */
import type { NumberBounds } from "../../config/bounds.ts";
import type { ConfigNode, MapNode } from "../../config/node.ts";
import { at } from "../../config/node.ts";
import { unknownKeyText } from "../../config/unknown_key.ts";
import { firstChars, printable } from "../../events/json.ts";

/** One entry being read: where it stands, and where its problems go. */
export interface Entry {
  readonly map: MapNode;
  /** Such as `hooks.outbound[1]`. */
  readonly path: string;
  /** Reports a warning at a key of the entry (empty: the entry itself). */
  readonly warn: (key: string, message: string) => void;
  /** Reports an error, and is what {@link TargetOptions.disabled} says. */
  readonly fail: (key: string, message: string) => void;
}

/** How a value is shown in a message: its text when it is a scalar, else what kind it is. */
export function shown(node: ConfigNode): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "a mapping";
  if (node.value === null) return "nothing";
  if (typeof node.value !== "string") return String(node.value);
  return `"${printable(firstChars(node.value, 80))}"`;
}

/** What kind of value it is, for messages that must not show the value. */
export function kindOf(node: ConfigNode): string {
  if (node.kind !== "scalar") return shown(node);
  if (node.value === null) return "nothing";
  return typeof node.value === "bigint" || typeof node.value === "number"
    ? "a number"
    : typeof node.value === "string"
    ? "an empty string"
    : "a boolean";
}

/** The value under a key, or undefined when it is absent or null. */
export function given(map: ConfigNode | undefined, key: string): ConfigNode | undefined {
  const node = at(map, key);
  return node?.kind === "scalar" && node.value === null ? undefined : node;
}

/** The trimmed text of a string that is not blank. */
export function textOf(node: ConfigNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || typeof node.value !== "string") return undefined;
  return node.value.trim() || undefined;
}

function numberOf(node: ConfigNode): number | undefined {
  if (node.kind !== "scalar") return undefined;
  const { value } = node;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  const text = typeof value === "string" ? value.trim() : "";
  return /^[+-]?[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) : undefined;
}

/** A number under a key, clamped to its bounds with a warning. */
export function numberAt<T extends number | undefined>(
  entry: Entry,
  key: string,
  bounds: NumberBounds<T>,
): number | T {
  const { from, to, fallback, unit, whole } = bounds;
  const node = given(entry.map, key);
  if (node === undefined) return fallback;
  const read = numberOf(node);
  if (read === undefined) {
    const instead = fallback === undefined ? "ignored" : `using ${fallback}`;
    entry.warn(key, `is ${shown(node)}, expected ${unit} from ${from} to ${to}; ${instead}`);
    return fallback;
  }
  const number = whole ? Math.trunc(read) : read;
  const clamped = Math.min(to, Math.max(from, number));
  if (clamped !== number) {
    const side = clamped > number ? "below" : "above";
    entry.warn(key, `is ${shown(node)}, ${side} ${clamped}; using ${clamped}`);
  }
  return clamped;
}

/**
 * One of several words under a key; anything else is a warning and becomes `otherwise`.
 * @param otherwise for a value that is given but is none of them
 */
export function wordAt<T extends string>(
  entry: Entry,
  key: string,
  words: readonly T[],
  fallback: T,
  otherwise: T = fallback,
  map: ConfigNode = entry.map,
): T {
  const node = given(map, key.replace(/^.*\./, ""));
  if (node === undefined) return fallback;
  const found = words.find((word) => word === textOf(node)?.toLowerCase());
  if (found !== undefined) return found;
  const expected = words.map((word) => `"${word}"`).join(" or ");
  entry.warn(key, `is ${shown(node)}, expected ${expected}; taken as "${otherwise}"`);
  return otherwise;
}

/** Warns about keys that nobody reads, with the nearest known one or all of them. */
export function warnUnknown(
  entry: Entry,
  map: MapNode,
  known: readonly string[],
  prefix = "",
): void {
  for (const name of map.entries.keys()) {
    if (known.includes(name)) continue;
    entry.warn(`${prefix}${name}`, unknownKeyText(name, known));
  }
}
