/**
 * Starting a command through libc's `posix_spawn`, under Bun on Linux. It keeps what `Bun.spawn`
 * takes away: ignored signals (`nohup`), open descriptors above 2 (locks, a job server's pipes), an
 * environment that is no UTF-8, and the number of a real-time signal.
 */
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { Orphans } from "./orphans.ts";

interface Spawn {
  posix_spawn(
    pid: Int32Array,
    file: Uint8Array,
    actions: Uint8Array | null,
    attributes: Uint8Array,
    argv: BigUint64Array,
    env: BigUint64Array,
  ): number;
  posix_spawn_file_actions_init(actions: Uint8Array): number;
  posix_spawn_file_actions_adddup2(actions: Uint8Array, from: number, to: number): number;
  posix_spawn_file_actions_destroy(actions: Uint8Array): number;
  posix_spawnattr_init(attributes: Uint8Array): number;
  posix_spawnattr_setflags(attributes: Uint8Array, flags: number): number;
  posix_spawnattr_setsigdefault(attributes: Uint8Array, signals: Uint8Array): number;
  waitpid(pid: number, status: Int32Array, options: number): number;
}

interface Ffi {
  dlopen(library: string, symbols: Record<keyof Spawn, unknown>): { symbols: Spawn };
  ptr(bytes: Uint8Array): number;
}

/** More than any libc's `posix_spawnattr_t` and `posix_spawn_file_actions_t` takes, in bytes. */
const STRUCT_BYTES = 1024;
const SIGNAL_SET_BYTES = 128;
const SETSIGDEF = 4, WNOHANG = 1;
/** What the runtime ignores for itself, and a command must not. */
const IGNORED_BY_RUNTIME = [constants.signals.SIGPIPE, constants.signals.SIGXFSZ];
/** SIGCHLD tells of the end; this is for one that was lost, and for orphans. In ms. */
const LOOK_EVERY_MS = 1000;

/** What to start. */
export interface LibcRequest {
  /** The program, absolute. */
  readonly file: string;
  /** Its name, as it sees it, first. */
  readonly argv: readonly string[];
  /** Descriptors that become its stdout and stderr; absent: ours. */
  readonly outputs?: readonly number[];
}

/** A child of ours, and the status that `waitpid` gave when it ended. */
export interface LibcChild {
  readonly pid: number;
  readonly status: Promise<number>;
}

/**
 * The way to start one, in our folder, group and environment.
 * @returns undefined where it cannot be had: another runtime or system, or no `/proc`
 */
export function loadLibcSpawn(): ((request: LibcRequest) => LibcChild) | undefined {
  if (!("Bun" in globalThis) || process.platform !== "linux") return undefined;
  try {
    const ffi = process.getBuiltinModule("bun:ffi" as "node:fs") as unknown as Ffi;
    const libc = open(ffi);
    // As we were handed it: process.env holds text, and a variable may hold other bytes.
    const env = readFileSync("/proc/self/environ");
    return (request) => start(ffi, libc, env, request);
  } catch {
    return undefined;
  }
}

function open(ffi: Ffi): Spawn {
  // The name always means the libc that is loaded already (see spawn_bun.ts).
  return ffi.dlopen("libc.so.6", {
    posix_spawn: { args: ["ptr", "ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
    posix_spawn_file_actions_init: { args: ["ptr"], returns: "i32" },
    posix_spawn_file_actions_adddup2: { args: ["ptr", "i32", "i32"], returns: "i32" },
    posix_spawn_file_actions_destroy: { args: ["ptr"], returns: "i32" },
    posix_spawnattr_init: { args: ["ptr"], returns: "i32" },
    posix_spawnattr_setflags: { args: ["ptr", "i16"], returns: "i32" },
    posix_spawnattr_setsigdefault: { args: ["ptr", "ptr"], returns: "i32" },
    waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  }).symbols;
}

/** @throws Error with a `code` when it cannot be started */
function start(ffi: Ffi, libc: Spawn, env: Uint8Array, request: LibcRequest): LibcChild {
  const { file, argv, outputs = [] } = request;
  const actions = outputs.length > 0 ? new Uint8Array(STRUCT_BYTES) : null;
  if (actions) libc.posix_spawn_file_actions_init(actions);
  outputs.forEach((from, at) => libc.posix_spawn_file_actions_adddup2(actions!, from, at + 1));
  const attributes = new Uint8Array(STRUCT_BYTES);
  libc.posix_spawnattr_init(attributes);
  libc.posix_spawnattr_setsigdefault(attributes, signalSet(IGNORED_BY_RUNTIME));
  libc.posix_spawnattr_setflags(attributes, SETSIGDEF);
  const words = terminated(argv.join("\0"));
  const name = terminated(file);
  const pid = new Int32Array(1);
  const [argvAt, envAt] = [pointers(ffi, words), pointers(ffi, env)];
  const failed = libc.posix_spawn(pid, name, actions, attributes, argvAt, envAt);
  if (actions) libc.posix_spawn_file_actions_destroy(actions);
  if (failed !== 0) throw Object.assign(new Error("it cannot be started"), { code: named(failed) });
  return { pid: pid[0]!, status: statusOf(libc, pid[0]!) };
}

function statusOf(libc: Spawn, pid: number): Promise<number> {
  const status = new Int32Array(1);
  const reap = (each: number) => libc.waitpid(each, status, WNOHANG) === each;
  const orphans = process.pid === 1 ? new Orphans(pid, reap) : undefined;
  return new Promise((resolve) => {
    const look = () => {
      if (!reap(pid)) return;
      clearInterval(timer);
      process.removeListener("SIGCHLD", look);
      resolve(status[0]!);
    };
    process.on("SIGCHLD", look);
    // Also what keeps us running meanwhile: a listener does not.
    const timer = setInterval(() => {
      orphans?.sweep();
      look();
    }, LOOK_EVERY_MS);
    look();
  });
}

function terminated(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

/** Where each string of a block begins that ends with a zero; a zero after the last. */
function pointers(ffi: Ffi, block: Uint8Array): BigUint64Array {
  const starts: number[] = [];
  for (let at = 0, end = block.indexOf(0); end >= 0; end = block.indexOf(0, at)) {
    starts.push(at);
    at = end + 1;
  }
  const first = starts.length === 0 ? 0 : ffi.ptr(block);
  const list = new BigUint64Array(starts.length + 1);
  starts.forEach((at, i) => list[i] = BigInt(first + at));
  return list;
}

function signalSet(numbers: readonly number[]): Uint8Array {
  const set = new Uint8Array(SIGNAL_SET_BYTES);
  for (const number of numbers) set[(number - 1) >> 3]! |= 1 << ((number - 1) & 7);
  return set;
}

function named(errno: number): string {
  return Object.entries(constants.errno).find(([, each]) => each === errno)?.[0] ?? `${errno}`;
}
