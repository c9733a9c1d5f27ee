/**
 * Whose turn it is to send from a home's file: one process at a time, by a flock that the kernel
 * frees when its holder ends, however it ends. So what was under way is taken up again at once.
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { FlockTimeout, withFlock } from "../../platform/flock.ts";

/** Who sends. */
export type Role = "listener" | "sender";

/** Gives the turn back. */
export type Release = () => void;

/** The lock of a database file. */
export const lockOf = (file: string) => `${file}.sending.lock`;

/** How often, and at what distance in ms, the lock is tried while its holder has no name. */
const TRIES = 20, TRY_MS = 5;

/** Takes the turn if nobody has it, and says who we are; undefined: somebody has it. */
export async function takeTurn(file: string, role: Role): Promise<Release | undefined> {
  for (let tries = 1;; tries++) {
    const release = await hold(lockOf(file));
    if (release) {
      say(file, `${role} ${process.pid}\n`);
      return () => {
        say(file, "");
        release();
      };
    }
    // Whoever holds it without a name only looks whose turn it is, and has done so in a moment.
    if (tries === TRIES || said(file) !== undefined) return undefined;
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
}

/** Who has it now; undefined: nobody. */
export async function whoseTurn(file: string): Promise<Role | undefined> {
  const release = await hold(lockOf(file));
  if (!release) return said(file);
  release();
  return undefined;
}

/** Who says to have it, and lives: a killed holder's name stays. Only while the lock is held. */
export function said(file: string): Role | undefined {
  try {
    const [, role, pid] = /^(listener|sender) (\d+)$/m.exec(readFileSync(lockOf(file), "utf8")) ??
      [];
    return role !== undefined && isAlive(Number(pid)) ? role as Role : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be asked, but it is there.
    return (error as { code?: string }).code === "EPERM";
  }
}

function say(file: string, text: string): void {
  try {
    writeFileSync(lockOf(file), text);
  } catch {
    // Only a hint for others: a full disk must not keep us from sending.
  }
}

function hold(lock: string): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    withFlock(lock, () => new Promise<void>((release) => resolve(release)), { waitMs: 0 })
      .catch((error) => error instanceof FlockTimeout ? resolve(undefined) : reject(error));
  });
}
