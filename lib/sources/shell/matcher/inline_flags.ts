/** Reads what stands in `(?…)` and `(?…:` when it turns flags on or off. */
import { PatternError, type Scanner } from "./scanner.ts";
import { flag } from "./syntax.ts";

/** Flags for the whole pattern, or for the group that follows. */
export type InlineFlags =
  | { readonly scope: "pattern"; readonly on: number }
  | { readonly scope: "group"; readonly on: number; readonly off: number };

const kinds = flag.ascii | flag.unicode;

/** Whether a token may begin inline flags. */
export function beginsFlags(token: string): boolean {
  return token === "-" || bitOf(token) !== undefined;
}

/** Reads flags of which `first` is the first token, with the `)` or `:`. Throws PatternError. */
export function readFlags(scanner: Scanner, first: string): InlineFlags {
  let on = 0;
  let end = first;
  if (first !== "-") {
    const run = readRun(scanner, first, ")-:", "missing -, : or )", addOn);
    on = run.bits;
    end = run.end;
  }
  if (end === ")") return { scope: "pattern", on };
  if (on & flag.template) throw new PatternError("bad inline flags: cannot turn on global flag");
  let off = 0;
  if (end === "-") {
    const start = scanner.take();
    if (start === undefined || bitOf(start) === undefined) {
      throw new PatternError(
        start !== undefined && isLetter(start) ? "unknown flag" : "missing flag",
      );
    }
    off = readRun(scanner, start, ":", "missing :", addOff).bits;
  }
  if (off & flag.template) throw new PatternError("bad inline flags: cannot turn off global flag");
  if (on & off) throw new PatternError("bad inline flags: flag turned on and off");
  return { scope: "group", on, off };
}

function readRun(
  scanner: Scanner,
  first: string,
  ends: string,
  missing: string,
  add: (bits: number, bit: number) => number,
): { bits: number; end: string } {
  let bits = 0;
  let token = first;
  while (true) {
    bits = add(bits, bitOf(token) ?? 0);
    const next = scanner.take();
    if (next === undefined) throw new PatternError(missing);
    if (next.length === 1 && ends.includes(next)) return { bits, end: next };
    if (bitOf(next) === undefined) {
      throw new PatternError(isLetter(next) ? "unknown flag" : missing);
    }
    token = next;
  }
}

function addOn(bits: number, bit: number): number {
  if (bit === 0) {
    throw new PatternError("bad inline flags: cannot use 'L' flag with a str pattern");
  }
  const sum = bits | bit;
  if (bit & kinds && (sum & kinds) !== bit) {
    throw new PatternError("bad inline flags: flags 'a', 'u' and 'L' are incompatible");
  }
  return sum;
}

function addOff(bits: number, bit: number): number {
  if (bit === 0 || bit & kinds) {
    throw new PatternError("bad inline flags: cannot turn off flags 'a', 'u' and 'L'");
  }
  return bits | bit;
}

/** The flag's bit; 0 for `L`, which text patterns refuse; undefined for what is no flag. */
function bitOf(token: string): number | undefined {
  switch (token) {
    case "i":
      return flag.ignoreCase;
    case "m":
      return flag.multiline;
    case "s":
      return flag.dotAll;
    case "x":
      return flag.verbose;
    case "a":
      return flag.ascii;
    case "u":
      return flag.unicode;
    case "t":
      return flag.template;
    case "L":
      return 0;
  }
}

function isLetter(token: string): boolean {
  return /^\p{L}$/u.test(token);
}
