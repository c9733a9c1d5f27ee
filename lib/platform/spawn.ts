/**
 * Starting one process in a group and session of its own, with real pipes, and signalling groups.
 *
 * Bun's own `stdio: "pipe"` (its `node:child_process` too) hands out socket pairs on Linux, and
 * what opens `/dev/stdin` or `/dev/stderr` by name then fails with ENXIO: `cat /dev/stdin`,
 * `echo … >/dev/stderr`, `readFileSync("/dev/stdin")`. So on Linux Bun gets pipes made by libc.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { type BunRuntime, loadPipes, startWithPipes } from "./spawn_bun.ts";

/** What to start. Nothing in it is looked up: what is wrong with it comes out as an error. */
export interface StartRequest {
  /** The program, absolute. */
  readonly file: string;
  /** What the program sees as its own name. */
  readonly argv0: string;
  readonly args: readonly string[];
  /** The working folder, absolute. */
  readonly cwd: string;
  /** The whole environment; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  /** All of stdin; it is closed after the last byte. */
  readonly stdin: Uint8Array;
}

/** Told as things happen; each of `ended` (per stream) and `exited` comes once. */
export interface StartEvents {
  output(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** The stream is at its end: nothing holds its other side any more. */
  ended(stream: "stdout" | "stderr"): void;
  /** The process itself is gone, whoever else may hold its pipes; one of the two is null. */
  exited(code: number | null, signal: string | null): void;
  /** It could not be started; nothing else follows. May come at once or a turn later. */
  failed(error: unknown): void;
}

/** A process under way. */
export interface StartedProcess {
  /** Its id, which is also its group's; undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Gives up writing stdin. */
  closeStdin(): void;
  /** Closes our side of every pipe and lets our own process end without waiting for it. */
  release(): void;
}

/** Starts a process. Never throws: see {@link StartEvents.failed}. */
export function startProcess(request: StartRequest, events: StartEvents): StartedProcess {
  try {
    const bun = (globalThis as { Bun?: BunRuntime }).Bun;
    const pipes = bun && process.platform === "linux" ? loadPipes() : undefined;
    if (bun && pipes) return startWithPipes(bun, pipes, request, events);
    return startWithNode(request, events);
  } catch (error) {
    events.failed(error);
    return { pid: undefined, closeStdin() {}, release() {} };
  }
}

/** The way of every platform that has no better one: `node:child_process`. Throws on some errors. */
export function startWithNode(request: StartRequest, events: StartEvents): StartedProcess {
  const { file, argv0, cwd, env } = request;
  const child = spawn(file, [...request.args], {
    argv0,
    cwd,
    env: { ...env },
    detached: true,
    windowsHide: true,
    stdio: "pipe",
  });
  child.on("error", (error) => events.failed(error));
  child.on("exit", (code, signal) => events.exited(code, signal));
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (bytes: Uint8Array) => events.output(name, bytes));
    child[name]?.on("error", () => {});
    child[name]?.on("close", () => events.ended(name));
  }
  // rule 3.4: a broken pipe is not a failure
  child.stdin?.on("error", () => {});
  child.stdin?.end(request.stdin);
  return {
    pid: child.pid,
    closeStdin: () => void child.stdin?.destroy(),
    release: () => release(child),
  };
}

function release(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  // Deno throws for a child that never was.
  if (child.pid !== undefined) child.unref();
}

/**
 * Signals a process group; signal 0 only asks. Windows has no groups: the process alone gets it.
 * @returns whether the group has members, zombies counted
 */
export function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
    return true;
  } catch (error) {
    // EPERM: there, but not ours to signal
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Does anything in the group still run? A zombie does not, and may stay for ever where process 1
 * reaps late or never (in a container that may be ourselves). Where that cannot be told: true.
 */
export function groupRuns(pid: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    return readdirSync("/proc").some((name) => /^[0-9]/.test(name) && runsInGroup(name, pid));
  } catch {
    return true;
  }
}

function runsInGroup(name: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, "latin1");
    // "pid (name) state parent group …", where the name may hold anything
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(itsGroup) === group && state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}
