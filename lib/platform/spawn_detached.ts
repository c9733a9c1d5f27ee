/**
 * Starting a process that outlives us: a session of its own, none of our descriptors, and all of
 * its stdin with the system before we go.
 */
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** What to start, and what to leave with it. */
export interface DetachedRequest {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** All of stdin. */
  readonly stdin: Uint8Array;
  /** A descriptor of ours to be its stderr; undefined: thrown away. */
  readonly stderr: number | undefined;
  /** Is its stdout a pipe to us? Otherwise it is thrown away. */
  readonly readStdout: boolean;
  /** How long it may take to take its stdin in, in ms. */
  readonly writeMs: number;
}

/** What came of starting. */
export type Detached =
  | {
    readonly ok: true;
    readonly pid: number;
    /** Empty unless asked for; ends with the process. */
    readonly stdout: AsyncIterable<Uint8Array>;
  }
  | { readonly ok: false; readonly reason: string };

interface Child {
  readonly pid: number;
  readonly stdout: AsyncIterable<Uint8Array>;
  /** Rejects when the process does not take it in. */
  readonly written: Promise<unknown>;
  /** Resolves when the process ends. */
  readonly ended: Promise<unknown>;
}

/** Starts it; resolves when the whole of stdin is written. Never rejects. */
export async function startDetached(request: DetachedRequest): Promise<Detached> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const { Bun: bun } = globalThis as { Bun?: BunRuntime };
    const child = bun ? startInBun(bun, request) : await startInNode(request);
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, request.writeMs, "it did not take its input in");
    });
    const fault = await Promise.race([
      // What did not reach it comes as an error, whatever its exit.
      child.written.then(() => undefined, codeOf),
      child.ended.then(() => "it ended before it took its input in"),
      late,
    ]);
    if (fault !== undefined) return { ok: false, reason: fault };
    return { ok: true, pid: child.pid, stdout: child.stdout };
  } catch (error) {
    return { ok: false, reason: codeOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? (error as Error).message;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

interface BunRuntime {
  spawn(command: readonly string[], options: {
    cwd: string;
    env: Readonly<Record<string, string>>;
    stdio: readonly ("pipe" | "ignore" | number)[];
    detached: true;
  }): {
    readonly pid: number;
    readonly stdin: { write(bytes: Uint8Array): unknown; end(): unknown };
    readonly stdout: ReadableStream<Uint8Array>;
    readonly exited: Promise<number>;
    unref(): void;
  };
}

/** `node:child_process` works in Bun too, but costs 6 ms to load. Bun passes no descriptors on. */
function startInBun(bun: BunRuntime, request: DetachedRequest): Child {
  const { file, args, cwd, env, stdin, stderr, readStdout } = request;
  const child = bun.spawn([file, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ["pipe", readStdout ? "pipe" : "ignore", stderr ?? "ignore"],
  });
  child.unref();
  child.stdin.write(stdin);
  return {
    pid: child.pid,
    stdout: readStdout ? child.stdout as unknown as AsyncIterable<Uint8Array> : nothing(),
    // It ends when the last byte is with the system.
    written: Promise.resolve(child.stdin.end()),
    ended: child.exited,
  };
}

async function startInNode(request: DetachedRequest): Promise<Child> {
  const { spawn } = await import("node:child_process");
  const { file, args, cwd, env, stdin, stderr, readStdout } = request;
  keepDescriptors();
  const child = spawn(file, [...args], {
    cwd,
    env: { ...env },
    detached: true,
    windowsHide: true,
    stdio: ["pipe", readStdout ? "pipe" : "ignore", stderr ?? "ignore"],
  });
  const failed = new Promise<never>((_, reject) => child.on("error", reject));
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const written = new Promise<void>((resolve, reject) => {
    child.stdin!.on("error", reject);
    child.stdin!.end(Buffer.from(stdin.buffer, stdin.byteOffset, stdin.length), resolve);
  });
  child.unref();
  return {
    pid: child.pid ?? 0,
    stdout: child.stdout ?? nothing(),
    written: Promise.race([written, failed]),
    ended,
  };
}

interface DenoRuntime {
  dlopen(library: string, symbols: Record<string, unknown>): {
    symbols: { fcntl(fd: number, command: number, value: number): number };
  };
}

const F_SETFD = 2, FD_CLOEXEC = 1, O_CLOEXEC = 0o2000000;

/**
 * Deno passes on every descriptor that our caller left open in us, and whoever waits for the end of
 * one would wait for the process we leave behind. Bun keeps them by itself.
 */
export function keepDescriptors(): void {
  if (process.platform !== "linux" || !("Deno" in globalThis)) return;
  try {
    const open = readdirSync("/proc/self/fd").map(Number).filter((fd) => fd > 2 && isPassedOn(fd));
    if (open.length === 0) return;
    const deno = (globalThis as unknown as { Deno: DenoRuntime }).Deno;
    const { symbols } = deno.dlopen("libc.so.6", {
      fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
    });
    for (const fd of open) symbols.fcntl(fd, F_SETFD, FD_CLOEXEC);
  } catch {
    // Without the permission or the library there is nothing to be done about it.
  }
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}
