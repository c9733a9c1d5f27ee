/**
 * PyYAML does not care how far the lines inside brackets and quotes are indented; the `yaml` parser
 * does. Such lines are given the indentation it wants, which changes no value.
 */

import type { Shifts } from "./yaml_error.ts";

/**
 * The text with the continuation lines of the bracket or quote that opens at `start` indented,
 * and noted in `shifts`; undefined when it is never closed, has no such lines, or has a document marker inside: all true errors.
 */
export function indentRegion(text: string, start: number, shifts: Shifts): string | undefined {
  const end = text[start] === "[" || text[start] === "{"
    ? bracketsEnd(text, start)
    : quoteEnd(text, start);
  if (end === undefined) return undefined;
  const region = text.slice(start, end);
  if (!region.includes("\n") || /\n(?:---|\.\.\.)(?:[ \t\n]|$)/.test(region)) return undefined;
  const column = start - (text.lastIndexOf("\n", start) + 1) + 1;
  const firstLine = text.slice(0, start).split("\n").length;
  const lines = region.split("\n");
  for (let i = 1; i < lines.length; i++) {
    const line = firstLine + i;
    shifts.set(line, (shifts.get(line) ?? 0) + column);
  }
  const indented = lines.join("\n" + " ".repeat(column));
  return text.slice(0, start) + indented + text.slice(end);
}

const DOUBLE = /"(?:[^"\\]|\\[^])*"/y;
const SINGLE = /'(?:[^']|'')*'/y;

function quoteEnd(text: string, start: number): number | undefined {
  return matchEnd(text[start] === "'" ? SINGLE : DOUBLE, text, start);
}

function matchEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const GAP = /[\s,:]+/y;
const COMMENT = /#[^\n]*/y;
const PROPERTY = /[&*!][^\s,[\]{}]*/y;
/** Up to what ends it in flow style: an indicator, ": ", or " #". */
const PLAIN = /(?:[^\s,[\]{}:#]|:(?![\s,[\]{}])|(?<!\s)#|\s+(?![\s,[\]{}#:]))+/y;

function bracketsEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length;) {
    const c = text[at];
    if (c === "[" || c === "{") depth++;
    if (c === "]" || c === "}") {
      depth--;
      if (depth === 0) return at + 1;
    }
    if (c === '"' || c === "'") {
      const end = quoteEnd(text, at);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    at = matchEnd(GAP, text, at) ?? matchEnd(COMMENT, text, at) ?? matchEnd(PROPERTY, text, at) ??
      matchEnd(PLAIN, text, at) ?? at + 1;
  }
  return undefined;
}
