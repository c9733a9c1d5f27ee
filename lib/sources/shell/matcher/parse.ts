/**
 * A parser of Python 3.11's `re` syntax for text patterns: it accepts what Python accepts and rejects
 * what Python rejects (rule 2.4), so that no engine is ever handed source text it may read otherwise.
 */
import { readEscape } from "./escapes.ts";
import { beginsFlags, readFlags } from "./inline_flags.ts";
import { PatternError, Scanner } from "./scanner.ts";
import { readSet } from "./sets.ts";
import { flag, type Node, type Pattern, type RepeatMode, unbounded } from "./syntax.ts";

/** A pattern, or in few words why Python rejects it. */
export type Parsed =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly error: string };

/** Parses a pattern. Never throws. */
export function parsePattern(source: string): Parsed {
  try {
    return { ok: true, pattern: new Parser(source).parse() };
  } catch (error) {
    if (error instanceof PatternError) return { ok: false, error: error.message };
    throw error;
  }
}

// Python's own parser ends with a RecursionError a little above this.
const deepest = 480;

class Parser {
  readonly #scanner: Scanner;
  #flags = 0;
  #depth = 0;
  #regular = true;
  #repeats = false;
  /** Width of each group by number; undefined while it is open. */
  readonly #widths: ({ min: number; max: number } | undefined)[] = [undefined];
  readonly #names = new Map<string, number>();
  readonly #asked = new Set<number>();
  /** The number of groups when the outermost lookbehind began. */
  #behindFrom: number | undefined;

  constructor(source: string) {
    this.#scanner = new Scanner(source);
  }

