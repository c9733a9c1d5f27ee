/** The way of Bun on Linux to start a process: pipes from libc, `Bun.spawn` around them. */
import * as fs from "node:fs";
import { constants as os } from "node:os";
import process from "node:process";
import type { StartedProcess, StartEvents, StartRequest } from "./spawn.ts";

/** What is used of the global `Bun`. */
export interface BunRuntime {
  spawn(command: readonly string[], options: {
    argv0: string;
    cwd: string;
    env: Readonly<Record<string, string>>;
    stdio: readonly number[];
    detached: true;
    onExit(child: unknown, code: number | null, signal: string | number | null): void;
  }): { readonly pid: number; unref(): void };
  file(descriptor: number): { stream(): ReadableStream<Uint8Array> };
}

export interface LibC {
  pipe2(descriptors: Int32Array, flags: number): number;
  fcntl(descriptor: number, command: number, value: number): number;
}

interface BunFfi {
  dlopen(library: string, symbols: Record<keyof LibC, unknown>): { symbols: LibC };
}

const O_CLOEXEC = 0o2000000, O_NONBLOCK = 0o4000, F_SETFL = 4, F_SETPIPE_SZ = 1031;
/** What a pipe holds unless told otherwise, and the most one may be told without privilege. */
const PIPE_BYTES = 65_536, PIPE_MOST_BYTES = 1_048_576;

let loaded: LibC | null | undefined;

/** The pipe calls of this system's libc; undefined when it cannot be reached. */
export function loadPipes(): LibC | undefined {
  loaded ??= load();
  return loaded ?? undefined;
}

function load(): LibC | null {
  try {
    const ffi = process.getBuiltinModule("bun:ffi" as "node:fs") as unknown as BunFfi;
    // This one name always means the C library that is loaded already: musl takes any "libc.…" for
    // itself. A name that is not found would be looked for in the working folder, so no others.
    return ffi.dlopen("libc.so.6", {
      pipe2: { args: ["ptr", "i32"], returns: "i32" },
      fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    }).symbols;
  } catch {
    return null;
  }
}

/** One pipe: `theirs` is the hook's side, `ours` never blocks. Neither outlives an exec. */
export interface Pipe {
  readonly ours: number;
  readonly theirs: number;
}

/** Opens one. @throws Error with a `code` when there is none to be had */
export function openPipe(libc: LibC, weWrite: boolean): Pipe {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) {
    throw Object.assign(new Error("no pipe to be had"), { code: "EMFILE" });
  }
  const [ours, theirs] = weWrite ? [ends[1]!, ends[0]!] : [ends[0]!, ends[1]!];
  libc.fcntl(ours, F_SETFL, O_NONBLOCK);
  return { ours, theirs };
}

/** Starts a process as `startProcess` does, but throws when it cannot be started. */
export function startWithPipes(
  bun: BunRuntime,
  libc: LibC,
  request: StartRequest,
  events: StartEvents,
): StartedProcess {
  const pipes: Pipe[] = [];
  const spawn = () => {
    for (const weWrite of [true, false, false]) pipes.push(openPipe(libc, weWrite));
    return bun.spawn([request.file, ...request.args], {
      argv0: request.argv0,
      cwd: request.cwd,
      env: request.env,
      stdio: pipes.map((pipe) => pipe.theirs),
      detached: true,
      onExit: (_child, code, signal) => events.exited(code, signalName(signal)),
    });
  };
  let child;
  try {
    child = spawn();
  } catch (error) {
    for (const pipe of pipes) fs.closeSync(pipe.ours);
    throw error;
  } finally {
    for (const pipe of pipes) fs.closeSync(pipe.theirs);
  }
  const [stdin, stdout, stderr] = pipes as [Pipe, Pipe, Pipe];
  const { pid } = child;
  const stopWriting = write(libc, stdin.ours, request.stdin);
  const stopReading = [
    read(bun, stdout.ours, "stdout", events),
    read(bun, stderr.ours, "stderr", events),
  ];
  const release = () => {
    stopWriting();
    for (const stop of stopReading) stop();
    child.unref();
  };
  return { pid, closeStdin: stopWriting, release };
}

/** A signal's name, however Bun gives it. */
export function signalName(signal: string | number | null): string | null {
  if (typeof signal !== "number") return signal;
  return Object.entries(os.signals).find(([, n]) => n === signal)?.[0] ?? `signal ${signal}`;
}

/** Reads to the end, telling `events`; the answer gives it up. Takes `fd` over. */
export function read(
  bun: Pick<BunRuntime, "file">,
  fd: number,
  stream: "stdout" | "stderr",
  events: Pick<StartEvents, "output" | "ended">,
): () => void {
  const reader = bun.file(fd).stream().getReader();
  // The reader has a duplicate of its own, which it closes at the end or when given up.
  fs.closeSync(fd);
  const pump = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      events.output(stream, value);
    }
  };
  pump().catch(() => {}).then(() => events.ended(stream));
  return () => void reader.cancel().catch(() => {});
}

/**
 * Writes `bytes` and closes; the answer gives it up. Takes `fd` over. Payloads mostly fit into the
 * pipe and are gone at once; the rest is offered again at short intervals, because Bun's own
 * writer cannot be given up while a background child keeps a full pipe open.
 */
function write(libc: LibC, fd: number, bytes: Uint8Array): () => void {
  if (bytes.length > PIPE_BYTES) {
    libc.fcntl(fd, F_SETPIPE_SZ, Math.min(bytes.length, PIPE_MOST_BYTES));
  }
  let at = 0, pauseMs = 1, open = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    fs.closeSync(fd);
  };
  const offer = () => {
    const before = at;
    try {
      while (at < bytes.length) at += fs.writeSync(fd, bytes, at, bytes.length - at);
      close();
    } catch (error) {
      // rule 3.4: a broken pipe is not a failure
      if ((error as { code?: string }).code !== "EAGAIN") return close();
      pauseMs = at > before ? 1 : Math.min(pauseMs * 2, 16);
      timer = setTimeout(offer, pauseMs);
    }
  };
  offer();
  return close;
}
