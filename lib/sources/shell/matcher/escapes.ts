/** What a backslash means, outside and inside a set. */
import { PatternError, type Scanner } from "./scanner.ts";
import type { Category, Place } from "./syntax.ts";

/** The meaning of one escape. */
export type Escape =
  | { readonly kind: "char"; readonly char: number }
  | { readonly kind: "category"; readonly category: Category; readonly negated: boolean }
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "group"; readonly group: number };

const octal = "01234567";
const digits = "0123456789";
const hex = "0123456789abcdefABCDEF";

/** Reads the escape that `token` begins, outside a set. Throws PatternError. */
export function readEscape(scanner: Scanner, token: string): Escape {
  return placeEscape(token) ?? categoryEscape(token) ?? controlEscape(token) ??
    longEscape(scanner, token) ?? numberEscape(scanner, token) ?? plainEscape(token);
}

/** Reads the escape that `token` begins, inside a set, where `\b` is a backspace. */
export function readSetEscape(scanner: Scanner, token: string): Escape {
  return categoryEscape(token) ?? controlEscape(token) ?? longEscape(scanner, token) ??
    octalEscape(scanner, token) ?? plainEscape(token);
}

function placeEscape(token: string): Escape | undefined {
  switch (token) {
    case "\\A":
      return { kind: "place", place: "textStart" };
    case "\\Z":
      return { kind: "place", place: "textEnd" };
    case "\\b":
      return { kind: "place", place: "boundary" };
    case "\\B":
      return { kind: "place", place: "inside" };
  }
}

function categoryEscape(token: string): Escape | undefined {
  switch (token) {
    case "\\d":
    case "\\D":
      return { kind: "category", category: "digit", negated: token === "\\D" };
    case "\\s":
    case "\\S":
      return { kind: "category", category: "space", negated: token === "\\S" };
    case "\\w":
    case "\\W":
      return { kind: "category", category: "word", negated: token === "\\W" };
  }
}

function controlEscape(token: string): Escape | undefined {
  const at = "abfnrtv\\".indexOf(token.slice(1));
  const char = [7, 8, 12, 10, 13, 9, 11, 92][at];
  return char === undefined ? undefined : { kind: "char", char };
}

function longEscape(scanner: Scanner, token: string): Escape | undefined {
  if (token === "\\N") throw new PatternError("character names (\\N{…}) are not supported");
  const length = token === "\\x" ? 2 : token === "\\u" ? 4 : token === "\\U" ? 8 : 0;
  if (!length) return undefined;
  const taken = scanner.takeWhile(length, hex);
  if (taken.length !== length) throw new PatternError(`incomplete escape ${token}${taken}`);
  const char = parseInt(taken, 16);
  if (char > 0x10ffff) throw new PatternError(`bad escape ${token}${taken}`);
  return { kind: "char", char };
}

function octalEscape(scanner: Scanner, token: string): Escape | undefined {
  if (!octal.includes(token.slice(1))) return undefined;
  return octalChar(token.slice(1) + scanner.takeWhile(2, octal));
}

function octalChar(text: string): Escape {
  const char = parseInt(text, 8);
  if (char <= 0o377) return { kind: "char", char };
  throw new PatternError(`octal escape value \\${text} outside of range 0-0o377`);
}

/** `\0` and three octal digits are a character, one or two digits a group. */
function numberEscape(scanner: Scanner, token: string): Escape | undefined {
  const first = token.slice(1);
  if (!digits.includes(first)) return undefined;
  if (first === "0") return octalChar(first + scanner.takeWhile(2, octal));
  const second = scanner.takeWhile(1, digits);
  if (second && octal.includes(first) && octal.includes(second)) {
    const third = scanner.takeWhile(1, octal);
    if (third) return octalChar(first + second + third);
  }
  return { kind: "group", group: Number(first + second) };
}

function plainEscape(token: string): Escape {
  if (/^\\[A-Za-z0-9]$/.test(token)) throw new PatternError(`bad escape ${token}`);
  return { kind: "char", char: token.codePointAt(1) as number };
}
