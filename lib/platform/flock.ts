/** Exclusive file locks between processes: flock(2), the kind Python's `fcntl.flock` takes. */

import * as fs from "node:fs";
import path from "node:path";
import process from "node:process";

/** How {@link withFlock} waits. */
export interface FlockOptions {
  /** How long another holder is waited for, in ms. Default 10,000; 0 tries once. */
  readonly waitMs?: number;
}

/** What {@link withFlock} throws when the lock stayed taken for the whole wait. */
export class FlockTimeout extends Error {
  constructor(readonly file: string, waitMs: number) {
    super(
      `"${file}" could not be locked within ${
        waitMs / 1000
      } s: another process holds it; try again`,
    );
    this.name = "FlockTimeout";
  }
}

interface Handle {
  /** Takes the lock if it is free; never blocks. */
  tryLock(): boolean;
  /** Unlocks and closes. */
  release(): void;
}

/**
 * Runs `fn` while holding an exclusive flock on `file`, and returns what it returns.
 * The file is created (0600) when missing and never removed: a removed lock file is two locks.
 * Two calls in one process exclude each other as two processes do.
 * @throws FlockTimeout when the lock stays taken; an `Error` with a `code` when `file` cannot be
 * opened; whatever `fn` throws, after releasing the lock
 */
export async function withFlock<T>(
  file: string,
  fn: () => T | Promise<T>,
  options: FlockOptions = {},
): Promise<T> {
  const waitMs = options.waitMs ?? 10_000;
  refuseLiteralTilde(file);
  const handle = await open(file);
  try {
    await take(handle, file, waitMs);
    return await fn();
  } finally {
    handle.release();
  }
}

/** Throws when `file` would be created below a folder literally named `~` (rule 1.1). */
export function refuseLiteralTilde(file: string): void {
  if (!path.isAbsolute(file) || file.split(/[\\/]/).includes("~")) {
    throw Object.assign(new Error(`"${file}" is not an absolute path with "~" expanded`), {
      code: "EINVAL",
    });
  }
}

// A blocking flock would need a thread of its own and could not be given up, so the lock is
// polled. The wait stays short and uneven: peers that block in the kernel get it the moment it is
// free, and a poller with long, regular sleeps would starve behind them.
async function take(handle: Handle, file: string, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  let pause = 1;
  while (!handle.tryLock()) {
    const left = deadline - performance.now();
    if (left <= 0) throw new FlockTimeout(file, waitMs);
    await new Promise((done) => setTimeout(done, Math.min(left, pause * (0.5 + Math.random()))));
    pause = Math.min(pause * 1.5, 8);
  }
}

function create(file: string): number {
  const { O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  try {
    const fd = fs.openSync(file, O_RDWR | O_CREAT | O_EXCL, 0o600);
    giveToFolderOwner(fd, file);
    return fd;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return fs.openSync(file, O_RDWR | O_CREAT, 0o600);
  }
}

// A lock file that root made in a user's home must not shut that user out for ever.
function giveToFolderOwner(fd: number, file: string): void {
  try {
    const folder = fs.statSync(path.dirname(file));
    if (folder.uid !== fs.fstatSync(fd).uid) fs.fchownSync(fd, folder.uid, folder.gid);
  } catch {
    // Only root may give files away; for everyone else there is nothing to mend.
  }
}

async function open(file: string): Promise<Handle> {
  if (process.versions.bun !== undefined) return await openInBun(file);
  return openInDeno(file);
}

interface DenoFile {
  tryLockSync(exclusive: boolean): boolean;
  unlockSync(): void;
  close(): void;
}
interface DenoFiles {
  openSync(file: string, options: { read: boolean; write: boolean }): DenoFile;
}

function openInDeno(file: string): Handle {
  fs.closeSync(create(file));
  const deno = (globalThis as unknown as { Deno: DenoFiles }).Deno;
  const handle = deno.openSync(file, { read: true, write: true });
  return {
    tryLock: () => handle.tryLockSync(true),
    release: () => {
      // Unlocking, not only closing: a child that inherited the descriptor would keep the lock.
      try {
        handle.unlockSync();
      } finally {
        handle.close();
      }
    },
  };
}

interface BunFfi {
  dlopen(
    library: string,
    symbols: { flock: { args: readonly ["i32", "i32"]; returns: "i32" } },
  ): { symbols: { flock(fd: number, operation: number): number } };
}

const LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8;

async function openInBun(file: string): Promise<Handle> {
  const flock = await loadFlock();
  const fd = create(file);
  return {
    tryLock: () => flock(fd, LOCK_EX | LOCK_NB) === 0,
    release: () => {
      flock(fd, LOCK_UN);
      fs.closeSync(fd);
    },
  };
}

async function loadFlock(): Promise<(fd: number, operation: number) => number> {
  // Windows has no flock; the rename that replaces a file still keeps each write whole there.
  if (process.platform === "win32") return () => 0;
  const { dlopen } = await import("bun:ffi" as string) as BunFfi;
  for (const library of cLibraries()) {
    try {
      return dlopen(library, { flock: { args: ["i32", "i32"], returns: "i32" } }).symbols.flock;
    } catch {
      // The next name may be the one this system's C library goes by.
    }
  }
  throw Object.assign(new Error("this system's C library offers no flock"), { code: "ENOSYS" });
}

function cLibraries(): string[] {
  if (process.platform === "darwin") return ["libSystem.dylib"];
  const musl = process.arch === "arm64" ? "aarch64" : "x86_64";
  return ["libc.so.6", `libc.musl-${musl}.so.1`, "libc.so"];
}
