/** Finding the script that an interpreter is given, before the interpreter looks for it. */
import { DEFAULT_PATH, kindOf } from "./lookup.ts";
import { anchored } from "./place.ts";

const SUFFIX = /\.(?:sh|bash|dash|ksh|zsh|py|pyw|pyc|pyz|js|mjs|cjs|ts|mts|cts|rb|pl)$/i;

/** Where an interpreter will find its script. */
export interface Script {
  /** Absolute: where it is, or where it was looked for. */
  readonly path: string;
  /** It is there, as far as can be told. */
  readonly found: boolean;
}

/**
 * Looks for the script `word` that `interpreter` is given.
 * @param path the PATH the interpreter gets: some shells look there for a bare name
 */
export function findScript(
  word: string,
  interpreter: string,
  startFolder: string,
  path: string | undefined,
): Script {
  const direct = anchored(startFolder, word);
  // What is there depends on who looks.
  if (/^\/(?:dev|proc)\//.test(word)) return { path: direct, found: true };
  if (kindOf(direct) !== "missing") return { path: direct, found: true };
  if (interpreter === "node") {
    // node takes a script by its module name too
    const found = [".js", ".json", ".node"].some((suffix) => kindOf(direct + suffix) === "file");
    return { path: direct, found };
  }
  if (/^(?:ba|k)sh$/.test(interpreter) && !word.includes("/")) {
    for (const entry of (path ?? DEFAULT_PATH).split(":")) {
      const candidate = anchored(anchored(startFolder, entry), word);
      if (kindOf(candidate) === "file") return { path: candidate, found: true };
    }
  }
  return { path: direct, found: false };
}

/** Is `word` surely meant as a script's file: a path, or a name with a script's suffix? */
export function looksLikeScript(word: string): boolean {
  return word.includes("/") || SUFFIX.test(word);
}
