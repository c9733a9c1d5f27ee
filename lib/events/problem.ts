/** A thing found wrong while loading, as a value: loading never throws for one bad entry. */

/** One problem, located (rule 1.6). */
export interface Problem {
  readonly severity: "error" | "warning";
  /** The file, as it was opened. */
  readonly file: string;
  /** Where in the file's structure, such as `hooks.pre_tool_call[2].timeout`; empty: the whole file. */
  readonly path: string;
  /** 1-based; absent when the file could not be read or has no lines. */
  readonly line?: number;
  /** 1-based; only for syntax errors. */
  readonly column?: number;
  /** What is wrong and what was expected; lower case, no full stop, values in quotes. */
  readonly message: string;
  /** The event it touches: `fire` shows only those of its own event, and those of none. */
  readonly event?: string;
}

/** `hooks.pre_tool_call[2].timeout (config.yaml:14): …`, or `config.yaml:3:7: …` without a path. */
export function problemText(problem: Problem): string {
  const name = problem.file.replace(/^.*[\\/]/, "");
  const at = [name, problem.line, problem.column].filter((part) => part !== undefined).join(":");
  return problem.path ? `${problem.path} (${at}): ${problem.message}` : `${at}: ${problem.message}`;
}
