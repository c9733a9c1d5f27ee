/** Reading an `env [-i] [-u NAME] [NAME=VALUE…] PROGRAM …` command line. */

/** What `env` will do. */
export interface EnvCommand {
  /** Which of the words is the program. */
  readonly at: number;
  /** The PATH that program is looked up in; undefined: unset. */
  readonly path: string | undefined;
}

/**
 * Reads the words after `env`.
 * @param from where they begin
 * @param path the PATH that env itself gets
 * @returns undefined when there is no program, or an option whose effect is not known here
 */
export function readEnv(
  words: readonly string[],
  from: number,
  path: string | undefined,
): EnvCommand | undefined {
  let at = from;
  for (; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--") {
      at++;
      break;
    }
    if (!word.startsWith("-")) break;
    if (word === "-" || word === "-i" || word === "--ignore-environment") path = undefined;
    else {
      const name = unsetName(words, at);
      if (name === undefined) return undefined;
      if (name === "PATH") path = undefined;
      if (word === "-u" || word === "--unset") at++;
    }
  }
  for (; at < words.length; at++) {
    const word = words[at]!;
    if (!word.includes("=")) return { at, path };
    if (word.startsWith("PATH=")) path = word.slice("PATH=".length);
  }
  return undefined;
}

function unsetName(words: readonly string[], at: number): string | undefined {
  const word = words[at]!;
  if (word === "-u" || word === "--unset") return words[at + 1];
  return /^(?:-u|--unset=)(.+)$/s.exec(word)?.[1];
}
