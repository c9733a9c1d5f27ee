/** The command that `exec` runs: as it was given, or as hooks changed it. */
import { isObject, type Json, writeJson } from "../events/json.ts";
import type { Verdict } from "../events/outcome.ts";
import { quoteWords, splitWords, WordsError } from "../sources/shell/words.ts";

/** What is to be run, or why nothing is. */
export type Commanded =
  | { readonly ok: true; readonly argv: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** The arguments of the tool call that stands for a command. */
export function argsOf(argv: readonly string[]): Map<string, Json> {
  return new Map<string, Json>([["command", quoteWords(argv)], ["argv", [...argv]]]);
}

/**
 * The command after the hooks: a changed `argv` is taken as it is, else a changed `command` is split
 * as rule 3.1 splits. What cannot be run is refused: the original was not what they let through.
 */
export function commandOf(verdict: Verdict, argv: readonly string[]): Commanded {
  const args = verdict.get("args");
  if (!isObject(args)) return { ok: true, argv };
  const given = argsOf(argv);
  const changed = (key: string) => {
    const value = args.get(key);
    return value !== undefined && writeJson(value) !== writeJson(given.get(key)!);
  };
  if (changed("argv")) return listed(args.get("argv")!);
  if (changed("command")) return parsed(args.get("command")!);
  return { ok: true, argv };
}

const refused = (what: string): Commanded => ({
  ok: false,
  reason: `a hook changed the command to ${what}: not run`,
});

function listed(value: Json): Commanded {
  const words = Array.isArray(value) ? value.filter((word) => typeof word === "string") : [];
  if (!Array.isArray(value) || words.length !== value.length || !words[0]) {
    return refused("an argv that is no list of strings with a program in front");
  }
  return words.some((word) => word.includes("\0"))
    ? refused("one with a NUL character in it")
    : { ok: true, argv: words };
}

function parsed(value: Json): Commanded {
  if (typeof value !== "string") return refused("something that is no string");
  try {
    return listed(splitWords(value));
  } catch (error) {
    if (!(error instanceof WordsError)) throw error;
    return refused(`a line that cannot be parsed (${error.message})`);
  }
}
