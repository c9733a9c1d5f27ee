/** Asking a person whether the command of `exec` may run. */
import { printable } from "../events/json.ts";
import { quoteWords } from "../sources/shell/words.ts";
import type { ExecFacts } from "./exec_facts.ts";
import type { Io } from "./io.ts";

/** Is there somebody to ask (rule 6.4)? */
export async function canBeAsked({ stdinTty, stderrTty }: Io): Promise<boolean> {
  if (!stderrTty) return false;
  const { terminalAvailable } = await import("../platform/tty.ts");
  return terminalAvailable({ stdinTty, stderrTty, stdinInUse: true });
}

/** What a person says to a command that is held up; no answer is a no. */
export async function askAbout(io: Io, about: ExecFacts, message: string): Promise<boolean> {
  const [{ openTerminal }, { saysYes }] = await Promise.all([
    import("../platform/tty.ts"),
    import("../consent/prompt.ts"),
  ]);
  const terminal = openTerminal({ stdinTty: false });
  if (!terminal) return false;
  const question = [
    "",
    `hermes-hooks: a hook holds this command up: ${printable(message)}`,
    `  tool:    ${printable(about.tool)}`,
    `  command: ${printable(quoteWords(about.argv))}`,
    "Run it? [y/N]: ",
  ].join("\n");
  try {
    return await saysYes(terminal, question, (text) => io.err(text));
  } finally {
    terminal.close();
  }
}
