/** Reads a character set, from after its `[` to its `]`. */
import { type Escape, readSetEscape } from "./escapes.ts";
import { PatternError, type Scanner } from "./scanner.ts";
import type { Node, SetItem } from "./syntax.ts";

/** The set as a node: a set of one character that is not negated is that character. */
export function readSet(scanner: Scanner): Node {
  const negated = scanner.accept("^");
  const items: SetItem[] = [];
  while (true) {
    const token = taken(scanner);
    if (token === "]" && items.length > 0) break;
    const low = member(scanner, token);
    if (!scanner.accept("-")) {
      items.push(asItem(low));
      continue;
    }
    const after = taken(scanner);
    if (after === "]") {
      items.push(asItem(low), { kind: "range", lo: 45, hi: 45 });
      break;
    }
    items.push(range(low, member(scanner, after), `${token}-${after}`));
  }
  const only = items[0];
  if (!negated && items.length === 1 && only?.kind === "range" && only.lo === only.hi) {
    return { op: "char", char: only.lo, min: 1, max: 1 };
  }
  return { op: "set", negated, items, min: 1, max: 1 };
}

function taken(scanner: Scanner): string {
  const token = scanner.take();
  if (token === undefined) throw new PatternError("unterminated character set");
  return token;
}

function member(scanner: Scanner, token: string): Escape {
  return token.startsWith("\\")
    ? readSetEscape(scanner, token)
    : { kind: "char", char: token.codePointAt(0) as number };
}

function asItem(escape: Escape): SetItem {
  if (escape.kind === "category") return escape;
  const char = escape.kind === "char" ? escape.char : 0;
  return { kind: "range", lo: char, hi: char };
}

function range(low: Escape, high: Escape, text: string): SetItem {
  if (low.kind !== "char" || high.kind !== "char" || high.char < low.char) {
    throw new PatternError(`bad character range ${text}`);
  }
  return { kind: "range", lo: low.char, hi: high.char };
}
