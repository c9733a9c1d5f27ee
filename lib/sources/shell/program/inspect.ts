/** What a command would run, for those who only look: consent and `doctor`. Starts nothing. */
import { basename, isAbsolute } from "node:path";
import { commandWords } from "./command_words.ts";
import { isProgram } from "./lookup.ts";
import { anchored, type CommandPlace } from "./place.ts";
import { findScript } from "./script.ts";
import { shapeOf } from "./shape.ts";

const RELATIVE = /^\.\.?\//;

type Inspected = Omit<CommandPlace, "cwd">;

/**
 * The file whose edits a person should hear of after approving a command: the script an
 * interpreter is given, else the program when it is given by a path.
 * @returns absolute, there or not; undefined for a program found in PATH, for inline code and for
 * a command that cannot be parsed
 */
export function scriptOf(command: string, place: Inspected): string | undefined {
  const words = commandWords(command, place);
  if (!Array.isArray(words) || words.length === 0 || place.windows) return undefined;
  const shape = shapeOf(words, place.env.PATH);
  if (shape.scriptAt !== undefined) {
    const word = words[shape.scriptAt]!;
    return findScript(word, shape.interpreter!, place.startFolder, shape.path).path;
  }
  if (shape.interpreter !== undefined) return undefined;
  const program = words[shape.programAt]!;
  const file = program.includes("/") && basename(program) !== "env"
    ? program
    : words.slice(shape.programAt + 1).find((word) => isRelativeProgram(word, place));
  return file === undefined ? undefined : anchored(place.startFolder, file);
}

/**
 * The words of a command that name a program or script by a relative path, and so mean another
 * file when we are started in another folder (rule 3.2).
 */
export function relativeWords(command: string, place: Inspected): string[] {
  const words = commandWords(command, place);
  if (!Array.isArray(words) || words.length === 0 || place.windows) return [];
  const shape = shapeOf(words, place.env.PATH);
  return words.filter((word, at) => {
    if (isAbsolute(word)) return false;
    if (at === shape.scriptAt) return findScriptIsRelative(word, shape.interpreter!, place);
    if (at === 0 || at === shape.programAt) return word.includes("/");
    if (choosesByFolder(words, at, shape.interpreter)) return true;
    return isRelativeProgram(word, place) || (isInlineCode(words, at) && RELATIVE.test(word));
  });
}

/** Not when a shell finds the bare name in PATH. */
function findScriptIsRelative(word: string, interpreter: string, place: Inspected): boolean {
  const script = findScript(word, interpreter, place.startFolder, place.env.PATH);
  return script.path === anchored(place.startFolder, word);
}

/** An argument such as `./check.sh` that is a program of the start folder. */
export function isRelativeProgram(word: string, place: { startFolder: string }): boolean {
  return RELATIVE.test(word) && isProgram(anchored(place.startFolder, word));
}

/** Is the word at `at` code for a shell, as after `-c` or `-lc`? */
export function isInlineCode(words: readonly string[], at: number): boolean {
  return /^-[a-zA-Z]*c$/.test(words[at - 1] ?? "");
}

/** `python -m NAME` looks in the working folder first, and what `env -S` splits is not ours to see. */
function choosesByFolder(words: readonly string[], at: number, interpreter?: string): boolean {
  const before = words[at - 1] ?? "";
  if (/^python/.test(interpreter ?? "")) return before === "-m";
  return before === "-S" && /(?:^|\/)env$/.test(words[at - 2] ?? "") && RELATIVE.test(words[at]!);
}