  parse(): Pattern {
    const root = this.#choice(false, true);
    if (this.#flags & flag.ascii && this.#flags & flag.unicode) {
      throw new PatternError("ASCII and UNICODE flags are incompatible");
    }
    if (this.#scanner.next !== undefined) throw new PatternError("unbalanced parenthesis");
    for (const group of this.#asked) {
      if (group >= this.#widths.length) {
        throw new PatternError(`invalid group reference ${group}`);
      }
    }
    if (this.#flags & flag.template && this.#repeats) {
      throw new PatternError("unsupported template operator");
    }
    return { root, flags: this.#flags, asked: this.#asked, regular: this.#regular };
  }

  #choice(verbose: boolean, top: boolean): Node {
    if (++this.#depth > deepest) throw new PatternError("nested too deeply");
    const branches: Node[] = [];
    let spaced = verbose;
    do {
      branches.push(this.#sequence(spaced, top && branches.length === 0));
      if (top) spaced = (this.#flags & flag.verbose) !== 0;
    } while (this.#scanner.accept("|"));
    this.#depth--;
    return branches.length === 1 ? branches[0] as Node : choiceOf(branches);
  }

  #sequence(verbose: boolean, first: boolean): Node {
    const items: Node[] = [];
    let spaced = verbose;
    while (true) {
      const token = this.#scanner.next;
      if (token === undefined || token === "|" || token === ")") break;
      this.#scanner.take();
      if (spaced && " \t\n\r\v\f".includes(token)) continue;
      if (spaced && token === "#") this.#skipComment();
      else if (token === "(" && this.#scanner.accept("?")) {
        const node = this.#extension(spaced, first && items.length === 0);
        if (node) items.push(node);
        else spaced = first && items.length === 0 && this.#flags & flag.verbose ? true : spaced;
      } else this.#plain(token, items, spaced);
    }
    return items.length === 1 ? items[0] as Node : sequenceOf(items);
  }

  #skipComment(): void {
    while (this.#scanner.next !== undefined) {
      if (this.#scanner.take() === "\n") return;
    }
  }

  #plain(token: string, items: Node[], verbose: boolean): void {
    if (token.startsWith("\\")) items.push(this.#escape(token));
    else if (token === "[") items.push(readSet(this.#scanner));
    else if (token === ".") items.push({ op: "any", min: 1, max: 1 });
    else if (token === "^") items.push({ op: "place", place: "lineStart", min: 0, max: 0 });
    else if (token === "$") items.push({ op: "place", place: "lineEnd", min: 0, max: 0 });
    else if (token === "(") items.push(this.#group(verbose, undefined, 0, 0));
    else if ("*+?{".includes(token)) this.#repeat(token, items);
    else items.push(charOf(token));
  }

  #escape(token: string): Node {
    const escape = readEscape(this.#scanner, token);
    switch (escape.kind) {
      case "char":
        return { op: "char", char: escape.char, min: 1, max: 1 };
      case "category":
        return { op: "set", negated: false, items: [escape], min: 1, max: 1 };
      case "place":
        return { op: "place", place: escape.place, min: 0, max: 0 };
      case "group":
        if (escape.group >= this.#widths.length) {
          throw new PatternError(`invalid group reference ${escape.group}`);
        }
        return this.#backreference(escape.group);
    }
  }

  #backreference(group: number): Node {
    const width = this.#widths[group];
    if (!width) throw new PatternError("cannot refer to an open group");
    this.#checkBehind(group);
    this.#regular = false;
    this.#asked.add(group);
    return { op: "backreference", group, min: width.min, max: width.max };
  }

  #checkBehind(group: number): void {
    if (this.#behindFrom === undefined) return;
    if (!this.#widths[group]) throw new PatternError("cannot refer to an open group");
    if (group >= this.#behindFrom) {
      throw new PatternError("cannot refer to group defined in the same lookbehind subpattern");
    }
  }

  #repeat(token: string, items: Node[]): void {
    const bounds = token === "{" ? this.#bounds() : boundsOf(token);
    if (!bounds) {
      items.push(charOf(token));
      return;
    }
    const body = items.at(-1);
    if (!body || body.op === "place") throw new PatternError("nothing to repeat");
    if (body.op === "repeat") throw new PatternError("multiple repeat");
    const mode: RepeatMode = this.#scanner.accept("?")
      ? "lazy"
      : this.#scanner.accept("+")
      ? "possessive"
      : "greedy";
    if (mode === "possessive") this.#regular = false;
    this.#repeats = true;
    items[items.length - 1] = repeatOf(body, bounds.least, bounds.most, mode);
  }

  /** The bounds in `{…}` after its `{`; undefined when it is no repeat but text. */
  #bounds(): { least: number; most: number } | undefined {
    const scanner = this.#scanner;
    if (scanner.next === "}") return undefined;
    const mark = scanner.mark();
    const low = scanner.takeWhile(Infinity, "0123456789");
    const high = scanner.accept(",") ? scanner.takeWhile(Infinity, "0123456789") : low;
    if (!scanner.accept("}")) {
      scanner.back(mark);
      return undefined;
    }
    const least = low ? Number(low) : 0;
    const most = high ? Number(high) : unbounded;
    if (least >= unbounded || (high && most >= unbounded)) {
      throw new PatternError("the repetition number is too large");
    }
    if (most < least) throw new PatternError("min repeat greater than max repeat");
    return { least, most };
  }

  /** What follows `(?`; undefined for what leaves no node (a comment, flags of the whole pattern). */
  #extension(verbose: boolean, first: boolean): Node | undefined {
    const token = this.#scanner.take();
    switch (token) {
      case undefined:
        throw new PatternError("unexpected end of pattern");
      case "P":
        return this.#named(verbose);
      case ":":
        return this.#group(verbose, null, 0, 0);
      case "#":
        return this.#comment();
      case "=":
      case "!":
        return this.#look(verbose, false, token === "!");
      case "<":
        return this.#lookbehind(verbose);
      case "(":
        return this.#conditional(verbose);
      case ">":
        return this.#atomic(verbose);
    }
    if (!beginsFlags(token)) throw new PatternError(`unknown extension ?${token}`);
    const flags = readFlags(this.#scanner, token);
    if (flags.scope === "group") return this.#group(verbose, null, flags.on, flags.off);
    this.#flags |= flags.on;
    if (!first) throw new PatternError("global flags not at the start of the expression");
    return undefined;
  }

  #comment(): undefined {
    while (this.#scanner.next !== undefined) {
      if (this.#scanner.take() === ")") return undefined;
    }
    throw new PatternError("missing ), unterminated comment");
  }

  #named(verbose: boolean): Node {
    if (this.#scanner.accept("<")) {
      return this.#group(verbose, checkedName(this.#scanner.takeUntil(">", "group name")), 0, 0);
    }
    if (this.#scanner.accept("=")) {
      const name = checkedName(this.#scanner.takeUntil(")", "group name"));
      const group = this.#names.get(name);
      if (group === undefined) throw new PatternError(`unknown group name "${name}"`);
      return this.#backreference(group);
    }
    const token = this.#scanner.take();
    throw new PatternError(
      token === undefined ? "unexpected end of pattern" : `unknown extension ?P${token}`,
    );
  }

  /** A group after its opening; `name` is null when it captures nothing. */
  #group(verbose: boolean, name: string | null | undefined, on: number, off: number): Node {
    const group = name === null ? 0 : this.#widths.push(undefined) - 1;
    if (typeof name === "string") {
      if (this.#names.has(name)) throw new PatternError(`redefinition of group name "${name}"`);
      this.#names.set(name, group);
    }
    const spaced = (verbose || (on & flag.verbose) !== 0) && !(off & flag.verbose);
    const body = this.#choice(spaced, false);
    this.#close();
    if (group) this.#widths[group] = { min: body.min, max: body.max };
    return { op: "group", group, flagsOn: on, flagsOff: off, body, min: body.min, max: body.max };
  }

  #close(): void {
    if (!this.#scanner.accept(")")) throw new PatternError("missing ), unterminated subpattern");
  }

  #atomic(verbose: boolean): Node {
    this.#regular = false;
    const body = this.#choice(verbose, false);
    this.#close();
    return { op: "atomic", body, min: body.min, max: body.max };
  }

  #lookbehind(verbose: boolean): Node {
    const token = this.#scanner.take();
    if (token === undefined) throw new PatternError("unexpected end of pattern");
    if (token !== "=" && token !== "!") throw new PatternError(`unknown extension ?<${token}`);
    const before = this.#behindFrom;
    this.#behindFrom ??= this.#widths.length;
    const node = this.#look(verbose, true, token === "!");
    this.#behindFrom = before;
    return node;
  }

  #look(verbose: boolean, behind: boolean, negated: boolean): Node {
    this.#regular = false;
    const body = this.#choice(verbose, false);
    this.#close();
    if (behind && body.min !== body.max) {
      throw new PatternError("look-behind requires fixed-width pattern");
    }
    if (behind && body.min > unbounded) throw new PatternError("looks too much behind");
    return { op: "look", behind, negated, body, min: 0, max: 0 };
  }

  #conditional(verbose: boolean): Node {
    this.#regular = false;
    const group = this.#condition(this.#scanner.takeUntil(")", "group name"));
    this.#asked.add(group);
    this.#checkBehind(group);
    const yes = this.#sequence(verbose, false);
    let no: Node | undefined;
    if (this.#scanner.accept("|")) {
      no = this.#sequence(verbose, false);
      if (this.#scanner.next === "|") {
        throw new PatternError("conditional backref with more than two branches");
      }
    }
    this.#close();
    const min = no ? Math.min(yes.min, no.min) : 0;
    return { op: "conditional", group, yes, no, min, max: Math.max(yes.max, no?.max ?? 0) };
  }

  #condition(text: string): number {
    if (isIdentifier(text)) {
      const group = this.#names.get(text);
      if (group === undefined) throw new PatternError(`unknown group name "${text}"`);
      return group;
    }
    if (!/^[+]?\d+(?:_\d+)*$/.test(text.trim())) {
      throw new PatternError(`bad character in group name "${text}"`);
    }
    const group = Number(text.trim().replaceAll("_", ""));
    if (group === 0) throw new PatternError("bad group number");
    return group;
  }
}

