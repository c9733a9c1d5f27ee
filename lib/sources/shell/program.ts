/** From a command to what will be started, with everything that can be known to fail found first. */
import { isAbsolute } from "node:path";
import { commandWords } from "./program/command_words.ts";
import { refuseFirstLine } from "./program/first_line.ts";
import { isInlineCode, isRelativeProgram } from "./program/inspect.ts";
import { findInPath, refuseFile } from "./program/lookup.ts";
import { anchored, type CommandPlace, isElsewhere, type ProgramPlace } from "./program/place.ts";
import { quoted, type Refusal, refuse } from "./program/refusal.ts";
import { findScript, looksLikeScript } from "./program/script.ts";
import { type Shape, shapeOf } from "./program/shape.ts";
import { quoteWords } from "./words.ts";

export { relativeWords, scriptOf } from "./program/inspect.ts";
export type { Refusal, RefusalCode } from "./program/refusal.ts";
export type { CommandPlace, ProgramPlace } from "./program/place.ts";

/** A program that can be started. */
export interface Program {
  readonly ok: true;
  /** Absolute. */
  readonly file: string;
  /** The name as written, unless that would mean another file from the hook's working folder. */
  readonly argv0: string;
  /** As written, but for paths that must not be read from the hook's working folder (rule 3.2). */
  readonly args: readonly string[];
}

/**
 * Splits a command, expands `~` in every word and resolves what it would run. Starts nothing.
 * @returns the program, or why it cannot be started; never throws
 */
export function prepareCommand(command: string, place: CommandPlace): Program | Refusal {
  const words = commandWords(command, place);
  return Array.isArray(words) ? resolveProgram(words, place) : words;
}

/**
 * Resolves words to the program they start.
 * @returns the program, or why it cannot be started (rule 3.9); never throws
 */
export function resolveProgram(words: readonly string[], place: ProgramPlace): Program | Refusal {
  const [word, ...args] = words;
  if (word === undefined) return refuse("cannot be parsed", "it holds no word");
  if (words.some((one) => one.includes("\0"))) {
    return refuse("cannot be parsed", "it holds a NUL character");
  }
  if (place.windows) return { ok: true, file: word, argv0: word, args };
  const path = place.env.PATH;
  const program = locate(word, path, place);
  if (!program.ok) return program;
  const rest = anchorRest(words, shapeOf(words, path), place);
  return Array.isArray(rest) ? { ...program, args: rest } : rest;
}

/** One program by its word, checked. */
function locate(
  word: string,
  path: string | undefined,
  place: ProgramPlace,
): { ok: true; file: string; argv0: string } | Refusal {
  if (word === "") return refuse("command not found", quoted(word));
  const bare = !word.includes("/");
  const found = bare
    ? findInPath(word, path, place.startFolder)
    : { file: anchored(place.startFolder, word), throughRelative: !isAbsolute(word) };
  if (!("file" in found)) return found;
  const { file, throughRelative } = found;
  const refusal = (bare ? undefined : refuseFile(file, word)) ??
    refuseFirstLine(file, { ...place, path });
  return refusal ?? { ok: true, file, argv0: throughRelative && isElsewhere(place) ? file : word };
}

/** The arguments: nothing in them that is run may depend on the event's cwd (rule 3.2). */
function anchorRest(
  words: readonly string[],
  shape: Shape,
  place: ProgramPlace,
): string[] | Refusal {
  const args = words.slice(1);
  if (shape.programAt > 0) {
    const inner = locate(words[shape.programAt]!, shape.path, place);
    if (inner.ok) args[shape.programAt - 1] = inner.argv0;
    else if (shape.sure && !isLeftToEnv(inner)) return inner;
    else anchor(args, shape.programAt - 1, place);
  }
  if (shape.scriptAt !== undefined) {
    const word = words[shape.scriptAt]!;
    const script = findScript(word, shape.interpreter!, place.startFolder, shape.path);
    if (!script.found && shape.sure && looksLikeScript(word)) {
      return refuse("script not found", quoted(script.path));
    }
    if (!isAbsolute(word) && isElsewhere(place)) args[shape.scriptAt - 1] = script.path;
  }
  return isElsewhere(place)
    ? args.map((word, at) => anchoredArgument(word, at, args, place))
    : args;
}

/** `timeout 5 ./check.sh`: what names a program of the start folder goes on to do so. */
function anchoredArgument(
  word: string,
  at: number,
  args: readonly string[],
  place: ProgramPlace,
): string {
  if (!isRelativeProgram(word, place)) return word;
  const path = anchored(place.startFolder, word);
  return isInlineCode(args, at) ? quoteWords([path]) : path;
}

// env runs a file without "#!" through sh.
function isLeftToEnv(refusal: Refusal): boolean {
  return refusal.code === "exec format error";
}

function anchor(args: string[], at: number, place: ProgramPlace): void {
  if (args[at]!.includes("/") && isElsewhere(place)) {
    args[at] = anchored(place.startFolder, args[at]!);
  }
}
