/** Looking at files before anything is started: what is there, and what PATH finds. */
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { quoteWords } from "../words.ts";
import { anchored } from "./place.ts";
import { quoted, type Refusal, refuse } from "./refusal.ts";

/** Where programs are looked for when the environment has no PATH. */
export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** `unreachable`: a folder on the way is closed to us; `circle`: links that lead to each other. */
export type FileKind = "missing" | "unreachable" | "circle" | "folder" | "file" | "other";

/** What is at `path`, links followed. */
export function kindOf(path: string): FileKind {
  try {
    const stat = statSync(path);
    return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === "ELOOP") return "circle";
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unreachable";
  }
}

/** May we execute it? On a mount without execution: no. */
export function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Is it a regular file that we may execute? */
export function isProgram(path: string): boolean {
  return kindOf(path) === "file" && canExecute(path);
}

/** What is wrong with running the file at `path`, written as `word`; undefined: nothing seen. */
export function refuseFile(path: string, word: string): Refusal | undefined {
  switch (kindOf(path)) {
    case "missing":
      return refuse("command not found", missing(path, word));
    case "unreachable":
      return refuse("not executable", `${quoted(path)} (permission denied on the way to it)`);
    case "circle":
      return refuse("command not found", `${quoted(path)} is a link that leads in a circle`);
    case "folder":
      return refuse("not executable", `${quoted(path)} is a folder; name a program in it`);
    case "other":
      return refuse("not executable", `${quoted(path)} is no regular file`);
    case "file":
      return canExecute(path) ? undefined : notExecutable(path);
  }
}

function missing(path: string, word: string): string {
  return path === word ? quoted(word) : `${quoted(word)} (there is no ${quoted(path)})`;
}

function notExecutable(path: string): Refusal {
  const name = path.startsWith("-") ? `./${path}` : path;
  const hint = quoted(quoteWords([name])).slice(1, -1);
  return refuse("not executable", `${quoted(path)} (run: chmod +x ${hint})`);
}

/** A program that PATH led to. */
export interface Found {
  /** Absolute. */
  readonly file: string;
  /** It was a relative entry of PATH that led there: elsewhere it would lead elsewhere. */
  readonly throughRelative: boolean;
}

/**
 * Looks a bare name up as execvp does: the first file that may be executed; if there is none, the
 * first that is there but may not be is what is wrong.
 * @param path the PATH, or undefined for {@link DEFAULT_PATH}; empty entries are `startFolder`
 */
export function findInPath(
  name: string,
  path: string | undefined,
  startFolder: string,
): Found | Refusal {
  let closed: string | undefined;
  for (const entry of (path ?? DEFAULT_PATH).split(":")) {
    const file = anchored(anchored(startFolder, entry), name);
    if (kindOf(file) !== "file") continue;
    if (canExecute(file)) return { file, throughRelative: !isAbsolute(entry) };
    closed ??= file;
  }
  return closed === undefined ? refuse("command not found", quoted(name)) : notExecutable(closed);
}
