/** A file that is no database, or only a part of one: told apart, and set aside, never deleted. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { Buffer } from "node:buffer";
import { withFlock } from "../../platform/flock.ts";

const MAGIC = "SQLite format 3\0";
const HEADER = 100;

/** What goes with the file: SQLite's log, and the index of that. */
const COMPANIONS = ["", "-wal", "-shm"];

const sizeOf = (file: string) => {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
};

/**
 * What is wrong with the file, as far as a look at its first bytes tells; undefined: nothing, or it
 * does not exist. Never throws; what cannot be read is not called broken.
 */
export function fileFault(file: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch {
    return undefined;
  }
  try {
    const head = Buffer.alloc(HEADER);
    const got = readSync(fd, head, 0, HEADER, 0);
    if (got === 0) return "is empty";
    if (got < HEADER || head.toString("latin1", 0, 16) !== MAGIC) return "is not a database";
    return cutShort(head, sizeOf(file), sizeOf(`${file}-wal`));
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** The header says how many pages there are, which counts while nothing waits in the log. */
function cutShort(head: Buffer, size: number, log: number): string | undefined {
  const raw = head.readUInt16BE(16);
  const page = raw === 1 ? 65_536 : raw;
  const valid = head.readUInt32BE(24) === head.readUInt32BE(92);
  if (log > 0 || !valid || size >= page * head.readUInt32BE(28)) return undefined;
  return "is cut short";
}

/** Does an error of `node:sqlite` say that the file itself is broken? */
export function isBroken(error: unknown): boolean {
  const { errcode, message = "" } = error as { errcode?: number; message?: string };
  if (errcode !== undefined) return (errcode & 0xff) === 11 || (errcode & 0xff) === 26;
  return /file is not a database|malformed/.test(message);
}

/** Runs `change` while nobody else sets the file aside or makes it. */
export function alone<T>(file: string, change: () => T): Promise<T> {
  return withFlock(`${file}.aside.lock`, change);
}

/**
 * Moves what there is of the file and its companions to `….broken-<UTC time>`; only when
 * {@link alone}.
 * @returns the new name, or undefined when nothing is there
 */
export function setAside(file: string, now: Date): string | undefined {
  const present = COMPANIONS.filter((companion) => existsSync(file + companion));
  if (present.length === 0) return undefined;
  const stamp = now.toISOString().replace(/[-:]/g, "").replace(/\..*/, "Z");
  const taken = (name: string) => COMPANIONS.some((companion) => existsSync(name + companion));
  let name = `${file}.broken-${stamp}`;
  for (let n = 2; taken(name); n++) name = `${file}.broken-${stamp}-${n}`;
  for (const companion of present) renameSync(file + companion, name + companion);
  return name;
}
