/** Why a process could not be started, in words (rule 3.9): what only the kernel could know. */
import { statSync } from "node:fs";
import { printable } from "../../../events/json.ts";

/** One line for an error that came from starting `file` in `cwd`. */
export function spawnFailure(error: unknown, file: string, cwd: string): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      if (!isFolder(cwd)) return `working folder not found: ${quoted(cwd)}`;
      if (isThere(file)) return `bad interpreter: the one ${quoted(file)} names does not exist`;
      return `command not found: ${quoted(file)}`;
    case "EACCES":
    case "EPERM":
      return `not executable: ${quoted(file)} (permission denied)`;
    case "ENOEXEC":
      return `exec format error: ${quoted(file)} is no program this system can run`;
    case "ELOOP":
      return `bad interpreter: too many follow one another from ${quoted(file)}`;
    case "E2BIG":
      return "could not be started: its arguments and environment are too long together";
    case "EAGAIN":
    case "ENOMEM":
      return "could not be started: the system is out of processes or memory; try again";
    case "EMFILE":
    case "ENFILE":
      return "could not be started: too many files are open; try again";
    case "ETXTBSY":
      return `could not be started: ${quoted(file)} is being written; try again`;
    case "ERR_INVALID_ARG_VALUE":
      return "could not be started: its command holds a NUL character";
    default:
      return `could not be started: ${printable(code || String(error)).split("\n")[0]}`;
  }
}

function quoted(text: string): string {
  return `"${printable(text)}"`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
