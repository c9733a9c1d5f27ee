/** What a list of words would run in the end: past env and the like, and which word is a script. */
import { basename } from "node:path";
import { readEnv } from "./env_command.ts";
import { firstWord, interpreterOptions, wrapperOptions } from "./options.ts";

/** The parts of a command line. */
export interface Shape {
  /** Which word is the program that does the work: 0, or further on behind `env` and the like. */
  readonly programAt: number;
  /** Only `env` came before it, so that everything about it is sure (rule 3.9). */
  readonly sure: boolean;
  /** The PATH that program is looked up in. */
  readonly path: string | undefined;
  /** Its name, when it is an interpreter that takes a script. */
  readonly interpreter?: string;
  /** Which word is that interpreter's script; absent: none, or not sure. */
  readonly scriptAt?: number;
}

/** Reads the words of one command; `path` is the PATH it gets. */
export function shapeOf(words: readonly string[], path: string | undefined): Shape {
  let at = 0, sure = true;
  for (;;) {
    const name = basename(words[at] ?? "");
    if (name === "env") {
      const command = readEnv(words, at + 1, path);
      if (!command) return { programAt: at, sure, path };
      ({ at, path } = command);
    } else {
      const table = wrapperOptions(name);
      const next = table && firstWord(words, at + 1, table);
      if (next === undefined) return { programAt: at, sure, path, ...scriptIn(words, at, name) };
      at = next;
      sure = false;
    }
  }
}

function scriptIn(
  words: readonly string[],
  at: number,
  name: string,
): { interpreter?: string; scriptAt?: number } {
  const table = interpreterOptions(name);
  if (!table) return {};
  const scriptAt = firstWord(words, at + 1, table);
  return scriptAt === undefined || words[scriptAt] === ""
    ? { interpreter: name }
    : { interpreter: name, scriptAt };
}
