/**
 * JSON that keeps what it reads: the digits of a number, the order of keys (integer-like ones
 * too), and keys such as `__proto__` as plain data. `JSON.parse` keeps none of these.
 * Reading accepts what Python's `json.loads` accepts, so `NaN` and `Infinity` too.
 */

/** A number as it was written (`1.0`, `12345678901234567890`, `1e400`): never through a double. */
export class JsonNumber {
  /** @param text a JSON number, or `NaN`, `Infinity`, `-Infinity` */
  constructor(readonly text: string) {}
  /** The nearest double. */
  valueOf(): number {
    return Number(this.text);
  }
}

/** An object whose keys stay in the order they came in. */
export type JsonObject = Map<string, Json>;

/** Any JSON value. */
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

/** What {@link parseJson} throws: `message` says what is wrong, `offset` where (UTF-16 units). */
export class JsonSyntaxError extends Error {
  constructor(message: string, readonly offset: number) {
    super(message);
    this.name = "JsonSyntaxError";
  }
}

/** Deeper nesting than this is refused; Python's own reader stops at about 1000. */
export const MAX_DEPTH = 1000;

/** Is it an object (and not an array, a number or null)? */
export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}

/** The string under `key`, or undefined when it is missing or no string. */
export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object.get(key);
  return typeof value === "string" ? value : undefined;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /null|true|false|NaN|-?Infinity/y;
const SPACE = /[ \t\n\r]*/y;
// deno-lint-ignore no-control-regex -- these are what JSON forbids raw in a string
const CONTROL = /[\u0000-\u001f]/;

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  fail(what: string, at = this.at): never {
    let line = 1, start = 0;
    for (let end; (end = this.text.indexOf("\n", start)) >= 0 && end < at; start = end + 1) line++;
    const column = countChars(this.text, start, at) + 1;
    throw new JsonSyntaxError(`${what} at line ${line} column ${column}`, at);
  }

  space(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
  }

  string(): string {
    const start = this.at;
    let end = start;
    for (;;) {
      end = this.text.indexOf('"', end + 1);
      if (end < 0) this.fail("unterminated string", start);
      let slashes = 0;
      while (this.text.charCodeAt(end - 1 - slashes) === 92) slashes++;
      if (slashes % 2 === 0) break;
    }
    this.at = end + 1;
    const raw = this.text.slice(start + 1, end);
    const control = raw.search(CONTROL);
    if (control >= 0) this.fail("raw control character in a string", start + 1 + control);
    if (!raw.includes("\\")) return raw;
    try {
      return JSON.parse(`"${raw}"`) as string;
    } catch {
      return this.fail("bad escape in a string", start);
    }
  }

  value(depth: number): Json {
    if (depth > MAX_DEPTH) this.fail(`nested deeper than ${MAX_DEPTH}`);
    this.space();
    const c = this.text[this.at];
    if (c === undefined) this.fail("unexpected end");
    if (c === '"') return this.string();
    if (c === "{") return this.object(depth);
    if (c === "[") return this.array(depth);
    WORD.lastIndex = this.at;
    const word = WORD.exec(this.text);
    if (word) {
      this.at = WORD.lastIndex;
      if (word[0] === "null") return null;
      if (word[0] === "true") return true;
      if (word[0] === "false") return false;
      return new JsonNumber(word[0]);
    }
    NUMBER.lastIndex = this.at;
    const number = NUMBER.exec(this.text);
    if (!number) this.fail("unexpected character");
    this.at = NUMBER.lastIndex;
    return new JsonNumber(number[0]);
  }

  array(depth: number): Json[] {
    const list: Json[] = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "]") return this.at++, list;
    for (;;) {
      list.push(this.value(depth + 1));
      this.space();
      const c = this.text[this.at];
      if (c === ",") this.at++;
      else if (c === "]") return this.at++, list;
      else this.fail(c === undefined ? "unexpected end" : "expected ',' or ']'");
    }
  }

  object(depth: number): JsonObject {
    const map: JsonObject = new Map();
    this.at++;
    this.space();
    if (this.text[this.at] === "}") return this.at++, map;
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') {
        this.fail(this.at >= this.text.length ? "unexpected end" : "expected a key in quotes");
      }
      const key = this.string();
      this.space();
      if (this.text[this.at] !== ":") this.fail("expected ':'");
      this.at++;
      map.set(key, this.value(depth + 1));
      this.space();
      const c = this.text[this.at];
      if (c === ",") this.at++;
      else if (c === "}") return this.at++, map;
      else this.fail(c === undefined ? "unexpected end" : "expected ',' or '}'");
    }
  }
}

/**
 * Reads one JSON value. A byte order mark in front is tolerated; of duplicate keys the last wins.
 * @throws JsonSyntaxError on anything else, on text after the value, and past {@link MAX_DEPTH}
 */
