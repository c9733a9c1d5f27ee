/** Starting a hook host: a child in a group of its own, with a private pipe beside its streams. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import process from "node:process";
import { signalGroup } from "./spawn.ts";
import { keepDescriptors } from "./spawn_detached.ts";

/** The descriptor at which a host finds its end of the private pipe. */
export const HOST_PIPE = 3;

/** What to start. */
export interface HostRequest {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Told as things happen; nothing comes after `ended`, which comes once. */
export interface HostEvents {
  /** Bytes on the private pipe. */
  received(bytes: Uint8Array): void;
  /** What the host printed. */
  printed(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** It exited, was killed, or could not be started: `why` says which, such as `exited with code 3`. */
  ended(why: string): void;
}

/** A host under way. It does not keep our own process alive. */
export interface StartedHost {
  /** Its id, which is also its group's; undefined when it could not be started. */
  readonly pid: number | undefined;
  send(text: string): void;
  /** Signals the whole group; false when nothing is left of it. */
  signal(name: "SIGTERM" | "SIGKILL"): boolean;
  /** Closes our side of everything. */
  release(): void;
}

/** What is said and printed right before the end is read before the end is told, at most so long. */
const LAST_WORDS_MS = 200;

/** Starts it. Never throws: see {@link HostEvents.ended}. */
export function startHostProcess(request: HostRequest, events: HostEvents): StartedHost {
  try {
    return start(request, events);
  } catch (error) {
    queueMicrotask(() => events.ended(`could not be started: ${codeOf(error)}`));
    return { pid: undefined, send() {}, signal: () => false, release() {} };
  }
}

function start(request: HostRequest, events: HostEvents): StartedHost {
  keepDescriptors();
  const child = spawn(request.file, [...request.args], {
    cwd: request.cwd,
    env: { ...request.env },
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const pipe = child.stdio[HOST_PIPE] as Duplex | undefined;
  const streams = [child.stdout, child.stderr, pipe] as (Readable | undefined)[];
  child.stdout?.on("data", (bytes: Uint8Array) => events.printed("stdout", bytes));
  child.stderr?.on("data", (bytes: Uint8Array) => events.printed("stderr", bytes));
  pipe?.on("data", (bytes: Uint8Array) => events.received(bytes));
  const release = () => {
    for (const stream of streams) stream?.destroy();
  };
  watchEnd(child, streams, (why) => {
    release();
    events.ended(why);
  });
  letGo(child, streams);
  return {
    pid: child.pid,
    send: (text) => void (pipe?.writable && pipe.write(text)),
    signal: (name) => child.pid !== undefined && signalGroup(child.pid, name),
    release,
  };
}

/** The end is the exit of the host itself, whoever else holds its pipes, plus what is left in them. */
function watchEnd(
  child: ChildProcess,
  streams: readonly (Readable | undefined)[],
  ended: (why: string) => void,
): void {
  let open = streams.length, why: string | undefined;
  const tell = () => {
    if (why === undefined) return;
    ended(why);
    ended = () => {};
  };
  for (const stream of streams) {
    // A host that dies with something unread resets its pipe: that is its end, no more.
    stream?.on("error", () => {});
    stream?.on("close", () => --open === 0 && tell());
  }
  child.on("error", (error) => {
    why ??= `could not be started: ${codeOf(error)}`;
    tell();
  });
  child.on("exit", (code, signal) => {
    why ??= signal ? `was ended by ${signal}` : `exited with code ${code}`;
    if (open === 0) return tell();
    setTimeout(tell, LAST_WORDS_MS);
  });
}

/** Lets our own process end while the host runs; the host follows when its pipe is at its end. */
function letGo(child: ChildProcess, streams: readonly unknown[]): void {
  // Deno throws for a child that never was.
  if (child.pid !== undefined) child.unref();
  for (const stream of streams) (stream as { unref?(): void } | undefined)?.unref?.();
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? (error as Error).message;
}

/**
 * What a process keeps in memory of its own, in MiB: files it has mapped are not counted. Undefined
 * where the system does not tell.
 */
export function ownMemoryMb(pid: number, read: (file: string) => string): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const status = read(`/proc/${pid}/status`);
    const kib = (name: string) =>
      Number(new RegExp(`^${name}:\\s*([0-9]+) kB`, "m").exec(status)?.[1]);
    const own = kib("RssAnon") + kib("RssShmem");
    const mib = Number.isNaN(own) ? kib("VmRSS") : own;
    return Number.isNaN(mib) ? undefined : mib / 1024;
  } catch {
    return undefined;
  }
}
