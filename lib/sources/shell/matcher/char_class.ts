/** Whether one code point is what a character, a set or a dot of a pattern stands for. */
import { flag, innerFlags, type Node, type SetItem } from "./syntax.ts";
import { inCategory, isCased, lowerOf, sameLetters, upperOf } from "./unicode.ts";

/** A question about one code point; answers for the first 128 are remembered. */
export class CharTest {
  readonly #decide: (char: number) => boolean;
  readonly #known = new Int8Array(128);

  constructor(decide: (char: number) => boolean) {
    this.#decide = decide;
  }

  /** Whether the code point fits. */
  matches(char: number): boolean {
    if (char >= 128) return this.#decide(char);
    const known = this.#known[char] as number;
    if (known !== 0) return known > 0;
    const fits = this.#decide(char);
    this.#known[char] = fits ? 1 : -1;
    return fits;
  }
}

/** The code point a node stands for when it is exactly one, else undefined. */
export function exactChar(node: Node, flags: number): number | undefined {
  if (node.op !== "char") return undefined;
  if (flags & flag.ignoreCase && isCased(node.char, (flags & flag.ascii) !== 0)) return undefined;
  return node.char;
}

/**
 * The test of a node that always takes exactly one code point, looking through groups unless they
 * must remember what they matched; undefined for any other node.
 */
export function charTestOf(
  node: Node,
  flags: number,
  throughGroups: boolean,
): CharTest | undefined {
  switch (node.op) {
    case "char":
      return charTest(node.char, flags);
    case "any":
      return new CharTest(flags & flag.dotAll ? () => true : (char) => char !== 10);
    case "set":
      return setTest(node.items, node.negated, flags);
    case "group":
      if (node.group && !throughGroups) return undefined;
      return charTestOf(
        node.body,
        innerFlags(flags, node.flagsOn, node.flagsOff),
        throughGroups,
      );
    default:
      return undefined;
  }
}

function charTest(char: number, flags: number): CharTest {
  const ascii = (flags & flag.ascii) !== 0;
  if (!(flags & flag.ignoreCase) || !isCased(char, ascii)) {
    return new CharTest((other) => other === char);
  }
  const lower = lowerOf(char, ascii);
  const family = ascii ? [lower] : [lower, ...sameLetters(lower)];
  return new CharTest((other) => other === lower || family.includes(lowerOf(other, ascii)));
}

function setTest(items: readonly SetItem[], negated: boolean, flags: number): CharTest {
  const ascii = (flags & flag.ascii) !== 0;
  const plain = (char: number) => items.some((item) => holds(item, char, ascii)) !== negated;
  if (!(flags & flag.ignoreCase)) return new CharTest(plain);
  let folded: FoldedSet | undefined;
  return new CharTest((char) => {
    folded ??= foldSet(items, ascii);
    if (!folded.cased) return plain(char);
    const lower = lowerOf(char, ascii);
    return (folded.letters.has(lower) || folded.rest.some((held) => held(lower))) !== negated;
  });
}

function holds(item: SetItem, char: number, ascii: boolean): boolean {
  if (item.kind === "range") return char >= item.lo && char <= item.hi;
  return inCategory(char, item.category, ascii) !== item.negated;
}

interface FoldedSet {
  /** Whether any member has a case; without one, case is not ignored either. */
  readonly cased: boolean;
  readonly letters: ReadonlySet<number>;
  readonly rest: readonly ((lower: number) => boolean)[];
}

/** Spreads ranges out letter by letter, which can be costly: done only when a name asks. */
function foldSet(items: readonly SetItem[], ascii: boolean): FoldedSet {
  const letters = new Set<number>();
  const rest: ((lower: number) => boolean)[] = [];
  let cased = false;
  for (const item of items) {
    if (item.kind === "category") {
      rest.push((lower) => holds(item, lower, ascii));
      continue;
    }
    for (let char = item.lo; char <= Math.min(item.hi, 0xffff); char++) {
      const lower = lowerOf(char, ascii);
      letters.add(lower);
      if (!ascii) { for (const other of sameLetters(lower)) letters.add(other); }
      cased ||= isCased(char, ascii);
    }
    if (item.hi <= 0xffff) continue;
    cased = true;
    rest.push((lower) =>
      holds(item, lower, ascii) || (!ascii && holds(item, upperOf(lower), ascii))
    );
  }
  return { cased, letters, rest };
}
