/** One thing `config check` has to say: a problem with its kind, and graver or lighter than loading has it. */
import type { Problem } from "../../events/problem.ts";
import { type KindName, kindOf } from "./kinds.ts";

/** An error fails the check; a note says what could not be checked. */
export type Level = "error" | "warning" | "note";

/** One finding. */
export interface Finding extends Omit<Problem, "severity" | "event"> {
  readonly level: Level;
  readonly kind: KindName;
}

/** What was looked at, and found. */
export interface Checked {
  /** Absolute, those that are there. */
  readonly files: readonly string[];
  readonly findings: readonly Finding[];
}

/** A problem as a finding, of the kind its place and words say unless another is given. */
export function findingOf(problem: Problem, kind: KindName = kindOf(problem)): Finding {
  const { severity, event: _, ...rest } = problem;
  return { ...rest, level: severity, kind };
}