export function parseJson(text: string): Json {
  const reader = new Reader(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  const value = reader.value(1);
  reader.space();
  if (reader.at < reader.text.length) reader.fail("unexpected text after the value");
  return value;
}

// Characters that steer a terminal or the order of text, beyond those JSON escapes by itself.
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** How {@link writeJson} writes. */
export interface WriteOptions {
  /** Escape control and bidi characters, for text that may reach a terminal (rule 6.2). Default false. */
  readonly printable?: boolean;
  /** Sort keys, as Python's `sort_keys=True` does (by code point). Default false. */
  readonly sortKeys?: boolean;
  /** Spaces a level, as Python's `indent=`. Default: all on one line. */
  readonly indent?: number;
}

/** Nothing in it needs escaping, whoever reads it. */
const PLAIN = /^[ !#-[\]-~]*$/;

function writeString(text: string, options: WriteOptions): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const quoted = JSON.stringify(text);
  if (!options.printable) return quoted;
  return quoted.replace(STEERING, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** A number JSON can hold is written with its own digits; NaN and the infinities become strings. */
function writeNumber(number: JsonNumber): string {
  return /^-?[0-9]/.test(number.text) ? number.text : JSON.stringify(number.text);
}

function byCodePoint(a: string, b: string): number {
  const x = [...a], y = [...b];
  for (let i = 0; i < x.length && i < y.length; i++) {
    const d = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!;
    if (d) return d;
  }
  return x.length - y.length;
}

function entriesOf(object: JsonObject, { sortKeys }: WriteOptions): [string, Json][] {
  const entries = [...object];
  return sortKeys ? entries.sort(([a], [b]) => byCodePoint(a, b)) : entries;
}

function write(value: Json, options: WriteOptions, level: number): string {
  if (value === null) return "null";
  if (typeof value === "string") return writeString(value, options);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value instanceof JsonNumber) return writeNumber(value);
  const list = Array.isArray(value);
  const items = list
    ? value.map((v) => write(v, options, level + 1))
    : entriesOf(value, options).map(([k, v]) =>
      `${writeString(k, options)}: ${write(v, options, level + 1)}`
    );
  const [open, close] = list ? "[]" : "{}";
  if (items.length === 0) return `${open}${close}`;
  if (options.indent === undefined) return `${open}${items.join(", ")}${close}`;
  const pad = "\n" + " ".repeat(options.indent * (level + 1));
  return `${open}${pad}${items.join("," + pad)}\n${" ".repeat(options.indent * level)}${close}`;
}

/**
 * Writes a value with the separators Python's `json.dumps` uses (`, ` and `: `), non-ASCII as it
 * is, a lone surrogate escaped, NaN and the infinities as strings (rule 3.3).
 */
export function writeJson(value: Json, options: WriteOptions = {}): string {
  return write(value, options, 0);
}

/**
 * Any JavaScript value as {@link Json}: what JSON cannot hold becomes a string and is never
 * dropped (rule 3.3); undefined is null, since it says "nothing" and a string would not. An object
 * of a class gives its `toJSON()`, its text, or its fields. Never throws: a cycle becomes
 * `"[circular]"`, deeper than {@link MAX_DEPTH} `"[too deep]"`, a getter that throws `"[unprintable]"`.
 */
export function fromJs(value: unknown, seen: readonly object[] = []): Json {
  if (value === undefined) return null;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return new JsonNumber(Object.is(value, -0) ? "-0" : String(value));
  if (typeof value === "bigint") return new JsonNumber(value.toString());
  if (value instanceof JsonNumber) return value;
  if (typeof value !== "object") return String(value);
  if (seen.includes(value)) return "[circular]";
  if (seen.length >= MAX_DEPTH) return "[too deep]";
  try {
    return fromObject(value, [...seen, value]);
  } catch {
    return "[unprintable]";
  }
}

function fromObject(value: object, seen: readonly object[]): Json {
  // Array.from, because map() would leave the holes of a sparse array.
  if (Array.isArray(value)) return Array.from(value, (v) => fromJs(v, seen));
  if (value instanceof Map) {
    return new Map([...value].map(([k, v]) => [String(k), fromJs(v, seen)]));
  }
  if (value instanceof Set) return [...value].map((v) => fromJs(v, seen));
  if (value instanceof Date) return isNaN(value.getTime()) ? String(value) : value.toISOString();
  if ("toJSON" in value && typeof value.toJSON === "function") return fromJs(value.toJSON(), seen);
  const text = "toString" in value ? value.toString : Object.prototype.toString;
  if (text !== Object.prototype.toString && typeof text === "function" && !isPlain(value)) {
    return String(value);
  }
  return new Map(Object.entries(value).map(([k, v]) => [k, fromJs(v, seen)]));
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * The value as plain JavaScript: objects without a prototype, integers beyond 2^53 as bigint.
 * For embedding programs and plugins; what goes to a hook is written from {@link Json}.
 */
export function toJs(value: Json): unknown {
  if (value instanceof JsonNumber) {
    const n = Number(value.text);
    return /^-?[0-9]+$/.test(value.text) && !Number.isSafeInteger(n) ? BigInt(value.text) : n;
  }
  if (Array.isArray(value)) return value.map(toJs);
  if (value instanceof Map) {
    const object: Record<string, unknown> = Object.create(null);
    for (const [k, v] of value) object[k] = toJs(v);
    return object;
  }
  return value;
}

function countChars(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return count;
}

/** The first `count` characters, counted in code points (rule 4.12b). */
export function firstChars(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let n = 0; n < count && end < text.length; n++) {
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

const UNPRINTABLE =
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Text from outside made safe to print: control characters and bidi marks become `\xNN` or
 * `\uNNNN` (rule 6.2). With `keepLines`, newline and tab stay.
 */
export function printable(text: string, keepLines = false): string {
  return text.replace(UNPRINTABLE, (c) => {
    if (keepLines && (c === "\n" || c === "\t")) return c;
    const code = c.charCodeAt(0);
    if (c === "\n") return "\\n";
    if (c === "\t") return "\\t";
    if (c === "\r") return "\\r";
    return code < 0x100
      ? "\\x" + code.toString(16).padStart(2, "0")
      : "\\u" + code.toString(16).padStart(4, "0");
  });
}
