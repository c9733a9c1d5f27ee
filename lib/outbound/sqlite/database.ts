/** The file: made, opened, found broken and begun anew. */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Context } from "../../context.ts";
import { refuseLiteralTilde } from "../../platform/flock.ts";
import { NotAccepted } from "../engine.ts";
import { alone, fileFault, isBroken, setAside } from "./broken.ts";
import { BUSY_MS, whenFree } from "./busy.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** The file of a home. */
export function databaseFile(home: string): string {
  return path.join(home, "outbound.db");
}

const CONNECTION = `
PRAGMA busy_timeout = 20;
PRAGMA synchronous = FULL;
PRAGMA journal_size_limit = 33554432;
PRAGMA wal_autocheckpoint = 500;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -16000;
`;

/**
 * Opens it, making it when it is missing. A broken one is set aside with a line in the log, and a
 * fresh one begun.
 * @throws NotAccepted when it cannot be had
 */
export async function openDatabase(
  home: string,
  log: Context["log"],
  now: () => Date,
): Promise<DatabaseSync> {
  const file = databaseFile(home);
  refuseLiteralTilde(file);
  try {
    for (let tries = 0;; tries++) {
      if (!existsSync(file)) await make(file, log, now);
      const opened = fileFault(file) ?? await whenFree(() => open(file));
      if (typeof opened !== "string") return opened;
      if (tries === 2) throw new NotAccepted(`"${file}" ${opened}`, "unavailable");
      await replaceBroken(file, opened, log, now);
    }
  } catch (error) {
    throw storeError(file, error);
  }
}

/** Sets a broken file aside and says so; the next open begins a fresh one. */
export async function replaceBroken(
  file: string,
  fault: string,
  log: Context["log"],
  now: () => Date,
): Promise<void> {
  const name = await alone(
    file,
    () => existsSync(file) && isFileBroken(file) ? setAside(file, now()) : undefined,
  );
  if (name === undefined) return;
  log(
    "error",
    `"${file}" ${fault}: it is broken and was set aside as "${path.basename(name)}", and a fresh ` +
      "one begun; what waited in it was not delivered",
  );
}

/** Looks at all of it. Throws when it cannot be looked at, which does not make it a broken one. */
function isFileBroken(file: string): boolean {
  const opened = fileFault(file) ?? open(file);
  if (typeof opened === "string") return true;
  try {
    const says = (check: string) => opened.prepare(`PRAGMA ${check}(1)`).get()?.[check];
    // The second one compares the indexes with the rows, and takes its time.
    return says("quick_check") !== "ok" || says("integrity_check") !== "ok";
  } catch (error) {
    if (isBroken(error)) return true;
    throw error;
  } finally {
    opened.close();
  }
}

/** Opens it; what is wrong when it is broken. */
function open(file: string): DatabaseSync | string {
  const database = new DatabaseSync(file);
  const shut = () => {
    try {
      database.close();
    } catch {
      // It never came to be open.
    }
  };
  try {
    database.exec(CONNECTION);
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version > SCHEMA_VERSION) {
      throw new NotAccepted(
        `"${file}" was written by a later version of hermes-hooks: update this one`,
        "unavailable",
      );
    }
    if (version === SCHEMA_VERSION && hasTables(database)) return database;
    shut();
    return "holds no deliveries";
  } catch (error) {
    shut();
    if (isBroken(error)) return "is not a database";
    throw error;
  }
}

function hasTables(database: DatabaseSync): boolean {
  const names = "SELECT count(*) AS n FROM sqlite_schema WHERE name IN ('target', 'delivery')";
  return Number(database.prepare(names).get()?.["n"]) === 2;
}

/**
 * Makes the file whole elsewhere and puts it in its place, so that nobody ever sees a part of one.
 * When another process was quicker, its file is the one.
 */
async function make(file: string, log: Context["log"], now: () => Date): Promise<void> {
  const aside = await alone(file, () => {
    if (existsSync(file)) return undefined;
    // The log of a file that is gone would be taken for the new one's.
    const left = setAside(file, now());
    makeAlone(file, `${file}.new`);
    return left;
  });
  if (aside === undefined) return;
  log(
    "error",
    `"${file}" was removed, but not its log: that was set aside as "${
      path.basename(aside)
    }-wal", ` +
      "and a fresh file begun",
  );
}

function makeAlone(file: string, fresh: string): void {
  const folder = path.dirname(file);
  const sweep = () => ["", "-wal", "-shm"].forEach((end) => rmSync(fresh + end, { force: true }));
  // What a process left that was killed here.
  sweep();
  try {
    closeSync(openSync(fresh, "wx", 0o600));
    chmodSync(fresh, 0o600);
    giveToOwnerOf(folder, fresh);
    const database = new DatabaseSync(fresh);
    try {
      database.exec(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
      );
      database.exec(`BEGIN;${SCHEMA}COMMIT;`);
    } finally {
      database.close();
    }
    renameSync(fresh, file);
    syncFolder(folder);
  } finally {
    sweep();
  }
}

/** What root made in a user's home must not shut that user out. */
function giveToOwnerOf(folder: string, file: string): void {
  const { uid, gid } = statSync(folder);
  if (uid === statSync(file).uid) return;
  try {
    chownSync(file, uid, gid);
  } catch {
    // Only root may give files away.
  }
}

/** A name that is not on disk yet is lost with the power. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** What a failure of the store says to whoever wanted to hand something in. */
export function storeError(file: string, error: unknown): Error {
  if (error instanceof NotAccepted) return error;
  const { message = String(error), code } = error as { message?: string; code?: string };
  const why = /database or disk is full|ENOSPC/.test(`${message} ${code}`)
    ? "the disk is full"
    : /readonly|read-only|EROFS|EACCES|EPERM|unable to open/.test(`${message} ${code}`)
    ? `it cannot be written (${message})`
    : /locked|busy/.test(message)
    ? `another process held it for more than ${BUSY_MS / 1000} s`
    : message;
  return new NotAccepted(`"${file}": ${why}`, "unavailable");
}
