/** Quoted scalars that end on the line they begin on. */

import { notSimple } from "./yaml_simple_text.ts";

/** What the quotes hold, and the offset behind the closing one. */
export interface Quoted {
  readonly value: string;
  readonly end: number;
}

/** Reads the single-quoted scalar that begins at `at`. */
export function readSingleQuoted(line: string, at: number): Quoted {
  let value = "";
  for (let from = at + 1;;) {
    const close = line.indexOf("'", from);
    if (close < 0) notSimple();
    value += line.slice(from, close);
    if (line[close + 1] !== "'") return { value, end: close + 1 };
    value += "'";
    from = close + 2;
  }
}

/** Reads the double-quoted scalar that begins at `at`. */
export function readDoubleQuoted(line: string, at: number): Quoted {
  let value = "";
  for (let from = at + 1;;) {
    const close = line.indexOf('"', from);
    if (close < 0) notSimple();
    const escape = line.indexOf("\\", from);
    if (escape < 0 || escape > close) {
      return { value: value + line.slice(from, close), end: close + 1 };
    }
    const meant = readEscape(line, escape + 1);
    value += line.slice(from, escape) + meant.value;
    from = meant.end;
  }
}

/** The escapes that JSON has too, and those of the terminal; the rest are rare. */
const ESCAPES = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["0", "\0"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["e", "\x1b"],
]);

/** Reads the escape whose letter stands at `at`. */
function readEscape(line: string, at: number): Quoted {
  const letter = line[at] ?? "";
  const meant = ESCAPES.get(letter);
  if (meant !== undefined) return { value: meant, end: at + 1 };
  const length = letter === "x" ? 2 : letter === "u" ? 4 : notSimple();
  const digits = line.slice(at + 1, at + 1 + length);
  if (digits.length < length || /[^0-9a-fA-F]/.test(digits)) notSimple();
  const code = parseInt(digits, 16);
  // Two surrogates make one character here and two in Python.
  if (code >= 0xd800 && code <= 0xdfff) notSimple();
  return { value: String.fromCharCode(code), end: at + 1 + length };
}
