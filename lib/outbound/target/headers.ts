/** A target's extra `headers`: checked, and never one that is ours to set. */
import { firstChars, printable } from "../../events/json.ts";
import { type Entry, given } from "./entry.ts";

/** Set by us, or by what carries the request. */
const OURS = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

function isOurs(name: string): boolean {
  const lower = name.toLowerCase();
  return OURS.has(lower) || lower.startsWith("x-hermes-") || lower.startsWith("webhook-");
}

/** Reads `headers`: names to strings or numbers. A bad one is left out with a warning. */
export function readHeaders(entry: Entry): readonly (readonly [string, string])[] {
  const node = given(entry.map, "headers");
  if (node === undefined) return [];
  if (node.kind !== "map") {
    entry.warn("headers", "expected a mapping from name to value; ignored");
    return [];
  }
  const headers: [string, string][] = [];
  for (const [name, { value }] of node.entries) {
    const key = `headers.${printable(firstChars(name, 80))}`;
    const text = value.kind === "scalar" ? headerText(value.value) : undefined;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) entry.warn(key, "no header name; ignored");
    else if (isOurs(name)) entry.warn(key, "set by hermes-hooks itself; ignored");
    else if (text === undefined) {
      entry.warn(key, "expected a string of printable ASCII characters; ignored");
    } else headers.push([name, text]);
  }
  return headers;
}

function headerText(value: unknown): string | undefined {
  const text = typeof value === "string"
    ? value.trim()
    : typeof value === "bigint" || typeof value === "number"
    ? String(value)
    : undefined;
  return text !== undefined && /^[\x20-\x7e\t]+$/.test(text) ? text : undefined;
}