function isIdentifier(name: string): boolean {
  return /^[_\p{XID_Start}]\p{XID_Continue}*$/u.test(name);
}

function checkedName(name: string): string {
  if (isIdentifier(name)) return name;
  throw new PatternError(`bad character in group name "${name}"`);
}

function boundsOf(token: string): { least: number; most: number } {
  return { least: token === "+" ? 1 : 0, most: token === "?" ? 1 : unbounded };
}

function charOf(token: string): Node {
  return { op: "char", char: token.codePointAt(0) as number, min: 1, max: 1 };
}

// Python caps widths at 2 to the power of 64; beyond that all are alike.
const widest = 2 ** 64;

function sequenceOf(items: readonly Node[]): Node {
  let min = 0;
  let max = 0;
  for (const item of items) {
    min = Math.min(widest, min + item.min);
    max = Math.min(widest, max + item.max);
  }
  return { op: "sequence", items, min, max };
}

function choiceOf(branches: readonly Node[]): Node {
  let min = widest;
  let max = 0;
  for (const branch of branches) {
    min = Math.min(min, branch.min);
    max = Math.max(max, branch.max);
  }
  return { op: "choice", branches, min, max };
}

function repeatOf(body: Node, least: number, most: number, mode: RepeatMode): Node {
  const min = Math.min(widest, body.min * least);
  const max = most === unbounded && body.max ? widest : Math.min(widest, body.max * most);
  return { op: "repeat", least, most, mode, body, min, max };
}
