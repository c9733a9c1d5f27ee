/** Asking the person at the terminal whether a hook may run (rule 6.4). */

import { printable } from "../events/json.ts";
import { type Terminal, writeToStderr } from "../platform/tty.ts";

/** What the person is shown. */
export interface AskedHook {
  readonly event: string;
  readonly command: string;
  /** The resolved script or program, absolute; absent when none was found. */
  readonly script?: string;
}

/**
 * Shows the hook on stderr and asks. `true` only for y or yes (trimmed, in any case); anything
 * else, end-of-file and Ctrl-C are no, and the program goes on.
 * @param terminal where the answer is typed; one for all questions of a run
 * @param write where the question goes; stderr unless given
 */
export async function askOnTerminal(
  terminal: Terminal,
  hook: AskedHook,
  write: (text: string) => void = writeToStderr,
): Promise<boolean> {
  return await saysYes(terminal, questionText(hook), write);
}

/** Asks a question; `true` only for y or yes (trimmed, in any case). */
export async function saysYes(
  terminal: Terminal,
  question: string,
  write: (text: string) => void,
): Promise<boolean> {
  const answer = await terminal.line(() => write(question));
  if (answer.kind !== "line") {
    write("\n");
    return false;
  }
  return ["y", "yes"].includes(answer.text.trim().toLowerCase());
}

/** The question, with everything from outside made safe to print (rule 6.2). */
export function questionText(hook: AskedHook): string {
  return [
    "",
    "hermes-hooks: a shell hook that has not been approved yet",
    `  event:   ${printable(hook.event)}`,
    `  command: ${printable(hook.command)}`,
    `  script:  ${hook.script === undefined ? "(none found)" : printable(hook.script)}`,
    "  it runs with your full user permissions",
    "Allow this hook to run? [y/N]: ",
  ].join("\n");
}
