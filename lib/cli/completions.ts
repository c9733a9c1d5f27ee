/** `completions SHELL`: a completion script, made from the tables of commands and options. */
import type { Context } from "../context.ts";
import { printable } from "../events/json.ts";
import { type Args, UsageError } from "./args.ts";
import { bashScript } from "./completions/bash.ts";
import { fishScript } from "./completions/fish.ts";
import { type CompletionTable, completionTable } from "./completions/table.ts";
import { zshScript } from "./completions/zsh.ts";
import type { Io } from "./io.ts";

const SHELLS: Readonly<Record<string, (table: CompletionTable) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Prints it; exit 64 for a shell that is none of these. */
export function completions(args: Args, io: Io, _context: Context): number {
  const [shell = "", ...more] = args.words;
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell]! : undefined;
  if (!script || more.length > 0) {
    const what = shell ? `, not "${printable(shell)}"` : "";
    throw new UsageError(`completions takes bash, zsh or fish${what}`);
  }
  return io.out(script(completionTable())) ? 0 : 1;
}
