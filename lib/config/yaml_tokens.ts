/** What PyYAML's scanner refuses and the `yaml` parser takes, checked on the parser's tokens. */

import type { CST } from "yaml";
import { MAX_DEPTH } from "./yaml_error.ts";

/** How far a key may reach before its ":"; PyYAML stops looking there. */
const MAX_KEY_LENGTH = 1024;

type Token = CST.Token;
type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;

/** One entry of a collection; what is absent has no place in that kind of collection. */
interface Item {
  readonly start: readonly CST.SourceToken[];
  readonly key?: Token | null;
  readonly sep?: readonly CST.SourceToken[];
  readonly value?: Token;
}

/** Something PyYAML would not scan, at an offset in UTF-16 units. */
export interface Fault {
  readonly message: string;
  readonly offset: number;
}

/** What {@link checkTokens} found. */
export interface Checked {
  /** The first fault; undefined: none. */
  readonly fault?: Fault | undefined;
  /**
   * Where the first bracket or quote begins that the parser left open, which it does also when a
   * continuation line is less indented than it wants; undefined: none.
   */
  readonly open?: number | undefined;
}

type Found = Fault | undefined;

/** Checks a whole file's tokens. */
export function checkTokens(tokens: readonly Token[], text: string): Checked {
  const checker = new Checker(text);
  checker.all(tokens, false, 0);
  return checker;
}

class Checker implements Checked {
  open: number | undefined;
  fault: Found;
  /** Few files have any of the characters that are refused in some places only. */
  readonly #odd: boolean;
  /** The 0-based column of the innermost block collection; -1 outside of all. */
  #column = -1;

  constructor(readonly text: string) {
    this.#odd = ODD.test(text);
  }

  all(tokens: readonly Token[] | undefined, flow: boolean, depth: number): void {
    if (tokens) { for (const token of tokens) this.one(token, flow, depth); }
  }

