/** Scalars as PyYAML's `safe_load` resolves and constructs them: YAML 1.1, not 1.2. */

import type { ScalarNode } from "./node.ts";

/** A scalar's value with the name of its Python type. */
export type ScalarValue = Pick<ScalarNode, "value" | "type">;

const PREFIX = "tag:yaml.org,2002:";

/** The full tag of one of YAML's own types: `str` gives `tag:yaml.org,2002:str`. */
export function yamlTag(name: string): string {
  return PREFIX + name;
}

const BOOL = new Set(
  "yes Yes YES no No NO true True TRUE false False FALSE on On ON off Off OFF".split(" "),
);
const NULL = new Set(["~", "null", "Null", "NULL", ""]);
const INT =
  /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const TIMESTAMP =
  /^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$/;

/** The tag that a plain scalar gets from its spelling alone. */
export function implicitTag(text: string): string {
  return PREFIX + implicitName(text);
}

function implicitName(text: string): string {
  const first = text.charCodeAt(0);
  // Most scalars are words; only these first characters can begin anything but a string.
  if ((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46) {
    if (FLOAT.test(text)) return "float";
    if (INT.test(text)) return "int";
    return TIMESTAMP.test(text) ? "timestamp" : "str";
  }
  if (BOOL.has(text)) return "bool";
  if (NULL.has(text)) return "null";
  if (text === "<<") return "merge";
  return text === "=" ? "value" : "str";
}

/**
 * The value of a scalar under its tag, or undefined when PyYAML could not construct it: a word
 * under `!!int`, a date that no calendar has, a tag it does not know.
 */
export function constructScalar(tag: string, text: string): ScalarValue | undefined {
  return tag.startsWith(PREFIX) ? construct(tag.slice(PREFIX.length), text) : undefined;
}

/** The value of a plain scalar without a tag, or undefined when PyYAML could not construct it. */
export function plainScalar(text: string): ScalarValue | undefined {
  return construct(implicitName(text), text);
}

function construct(name: string, text: string): ScalarValue | undefined {
  switch (name) {
    case "str":
      return { value: text, type: "str" };
    case "null":
      return { value: null, type: "NoneType" };
    case "bool":
      return boolean(text.toLowerCase());
    case "int":
      return typed("int", integer(text));
    case "float":
      return typed("float", float(text));
    case "timestamp":
      return timestamp(text);
    case "binary":
      return isBase64(text) ? { value: text, type: "bytes" } : undefined;
  }
  return undefined;
}

function typed(type: string, value: bigint | number | undefined): ScalarValue | undefined {
  return value === undefined ? undefined : { value, type };
}

function boolean(word: string): ScalarValue | undefined {
  if (word === "yes" || word === "true" || word === "on") return { value: true, type: "bool" };
  if (word === "no" || word === "false" || word === "off") return { value: false, type: "bool" };
  return undefined;
}

/** The sign and the rest, underscores gone: PyYAML takes one sign, Python's `int` another. */
function signed(text: string): { negative: boolean; rest: string } {
  const bare = text.replaceAll("_", "");
  const sign = bare[0];
  return {
    negative: sign === "-",
    rest: sign === "-" || sign === "+" ? bare.slice(1) : bare,
  };
}

function integer(text: string): bigint | undefined {
  const { negative, rest } = signed(text);
  const value = magnitude(rest);
  return value === undefined || !negative ? value : -value;
}

function magnitude(text: string): bigint | undefined {
  if (text === "0") return 0n;
  if (text.startsWith("0b")) return pythonInt(text.slice(2), 2);
  if (text.startsWith("0x")) return pythonInt(text.slice(2), 16);
  if (text[0] === "0") return pythonInt(text, 8);
  if (!text.includes(":")) return pythonInt(text, 10);
  let value = 0n;
  for (const part of text.split(":")) {
    const digits = pythonInt(part, 10);
    if (digits === undefined) return undefined;
    value = value * 60n + digits;
  }
  return value;
}

const INT_FORMS = {
  2: /^\s*([-+]?)(?:0[bB])?([01]+)\s*$/,
  8: /^\s*([-+]?)(?:0[oO])?([0-7]+)\s*$/,
  10: /^\s*([-+]?)()([0-9]+)\s*$/,
  16: /^\s*([-+]?)(?:0[xX])?([0-9a-fA-F]+)\s*$/,
} as const;
const BIGINT_PREFIX = { 2: "0b", 8: "0o", 10: "", 16: "0x" } as const;

/** Python refuses to read a decimal number longer than this. */
const MAX_DECIMAL_DIGITS = 4300;

function pythonInt(text: string, base: 2 | 8 | 10 | 16): bigint | undefined {
  const match = INT_FORMS[base].exec(text);
  if (!match) return undefined;
  const digits = match[3] ?? match[2] ?? "";
  if (base === 10 && digits.length > MAX_DECIMAL_DIGITS) return undefined;
  const value = BigInt(BIGINT_PREFIX[base] + digits);
  return match[1] === "-" ? -value : value;
}

function float(text: string): number | undefined {
  const { negative, rest } = signed(text.toLowerCase());
  const value = rest === ".inf"
    ? Infinity
    : rest === ".nan"
    ? NaN
    : rest.includes(":")
    ? sexagesimal(rest)
    : pythonFloat(rest);
  return value === undefined || !negative ? value : -value;
}

function sexagesimal(text: string): number | undefined {
  let value = 0;
  let base = 1;
  // From the right and with a growing base, as PyYAML does: the rounding shows in the last digit.
  for (const part of text.split(":").reverse()) {
    const digits = pythonFloat(part);
    if (digits === undefined) return undefined;
    value += digits * base;
    base *= 60;
  }
  return value;
}

const FLOAT_FORM =
  /^\s*([-+]?)(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)|(inf|infinity)|nan)\s*$/i;

function pythonFloat(text: string): number | undefined {
  const match = FLOAT_FORM.exec(text);
  if (!match) return undefined;
  const value = match[2] !== undefined ? Number(match[2]) : match[3] ? Infinity : NaN;
  return match[1] === "-" ? -value : value;
}

const TIMESTAMP_PARTS =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+]([0-9]{1,2})(?::([0-9]{2}))?))?)?$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function timestamp(text: string): ScalarValue | undefined {
  const match = TIMESTAMP_PARTS.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zone = 0] =
    match.slice(1).map((part) => Number(part ?? 0));
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = (MONTH_DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
  const exists = year >= 1 && day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60 &&
    zoneHour * 60 + zone < 24 * 60;
  if (!exists) return undefined;
  return { value: text, type: match[4] === undefined ? "date" : "datetime" };
}

/** Would Python's lenient decoder take it? It skips what is no base64 and wants whole groups. */
function isBase64(text: string): boolean {
  // deno-lint-ignore no-control-regex -- PyYAML encodes it as ASCII first
  if (/[^\x00-\x7f]/.test(text)) return false;
  let filled = 0;
  let pads = 0;
  for (const c of text) {
    if (c === "=") {
      if (filled >= 2 && filled + ++pads >= 4) return true;
    } else if (/[A-Za-z0-9+/]/.test(c)) {
      pads = 0;
      filled = (filled + 1) % 4;
    }
  }
  return filled === 0;
}
