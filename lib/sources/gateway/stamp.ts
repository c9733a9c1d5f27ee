/** Tells whether a hook's files are those it was loaded from: a reload starts only what has changed. */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** What a handler can be made of; what it writes beside itself, such as a log, is none of it. */
const SOURCES = /\.(?:[cm]?[jt]sx?|json|py|ya?ml|toml)$/i;
/** Folders whose contents are other people's, or made from what is looked at. */
const SKIPPED = new Set(["node_modules", "__pycache__", ".git", ".venv", "venv"]);
const MOST_DEPTH = 4;
const MOST_FILES = 1000;

function add(folder: string, depth: number, parts: string[]): void {
  for (const name of readdirSync(folder).sort()) {
    if (parts.length >= MOST_FILES) return;
    const file = path.join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isDirectory() && depth < MOST_DEPTH && !SKIPPED.has(name)) {
      add(file, depth + 1, parts);
    } else if (stat?.isFile() && SOURCES.test(name)) {
      parts.push(`${file}\0${stat.mtimeMs}\0${stat.size}\0${stat.ino}`);
    }
  }
}

/** The state of a folder's sources, as text to compare. */
export function stampOf(folder: string): string {
  const parts: string[] = [];
  try {
    add(folder, 0, parts);
  } catch {
    parts.push("unreadable");
  }
  return parts.join("\n");
}
