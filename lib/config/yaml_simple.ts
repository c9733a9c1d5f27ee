/**
 * The YAML that most configs are written in, read in one pass over its lines: block mappings and
 * sequences of values that stand on one line, and block scalars. It never guesses: anything else,
 * and anything wrong, is left to the exact reader (yaml.ts), whose results its own are equal to.
 */

import type { ConfigNode, ListNode, MapNode, ScalarNode } from "./node.ts";
import type { YamlFile } from "./yaml_file.ts";
import { Entries, Trail } from "./yaml_map.ts";
import { readBlockScalar } from "./yaml_simple_block.ts";
import { LineReader } from "./yaml_simple_line.ts";
import { indentOf, isDash, NotSimple, notSimple, skipSpaces } from "./yaml_simple_text.ts";

/** Line breaks other than `\n`, a BOM within, and all that the exact reader refuses. */
const ODD =
  /[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

const NOT_ASCII = /[^\t\n\x20-\x7e]/;
const WIDE = /[\ud800-\udbff]/;

/** At the start of a line; "---" alone is also taken before all content. */
const MARKER = /^(?:---|\.\.\.)/;

/** Deeper nesting is left to the exact reader, which knows how much is too much. */
const MAX_SIMPLE_DEPTH = 40;

/**
 * Reads a simple text as `readYaml` reads it.
 * @param text the file's text; a BOM and CRLF are fine
 * @param file its name, for problems
 * @returns undefined when the text is not simple; it may be right or wrong then
 */
export function readSimpleYaml(text: string, file: string): YamlFile | undefined {
  const bare = text.startsWith("\ufeff") ? text.slice(1) : text;
  const clean = bare.includes("\r") ? bare.replaceAll("\r\n", "\n") : bare;
  const ascii = !NOT_ASCII.test(clean);
  if (!ascii && ODD.test(clean)) return undefined;
  const trail = new Trail(file);
  const line = new LineReader(trail, !ascii && WIDE.test(clean));
  try {
    const root = new BlockReader(clean.split("\n"), line, trail).root();
    return { root, problems: trail.problems };
  } catch (error) {
    if (error instanceof NotSimple) return undefined;
    throw error;
  }
}

/** Stands on a line with content; what reads a node goes on to the next such line behind it. */
class BlockReader {
  readonly #lines: readonly string[];
  readonly #trail: Trail;
  readonly #line: LineReader;
  #row = -1;
  /** Of the line we stand on; -1 behind the last. */
  #indent = -1;
  #depth = 0;

  constructor(lines: readonly string[], line: LineReader, trail: Trail) {
    this.#lines = lines;
    this.#line = line;
    this.#trail = trail;
  }

  root(): ConfigNode | undefined {
    this.#next(true);
    const marked = this.#line.text === "---";
    if (marked) this.#next();
    if (this.#indent < 0) return marked ? notSimple() : undefined;
    const node = this.#node(this.#indent);
    return node.kind === "scalar" || this.#indent >= 0 ? notSimple() : node;
  }

  /** On to the next line, from `#row + 1` on, that is neither blank nor a comment. */
  #next(first = false): void {
    while (++this.#row < this.#lines.length) {
      const text = this.#lines[this.#row] ?? "";
      const indent = indentOf(text);
      if (indent === text.length || text[indent] === "#") continue;
      if (indent === 0 && MARKER.test(text) && !(first && text === "---")) notSimple();
      this.#indent = indent;
      this.#line.set(text, this.#row + 1);
      return;
    }
    this.#indent = -1;
  }

  /** The node that begins at `at` on our line. */
  #node(at: number): ConfigNode {
    if (++this.#depth > MAX_SIMPLE_DEPTH) notSimple();
    const node = isDash(this.#line.text, at) ? this.#list(at) : this.#mapOrValue(at);
    this.#depth--;
    return node;
  }

  #list(column: number): ListNode {
    const line = this.#line.number;
    const items: ConfigNode[] = [];
    for (let at = column;; at = this.#indent) {
      this.#trail.enter(items.length);
      items.push(this.#inside(at + 1, column, false));
      this.#trail.leave();
      if (this.#indent > column) notSimple();
      if (this.#indent < column || !isDash(this.#line.text, column)) break;
    }
    return { kind: "list", line, column: column + 1, items };
  }

  #mapOrValue(at: number): ConfigNode {
    const first = this.#line.value(at);
    const colon = this.#line.colon(at);
    return colon === undefined ? this.#finished(first) : this.#map(first, at, colon);
  }

  #finished(value: ConfigNode): ConfigNode {
    this.#line.finish();
    this.#next();
    return value;
  }

  #map(first: ConfigNode, column: number, firstColon: number): MapNode {
    const line = this.#line.number;
    const entries = new Entries();
    for (let key = first, colon: number | undefined = firstColon;;) {
      if (key.kind !== "scalar" || colon === undefined) notSimple();
      this.#trail.enter(key);
      entries.add(key, this.#inside(colon + 1, column, true));
      this.#trail.leave();
      if (this.#indent < column) break;
      if (this.#indent > column) notSimple();
      key = this.#line.value(column);
      colon = this.#line.colon(column);
    }
    return { kind: "map", line, column: column + 1, entries: entries.finish(this.#trail) };
  }

  /** What stands behind a dash or a colon, or below it, in a collection that begins at `column`. */
  #inside(behind: number, column: number, inMap: boolean): ConfigNode {
    const { text } = this.#line;
    const at = skipSpaces(text, behind);
    if (at === text.length || text[at] === "#") return this.#below(at, column, inMap);
    if (text[at] === "|" || text[at] === ">") return this.#blockScalar(at, column);
    return inMap ? this.#finished(this.#line.value(at)) : this.#node(at);
  }

  #below(at: number, column: number, inMap: boolean): ConfigNode {
    const line = this.#line.number;
    const nullColumn = this.#line.column(at);
    this.#next();
    if (this.#indent > column) {
      const node = this.#node(this.#indent);
      // The exact reader takes a "-" below such a scalar into it when a comment stands between.
      const apart = node.line > line + 1;
      return node.kind === "scalar" && apart ? notSimple() : node;
    }
    // A sequence may stand in the column of its key.
    if (inMap && this.#indent === column && isDash(this.#line.text, column)) {
      return this.#node(column);
    }
    return { kind: "scalar", line, column: nullColumn, value: null, type: "NoneType" };
  }

  #blockScalar(at: number, column: number): ScalarNode {
    const line = this.#line.number;
    const headColumn = this.#line.column(at);
    const { value, last } = readBlockScalar(this.#lines, this.#row, at, column);
    this.#row = last;
    this.#next();
    return { kind: "scalar", line, column: headColumn, value, type: "str" };
  }
}
