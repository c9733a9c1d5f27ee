/** rule 5.3b: a long context is written whole to a file, and cut visibly. */
import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { SpillSettings } from "../config/settings.ts";
import { firstChars } from "../events/json.ts";

/** A session's name as a folder name: letters, digits, `.`, `_`, `-`; never `.` or `..`, never long. */
export function safeName(session: string): string {
  const name = session.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 100).replace(/^\.+/, "_");
  return name || "no-session";
}

/** The last `count` characters, in code points. */
function lastChars(text: string, count: number): string {
  if (count === 0) return "";
  return [...text.slice(-2 * count)].slice(-count).join("");
}

/** Everything we make on the way is ours alone; a folder that was there keeps its mode. */
function makeFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
  // A link put there by somebody else must not send the text elsewhere.
  if (!lstatSync(folder).isDirectory()) throw new Error("is no folder");
}

function writeSpill(text: string, folder: string): string {
  makeFolder(folder);
  const file = path.join(folder, `context-${Date.now()}-${randomBytes(4).toString("hex")}.txt`);
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  return file;
}

/** Counts code points without building an array. */
function length(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return count;
}

/** What {@link spill} needs to know beside the text. */
export interface SpillPlace {
  readonly settings: SpillSettings;
  /** Absolute; a relative `directory` stands below it. */
  readonly home: string;
  readonly session: string;
  readonly expandTilde: (word: string) => string;
}

/**
 * Returns the context as it is when it is short enough; else writes it to a file and returns a head
 * and a tail around a line that says how long it was and where the rest is. A file that cannot be
 * written is said in that line: the context is cut all the same, never in silence.
 */
export function spill(text: string, { settings, home, session, expandTilde }: SpillPlace): string {
  if (!settings.enabled || text.length <= settings.maxChars) return text;
  const chars = length(text);
  if (chars <= settings.maxChars) return text;
  const root = path.resolve(home, expandTilde(settings.directory ?? "hook_outputs"));
  let where: string;
  try {
    where = `the whole of it is in ${writeSpill(text, path.join(root, safeName(session)))}`;
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    where = `the rest is lost: ${root} could not be written (${why})`;
  }
  const head = firstChars(text, settings.previewHead);
  const tail = lastChars(text, Math.min(settings.previewTail, chars - settings.previewHead));
  return `${head}\n[… context of ${chars} characters cut here; ${where} …]\n${tail}`;
}
