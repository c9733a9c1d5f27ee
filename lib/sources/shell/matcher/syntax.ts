/** The tree a pattern becomes: what the parser builds, and what both ways of matching read. */

/** Flags of a pattern, as bits. */
export const flag = {
  ignoreCase: 1,
  multiline: 2,
  dotAll: 4,
  verbose: 8,
  ascii: 16,
  unicode: 32,
  template: 64,
} as const;

/** "No upper bound" in a repeat. */
export const unbounded = 4294967295;

/** `\d`, `\s` or `\w`; upper-case escapes are the negated ones. */
export type Category = "digit" | "space" | "word";

/** One member of a character set; a single character is a range of one. */
export type SetItem =
  | { readonly kind: "range"; readonly lo: number; readonly hi: number }
  | { readonly kind: "category"; readonly category: Category; readonly negated: boolean };

/** A place between characters: `^`, `$`, `\A`, `\Z`, `\b`, `\B`. */
export type Place = "lineStart" | "lineEnd" | "textStart" | "textEnd" | "boundary" | "inside";

/** How a repeat chooses: as many as it can, as few, or as many without giving any back. */
export type RepeatMode = "greedy" | "lazy" | "possessive";

interface Sized {
  /** The least number of code points this can match. */
  readonly min: number;
  /** The greatest, `Infinity` for "no bound". */
  readonly max: number;
}

/** One node of the tree. */
export type Node =
  & Sized
  & (
    | { readonly op: "char"; readonly char: number }
    | { readonly op: "set"; readonly negated: boolean; readonly items: readonly SetItem[] }
    | { readonly op: "any" }
    | { readonly op: "place"; readonly place: Place }
    | { readonly op: "sequence"; readonly items: readonly Node[] }
    | { readonly op: "choice"; readonly branches: readonly Node[] }
    | {
      readonly op: "group";
      /** The group's number, 0 for a group that captures nothing. */
      readonly group: number;
      readonly flagsOn: number;
      readonly flagsOff: number;
      readonly body: Node;
    }
    | {
      readonly op: "repeat";
      readonly least: number;
      readonly most: number;
      readonly mode: RepeatMode;
      readonly body: Node;
    }
    | {
      readonly op: "look";
      readonly behind: boolean;
      readonly negated: boolean;
      readonly body: Node;
    }
    | { readonly op: "atomic"; readonly body: Node }
    | { readonly op: "backreference"; readonly group: number }
    | {
      readonly op: "conditional";
      readonly group: number;
      readonly yes: Node;
      readonly no: Node | undefined;
    }
  );

/** A pattern that Python accepts. */
export interface Pattern {
  readonly root: Node;
  /** The flags that hold for the whole pattern, as bits of `flag`. */
  readonly flags: number;
  /** The groups that a backreference or a conditional asks about. */
  readonly asked: ReadonlySet<number>;
  /** Whether it has no lookaround, backreference, conditional, atomic group or possessive repeat. */
  readonly regular: boolean;
}

/** The flags inside a group that turns some on and some off. */
export function innerFlags(flags: number, on: number, off: number): number {
  const kinds = flag.ascii | flag.unicode;
  return ((on & kinds ? flags & ~kinds : flags) | on) & ~off;
}
