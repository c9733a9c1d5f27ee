/** Laying out a home: folders, a config to start from, and ready-made hooks; nothing is replaced. */
import fs from "node:fs";
import path from "node:path";
import type { ReadyHook } from "./ready.ts";

/** What became of one file or folder. */
export interface Laid {
  readonly path: string;
  /** `kept`: something was there already, and was left as it is. */
  readonly did: "made" | "kept";
  /** Why it is worth a word, such as that what is there is another version. */
  readonly note?: string;
}

/** The folders of a home. */
export const FOLDERS = ["agent-hooks", "hooks", "plugins", "logs"] as const;

function makeFolder(folder: string): Laid {
  const there = fs.statSync(folder, { throwIfNoEntry: false });
  if (there?.isDirectory()) return { path: folder, did: "kept" };
  if (there) throw new Error(`"${folder}" is there, and is no folder`);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { path: folder, did: "made" };
}

/** Writes a file that must not be there yet; false when there is one, be it a link to nothing. */
function writeNew(file: string, text: string, mode: number): boolean {
  let fd: number;
  try {
    fd = fs.openSync(file, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    fs.writeFileSync(fd, text);
    fs.fchmodSync(fd, mode); // the umask may have taken bits
  } finally {
    fs.closeSync(fd);
  }
  return true;
}

/**
 * Makes the home (0700) with its folders, and the config (0600), where they are missing.
 * @param config the text of a new config
 * @throws Error with one clear line when something cannot be made
 */
export function layOutHome(home: string, configFile: string, config: string): Laid[] {
  const laid = [home, ...FOLDERS.map((name) => path.join(home, name))].map(makeFolder);
  const wrote = writeNew(configFile, config, 0o600);
  return [...laid, { path: configFile, did: wrote ? "made" : "kept" }];
}

/** Where a ready-made hook's files go. */
export function folderOf(home: string, hook: ReadyHook): string {
  return hook.kind === "shell"
    ? path.join(home, "agent-hooks")
    : path.join(home, "hooks", hook.name);
}

function sameText(file: string, text: string): boolean {
  try {
    return fs.readFileSync(file, "utf8") === text;
  } catch {
    return false;
  }
}

const OTHER = "is not the ready-made one; compare it, or move it away and run init again";

/**
 * Puts a ready-made hook's files in their place: a shell hook executable (0755), a gateway hook
 * with its folder, which is left alone as a whole when it is there.
 * @throws Error with one clear line when something cannot be made
 */
export function installHook(home: string, hook: ReadyHook): Laid[] {
  const folder = folderOf(home, hook);
  if (hook.kind === "gateway" && fs.lstatSync(folder, { throwIfNoEntry: false })) {
    const same = [...hook.files].every(([name, text]) => sameText(path.join(folder, name), text));
    return [{ path: folder, did: "kept", ...(same ? {} : { note: OTHER }) }];
  }
  return [...hook.files].map(([name, text]) => {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const mode = hook.kind === "shell" ? 0o755 : 0o644;
    if (writeNew(file, text, mode)) return { path: file, did: "made" };
    return { path: file, did: "kept", ...(sameText(file, text) ? {} : { note: OTHER }) };
  });
}
