/** Values that stand on one line: plain and quoted scalars, and what brackets hold. */

import type { ConfigNode, ListNode, MapNode, ScalarNode } from "./node.ts";
import { Entries, type Trail } from "./yaml_map.ts";
import { plainScalar } from "./yaml_scalar.ts";
import { readDoubleQuoted, readSingleQuoted } from "./yaml_simple_quoted.ts";
import { isGap, isLineEnd, notSimple, skipSpaces } from "./yaml_simple_text.ts";

/** PyYAML looks no further than 1024 characters for a key's colon. */
const MAX_SIMPLE_KEY = 1000;
/** Brackets nested deeper are left to the exact reader, which knows how much is too much. */
const MAX_SIMPLE_BRACKETS = 20;

/** A plain scalar begins with none of these, or only where nobody needs it. */
const NO_PLAIN_START = "?:,[]{}#&*!|>'\"%@`";
/** What may follow a colon or a leading dash in brackets; all else there has its traps. */
const SAFE_IN_BRACKETS = /[A-Za-z0-9_./~\\-]/;

/** Reads the values of one line after the other. */
export class LineReader {
  readonly #trail: Trail;
  readonly #wide: boolean;
  #text = "";
  #number = 0;
  #end = 0;
  #brackets = 0;

  /** @param wide are there characters beyond U+FFFF, which count as one column? */
  constructor(trail: Trail, wide: boolean) {
    this.#trail = trail;
    this.#wide = wide;
  }

  /** Takes up another line, by its 1-based number. */
  set(text: string, number: number): void {
    this.#text = text;
    this.#number = number;
  }

  /** The line. */
  get text(): string {
    return this.#text;
  }

  /** The line's 1-based number. */
  get number(): number {
    return this.#number;
  }

  /** The 1-based column of an offset, in code points. */
  column(at: number): number {
    return 1 + (this.#wide ? [...this.#text.slice(0, at)].length : at);
  }

  /** The value at `at`; {@link colon} and {@link finish} go on behind it. */
  value(at: number): ConfigNode {
    const first = this.#text[at];
    if (first !== "[" && first !== "{") return this.#scalar(at, false);
    this.#brackets = 0;
    return this.#bracketed(at);
  }

  /** The offset of the colon that makes the value read last, from `start` on, a key, if it does. */
  colon(start: number): number | undefined {
    const at = skipSpaces(this.#text, this.#end);
    if (this.#text[at] !== ":" || !isGap(this.#text, at + 1)) return undefined;
    return at - start > MAX_SIMPLE_KEY ? notSimple() : at;
  }

  /** Makes sure that nothing but a comment stands behind the value read last. */
  finish(): void {
    if (!isLineEnd(this.#text, this.#end)) notSimple();
  }

  #scalar(at: number, inBrackets: boolean): ScalarNode {
    const first = this.#text[at];
    if (first === '"' || first === "'") {
      const read = first === '"' ? readDoubleQuoted : readSingleQuoted;
      const { value, end } = read(this.#text, at);
      this.#end = end;
      return { kind: "scalar", line: this.#number, column: this.column(at), value, type: "str" };
    }
    this.#end = inBrackets ? this.#plainEndInBrackets(at) : this.#plainEnd(at);
    const made = plainScalar(this.#text.slice(at, this.#end));
    if (!made) notSimple();
    const { value, type } = made;
    return { kind: "scalar", line: this.#number, column: this.column(at), value, type };
  }

  #plainStart(at: number): string {
    const first = this.#text[at] ?? notSimple();
    if (NO_PLAIN_START.includes(first)) notSimple();
    if (first === "-" && isGap(this.#text, at + 1)) notSimple();
    return first;
  }

  /** Up to ": ", " #" or the line's end, and the spaces before it. */
  #plainEnd(at: number): number {
    this.#plainStart(at);
    const text = this.#text;
    // What the engine searches costs a cold start less than a loop of ours.
    let end = text.endsWith(":") ? text.length - 1 : text.length;
    const colon = text.indexOf(": ", at);
    if (colon >= 0 && colon < end) end = colon;
    const comment = text.indexOf(" #", at);
    if (comment >= 0 && comment < end) end = comment;
    while (text[end - 1] === " ") end--;
    const tab = text.indexOf("\t", at);
    return tab >= 0 && tab < end ? notSimple() : end;
  }

  #plainEndInBrackets(at: number): number {
    const text = this.#text;
    if (this.#plainStart(at) === "-" && !SAFE_IN_BRACKETS.test(text[at + 1] ?? "")) notSimple();
    let end = at;
    for (let i = at; i < text.length; i++) {
      const c = text[i] ?? "";
      if (c === " ") continue;
      if (",]}".includes(c)) break;
      if ("[{?#\t".includes(c)) notSimple();
      if (c === ":") {
        if (isGap(text, i + 1)) break;
        if (!SAFE_IN_BRACKETS.test(text[i + 1] ?? "")) notSimple();
      }
      end = i + 1;
    }
    return end;
  }

  #bracketed(at: number): ListNode | MapNode {
    if (++this.#brackets > MAX_SIMPLE_BRACKETS) notSimple();
    const node = this.#text[at] === "[" ? this.#list(at) : this.#map(at);
    this.#brackets--;
    return node;
  }

  #inBrackets(at: number): ConfigNode {
    const first = this.#text[at];
    return first === "[" || first === "{" ? this.#bracketed(at) : this.#scalar(at, true);
  }

  #list(start: number): ListNode {
    const items: ConfigNode[] = [];
    let at = skipSpaces(this.#text, start + 1);
    while (this.#text[at] !== "]") {
      this.#trail.enter(items.length);
      items.push(this.#inBrackets(at));
      this.#trail.leave();
      at = this.#nextItem("]");
    }
    this.#end = at + 1;
    return { kind: "list", line: this.#number, column: this.column(start), items };
  }

  #map(start: number): MapNode {
    const entries = new Entries();
    let at = skipSpaces(this.#text, start + 1);
    while (this.#text[at] !== "}") {
      const key = this.#scalar(at, true);
      const colon = this.#colonInBrackets(at);
      this.#trail.enter(key);
      entries.add(key, this.#inBrackets(skipSpaces(this.#text, colon + 1)));
      this.#trail.leave();
      at = this.#nextItem("}");
    }
    this.#end = at + 1;
    const column = this.column(start);
    return { kind: "map", line: this.#number, column, entries: entries.finish(this.#trail) };
  }

  /** The colon of the key that stands from `start` on; behind quotes it needs no space. */
  #colonInBrackets(start: number): number {
    const text = this.#text;
    const at = skipSpaces(text, this.#end);
    const quoted = text[start] === '"' || text[start] === "'";
    if (text[at] !== ":" || !(quoted || isGap(text, at + 1))) notSimple();
    return at - start > MAX_SIMPLE_KEY ? notSimple() : at;
  }

  /** Where the next item stands behind the one read last, or the closing bracket. */
  #nextItem(close: string): number {
    const text = this.#text;
    const at = skipSpaces(text, this.#end);
    if (text[at] === close) return at;
    return text[at] === "," ? skipSpaces(text, at + 1) : notSimple();
  }
}