  one(token: Token | null | undefined, flow: boolean, depth: number): void {
    if (!token) return;
    if (depth > MAX_DEPTH) {
      this.fault ??= { message: `nested deeper than ${MAX_DEPTH} levels`, offset: token.offset };
      return;
    }
    if (this.open === undefined && isOpen(token)) this.open = token.offset;
    this.fault ??= checkToken(token, flow, this.text) ??
      (this.#odd ? checkOddities(token) : undefined) ??
      (flow ? undefined : checkContinuation(token, this.#column));
    if ("items" in token) return this.#collection(token, flow, depth);
    if (token.type === "document") {
      this.all(token.start, flow, depth);
      this.one(token.value, flow, depth);
    } else if (token.type === "block-scalar") this.all(token.props, flow, depth);
    if ("end" in token) this.all(token.end, flow, depth);
  }

  #collection(token: Collection, flow: boolean, depth: number): void {
    const inside = flow || token.type === "flow-collection";
    const outer = this.#column;
    if (!inside) this.#column = columnOf(this.text, firstOffset(token)) - 1;
    for (const item of token.items as Item[]) {
      this.fault ??= checkItem(item, token.type, this.text);
      this.all(item.start, inside, depth + 1);
      this.one(item.key, inside, depth + 1);
      this.all(item.sep, inside, depth + 1);
      this.one(item.value, inside, depth + 1);
    }
    this.#column = outer;
    if (token.type === "flow-collection") this.all(token.end, inside, depth + 1);
  }
}

function isOpen(token: Token): boolean {
  switch (token.type) {
    case "flow-collection": {
      const close = token.start.source === "{" ? "}" : "]";
      return !token.end.some(({ source }) => source === close);
    }
    case "single-quoted-scalar":
      return token.source.length < 2 || token.source.split("'").length % 2 === 0;
    case "double-quoted-scalar":
      return token.source.length < 2 || !/(?<!\\)(?:\\\\)*"$/.test(token.source);
  }
  return false;
}

function checkToken(token: Token, flow: boolean, text: string): Found {
  if (!("source" in token)) return undefined;
  const { source, type } = token;
  switch (type) {
    case "scalar":
      return flow ? checkFlowPlain(token) : undefined;
    case "anchor":
    case "alias":
      return checkAnchor(token, text);
    case "double-quoted-scalar":
      // PyYAML keeps such a line as a line break, the parser makes it a space.
      return refuse(token, /\\\n *\n/, 'a blank line behind a "\\" at the end of a line');
    case "tag":
      return checkTag(token, text);
    case "block-scalar-header":
      return refuse(
        token,
        /^(?![|>](?:[-+]?[1-9]?|[1-9][-+])$)/,
        `"${source}" is no head of a block scalar`,
      );
    case "block-scalar":
      return checkBlockScalar(token, text);
    case "directive":
      return refuse(token, /^%(?![\w-]+(?: |$))/, "expected a directive's name") ??
        refuse(token, /^%YAML(?! +1\.[0-9]+ *(?:#.*)?$)/, 'expected "%YAML 1.1"');
  }
  return undefined;
}

function checkAnchor(token: Sourced, text: string): Found {
  const { source, offset } = token;
  const next = text[offset + source.length] ?? "\n";
  const message = `"${source}" is no name of an anchor and a space, put a plain value in quotes`;
  if (!/[ \n,\]}]/.test(next)) return { message, offset };
  return refuse(token, /^(?![&*][A-Za-z0-9_-]+$)/, message);
}

function checkTag(token: Sourced, text: string): Found {
  const next = text[token.offset + token.source.length] ?? "\n";
  const message = `"${token.source}" is no tag: a tag ends with a space`;
  if (next !== " " && next !== "\n") return { message, offset: token.offset };
  return refuse(token, /^(?!!(?:[\w;/?:@&=+$,.!~*'()[\]%-]*|<[^>]*>)$)/, message);
}

function checkBlockScalar(token: CST.BlockScalar, text: string): Found {
  const { props, source, offset } = token;
  const head = props.findIndex(({ type }) => type === "block-scalar-header");
  const [next, ...rest] = props.slice(head + 1);
  if (next?.type === "comment") {
    return { message: 'expected a space before "#"', offset: next.offset };
  }
  const stray = [next, ...rest].find((prop) =>
    prop && prop.type !== "space" && prop.type !== "comment" && prop.type !== "newline"
  );
  if (stray) {
    return { message: "expected nothing but a comment behind this", offset: stray.offset };
  }
  const start = text.indexOf("\n", offset) + 1;
  const isCut = source !== "" && !source.endsWith("\n") && start + source.length < text.length;
  if (isCut) return { message: "a tab outside of quotes, use spaces", offset: start };
  return refuse(token, /^[^ \n]/m, "the lines of a block scalar must be indented");
}

/** A plain scalar ends at a line that is not indented below its collection. */
function checkContinuation(token: Token, column: number): Found {
  if (token.type !== "scalar" || !token.source.includes("\n")) return undefined;
  const [, ...lines] = token.source.split("\n");
  const isPart = (line: string) => line.trim() === "" || line.search(/[^ ]/) > column;
  if (lines.every(isPart)) return undefined;
  return { message: "the lines below this value are not indented enough", offset: token.offset };
}

/** In flow style PyYAML ends a plain scalar at "?", and takes a leading ":" for an indicator. */
function checkFlowPlain(token: Sourced): Found {
  return refuse(token, /^:/, 'a value that starts with ":", put it in quotes') ??
    refuse(token, /\?/, '"?" inside brackets, put the value in quotes');
}

// PyYAML skips no tab between tokens, and reads U+2028 and U+2029 as line breaks, which the parser
// does not: refused where it matters.
const ODD = /[\t\u2028\u2029]/;
const SEPARATOR = /[\u2028\u2029]/;
const LOOSE_SEPARATOR = /[ \t\n\\\u2028\u2029][\u2028\u2029]|[\u2028\u2029][ \t\n]/;

function checkOddities(token: Token): Found {
  if (!("source" in token)) return undefined;
  const { type } = token;
  const quoted = type === "single-quoted-scalar" || type === "double-quoted-scalar";
  const separator = refuse(
    token,
    quoted ? LOOSE_SEPARATOR : SEPARATOR,
    "a line separator character, write it as an escape in double quotes",
  );
  if (separator || quoted || type === "comment" || type === "block-scalar") return separator;
  return refuse(token, /\t/, "a tab outside of quotes, use spaces");
}

interface Sourced {
  readonly source: string;
  readonly offset: number;
}

function refuse({ source, offset }: Sourced, what: RegExp, message: string): Found {
  const at = source.search(what);
  return at < 0 ? undefined : { message, offset: offset + at };
}

/** Keys that the parser takes and PyYAML does not, and values that the parser would drop. */
function checkItem({ start, key, sep, value }: Item, type: Token["type"], text: string): Found {
  const colon = sep?.find((token) => token.type === "map-value-ind");
  if (!colon) {
    if (!sep || type !== "block-map") return undefined;
    const dropped = sep.find((token) => token.type === "anchor" || token.type === "tag") ?? value;
    return dropped ? { message: 'expected ":" or a new key', offset: dropped.offset } : undefined;
  }
  const { offset } = colon;
  const question = start.find((token) => token.type === "explicit-key-ind");
  if (question) {
    const aligned = type !== "block-map" ||
      columnOf(text, question.offset) === columnOf(text, offset);
    return aligned ? undefined : { message: '":" must stand right below its "?"', offset };
  }
  const first = start.find((token) => token.type === "anchor" || token.type === "tag") ?? key;
  if (!first) return { message: '":" without a key before it', offset };
  if (text.slice(first.offset, offset).includes("\n")) {
    return { message: 'a key and its ":" must stand on one line, check the indentation', offset };
  }
  return offset - first.offset > MAX_KEY_LENGTH
    ? { message: `a key longer than ${MAX_KEY_LENGTH} characters`, offset: first.offset }
    : undefined;
}

/** Where a collection begins; the parser's offset leaves out an anchor or tag of its first key. */
function firstOffset(token: Collection): number {
  const [first] = token.items as Item[];
  const property = first?.start.find(({ type }) => type === "anchor" || type === "tag");
  return Math.min(property?.offset ?? token.offset, token.offset);
}

function columnOf(text: string, offset: number): number {
  return offset - text.lastIndexOf("\n", offset - 1);
}
