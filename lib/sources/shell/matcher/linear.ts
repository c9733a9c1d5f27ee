/**
 * Matching in linear time with RE2, for patterns without lookaround, backreferences and the like.
 * The pattern is written anew from its tree, for names of ASCII characters only: every set becomes
 * the list of the ASCII characters in it, so that no notion of letters, digits, spaces or case is
 * left in which RE2 and Python could differ.
 */
import { charTestOf } from "./char_class.ts";
import { sizeOf } from "./program.ts";
import { flag, innerFlags, type Node, type Pattern, type Place, unbounded } from "./syntax.ts";

// RE2 takes no repeat above this.
const mostRepeats = 1000;
// Compiling a larger program costs more than it can save.
const largest = 2_000;
// About 100 ms: RE2 can't be interrupted, so what might take longer is not begun.
const mostWork = 1_500_000;

let loads = 0;

/** How often the engine was asked for in this process. */
export function engineLoads(): number {
  return loads;
}

/** About how many instructions RE2 needs for a pattern; undefined when it can't take it. */
export function linearSize(pattern: Pattern): number | undefined {
  if (!pattern.regular) return undefined;
  const size = sizeOf(pattern.root);
  return size > largest || repeats(pattern.root) > mostRepeats ? undefined : size;
}

/** Whether RE2 can answer for this name soon, and as Python does. */
export function suitsLinear(size: number, name: string): boolean {
  // Python's `$` also stands before a newline that ends the name, and finds no `\B` in nothing.
  if (name === "" || name.endsWith("\n")) return false;
  // deno-lint-ignore no-control-regex -- all of ASCII is meant
  return size * name.length <= mostWork && /^[\x00-\x7f]*$/.test(name);
}

/** Whether the whole name matches. Only for what `linearSize` and `suitsLinear` accept. */
export async function matchLinear(pattern: Pattern, name: string): Promise<boolean> {
  loads++;
  const { RE2JS } = await import("re2js");
  return RE2JS.compile(rewritten(pattern.root, pattern.flags)).matches(name);
}

/** The largest product of counted repeats inside one another. */
function repeats(node: Node): number {
  switch (node.op) {
    case "sequence":
      return Math.max(1, ...node.items.map(repeats));
    case "choice":
      return Math.max(1, ...node.branches.map(repeats));
    case "group":
      return repeats(node.body);
    case "repeat":
      return Math.max(1, node.least, node.most === unbounded ? 1 : node.most) * repeats(node.body);
    default:
      return 1;
  }
}

function rewritten(node: Node, flags: number): string {
  switch (node.op) {
    case "char":
    case "set":
    case "any":
      return asciiClass(node, flags);
    case "place":
      return rewrittenPlace(node.place, (flags & flag.multiline) !== 0);
    case "sequence":
      return node.items.map((item) => rewritten(item, flags)).join("");
    case "choice":
      return `(?:${node.branches.map((branch) => rewritten(branch, flags)).join("|")})`;
    case "group":
      return `(?:${rewritten(node.body, innerFlags(flags, node.flagsOn, node.flagsOff))})`;
    case "repeat":
      return `(?:${rewritten(node.body, flags)})${bounds(node.least, node.most)}`;
    default:
      throw new Error(`RE2 can't match "${node.op}"`);
  }
}

function rewrittenPlace(place: Place, multiline: boolean): string {
  switch (place) {
    case "textStart":
      return "\\A";
    case "textEnd":
      return "\\z";
    case "boundary":
      return "\\b";
    case "inside":
      return "\\B";
    case "lineStart":
      return multiline ? "(?m:^)" : "\\A";
    case "lineEnd":
      return multiline ? "(?m:$)" : "\\z";
  }
}

function bounds(least: number, most: number): string {
  if (most === unbounded) return least === 0 ? "*" : least === 1 ? "+" : `{${least},}`;
  return least === 0 && most === 1 ? "?" : `{${least},${most}}`;
}

function asciiClass(node: Node, flags: number): string {
  const test = charTestOf(node, flags, true);
  let members = "";
  for (let char = 0; char < 128; char++) {
    if (!test?.matches(char)) continue;
    let last = char;
    while (last < 127 && test.matches(last + 1)) last++;
    members += last === char ? hex(char) : `${hex(char)}-${hex(last)}`;
    char = last;
  }
  // A class of what never stands in ASCII text: it must never match.
  return members ? `[${members}]` : "[\\x{10ffff}]";
}

function hex(char: number): string {
  return `\\x${char.toString(16).padStart(2, "0")}`;
}
