/** A hook's `matcher`: which tool names it is for (rule 2.4). */
import { firstChars, printable } from "../../../events/json.ts";
import { runProgram, type RunResult } from "./backtrack.ts";
import { linearSize, matchLinear, suitsLinear } from "./linear.ts";
import { namesOnly } from "./names.ts";
import { parsePattern } from "./parse.ts";
import { compileProgram, type Program } from "./program.ts";
import type { Pattern } from "./syntax.ts";

/** What one name came to. */
export interface MatchResult {
  /** Whether the hook is meant; also true when that could not be found out in time. */
  readonly matched: boolean;
  /** Why a match was only assumed, in one line. */
  readonly warning?: string;
}

/** A compiled matcher. */
export interface Matcher {
  /** The pattern as it was given. */
  readonly pattern: string;
  /**
   * How it is run: compared as text, in linear time, choice by choice against a clock of 100 ms, or
   * (`broken`: Python rejects it) compared as text although it was meant otherwise.
   */
  readonly kind: "literal" | "linear" | "backtrack" | "broken";
  /** Of a broken one, why Python rejects it, in few words. */
  readonly error?: string;
  /**
   * Whether the whole name matches. Answers at once, or with a promise only when a linear pattern
   * proved long to run and RE2 had to be loaded. Never throws or rejects.
   */
  test(name: string): MatchResult | Promise<MatchResult>;
}

/** The time a pattern may take, in ms; when it runs out, the name counts as matched. */
export const timeAllowed = 100;

// A linear pattern that takes longer is worth the loading of RE2.
const stepsBeforeLinear = 10_000;
// Longer names (in UTF-16 units) are never run: 16 MB of code points.
const longestName = 4_000_000;

const matched: MatchResult = Object.freeze({ matched: true });
const unmatched: MatchResult = Object.freeze({ matched: false });

/**
 * Compiles a pattern of Python's `re` syntax for full matches; never throws. `pattern` is expected
 * trimmed and not empty.
 */
export function compileMatcher(pattern: string): Matcher {
  const isMeant = namesOnly(pattern);
  if (isMeant) {
    return { pattern, kind: "literal", test: (name) => isMeant(name) ? matched : unmatched };
  }
  const parsed = parsePattern(pattern);
  if (!parsed.ok) {
    const test = (name: string) => name === pattern ? matched : unmatched;
    return { pattern, kind: "broken", error: parsed.error, test };
  }
  const size = linearSize(parsed.pattern);
  const kind = size === undefined ? "backtrack" : "linear";
  return { pattern, kind, test: tester(pattern, parsed.pattern, size) };
}

function tester(source: string, pattern: Pattern, size: number | undefined) {
  let program: Program | undefined;
  return (name: string): MatchResult | Promise<MatchResult> => {
    const deadline = performance.now() + timeAllowed;
    if (name.length > longestName) return assumed(source, name, "can't be tried");
    program ??= compileProgram(pattern);
    const text = codePoints(name);
    if (size !== undefined && suitsLinear(size, name)) {
      const soon = runProgram(program, text, { steps: stepsBeforeLinear });
      if (soon !== "gaveUp") return resultOf(soon, source, name);
      return matchLinear(pattern, name).then(
        (is) => is ? matched : unmatched,
        () => resultOf(runProgram(program as Program, text, { deadline }), source, name),
      );
    }
    return resultOf(runProgram(program, text, { deadline }), source, name);
  };
}

function resultOf(result: RunResult, source: string, name: string): MatchResult {
  if (result === "gaveUp") return assumed(source, name, `took over ${timeAllowed} ms`);
  return result === "match" ? matched : unmatched;
}

function assumed(source: string, name: string, what: string): MatchResult {
  const warning = `matcher "${shown(source)}" ${what} on "${shown(name)}"; counted as a match`;
  return { matched: true, warning };
}

function shown(text: string): string {
  const first = firstChars(text, 80);
  return printable(first) + (first.length < text.length ? "…" : "");
}

function codePoints(name: string): Int32Array {
  const points = new Int32Array(name.length);
  let count = 0;
  for (let at = 0; at < name.length; count++) {
    const point = name.codePointAt(at) as number;
    points[count] = point;
    at += point > 0xffff ? 2 : 1;
  }
  return points.subarray(0, count);
}
