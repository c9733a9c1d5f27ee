/** The terminal and the standard streams: the only place the commands read and write through. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import process from "node:process";

/** What a payload may weigh, in bytes (section 11). */
export const MAX_PAYLOAD = 64 * 1024 * 1024;

/** What {@link readAll} found. */
export type ReadResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** {@link ReadResult}, with the bytes as they came. */
export type BytesResult = { readonly ok: true; readonly bytes: Uint8Array } | {
  readonly ok: false;
  readonly reason: string;
};

/** Standard streams as the commands see them. */
export interface Io {
  readonly stdinTty: boolean;
  readonly stdoutTty: boolean;
  readonly stderrTty: boolean;
  /** Writes to stdout; false when not all of it could be written. */
  out(text: string): boolean;
  /** Writes to stderr; likewise. */
  err(text: string): boolean;
  /** Everything on stdin, as UTF-8. */
  readStdin(): Promise<ReadResult>;
  /** Everything on stdin as it came, for what was signed byte by byte. */
  readStdinBytes(): Promise<BytesResult>;
  /** Everything in a file, as UTF-8, under the same limit. */
  readFile(file: string): Promise<ReadResult>;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? "unknown error";

/** Blocks until all is written: an exit right after must not cut a verdict short. */
function writeAll(fd: number, text: string): boolean {
  const bytes = new TextEncoder().encode(text);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      // A pipe that somebody made non-blocking is full: wait for its reader.
      if (codeOf(error) !== "EAGAIN") return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
}

async function readFd(fd: number, what: string): Promise<ReadResult> {
  const read = await readBytes(fd, what);
  return read.ok ? { ok: true, text: new TextDecoder().decode(read.bytes) } : read;
}

async function readBytes(fd: number, what: string): Promise<BytesResult> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = new Uint8Array(size === 0 ? 16_384 : 1_048_576);
    let got = 0;
    try {
      got = readSync(fd, chunk, 0, chunk.length, null);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EOF" || code === "EBADF") break;
      if (code !== "EAGAIN") return { ok: false, reason: `${what} cannot be read: ${code}` };
      await pause(2);
      continue;
    }
    if (got === 0) break;
    size += got;
    if (size > MAX_PAYLOAD) return { ok: false, reason: `${what} is over 64 MiB` };
    chunks.push(chunk.subarray(0, got));
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return { ok: true, bytes: all };
}

async function readFile(file: string): Promise<ReadResult> {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    const code = codeOf(error);
    return { ok: false, reason: `${file}: ${code === "ENOENT" ? "no such file" : code}` };
  }
  try {
    return await readFd(fd, file);
  } finally {
    closeSync(fd);
  }
}

// node:tty costs milliseconds to load, and nothing but a character device can be a terminal.
function isTerminal(fd: number): boolean {
  try {
    if (!fstatSync(fd).isCharacterDevice()) return false;
  } catch {
    return false; // closed
  }
  return process.getBuiltinModule("node:tty").isatty(fd);
}

/** The process's own streams. */
export function processIo(): Io {
  return {
    stdinTty: isTerminal(0),
    stdoutTty: isTerminal(1),
    stderrTty: isTerminal(2),
    out: (text) => writeAll(1, text),
    err: (text) => writeAll(2, text),
    readStdin: () => readFd(0, "stdin"),
    readStdinBytes: () => readBytes(0, "stdin"),
    readFile,
  };
}
