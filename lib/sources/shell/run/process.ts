/** Running one process to its end: input, output, time limit and death (rules 3.4–3.8). */
import { type StartedProcess, startProcess } from "../../../platform/spawn.ts";
import { drain } from "./drain.ts";
import { usableEnv } from "./environment.ts";
import { spawnFailure } from "./failure.ts";
import { GroupEnd } from "./kill.ts";
import { Output } from "./output.ts";
import type { ProcessResult } from "./result.ts";
import { type Running, running } from "./running.ts";

export type { ProcessResult } from "./result.ts";

/** Which program to run: what `resolveProgram` found. */
export interface RunnableProgram {
  /** Absolute. */
  readonly file: string;
  /** The name it was called by. */
  readonly argv0: string;
  readonly args: readonly string[];
}

/** How to run it. */
export interface RunOptions {
  /** All of stdin; text goes out as UTF-8. */
  readonly stdin: string | Uint8Array;
  /** Its working folder, absolute. */
  readonly cwd: string;
  /** Its whole environment. Names and values that no process can hold are left out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From the start, in ms; covers writing stdin. Over 2^31-1: no limit. */
  readonly timeoutMs: number;
  /** Giving up ends the process and its group. */
  readonly signal?: AbortSignal;
  /** Where it is registered while it runs. Default: this program's one registry. */
  readonly running?: Running;
}

/** How long a group has between TERM and KILL. */
const GRACE_MS = 700;
/** When our answer comes after the time was up, whatever still holds the pipes (rule 3.7: 1.5 s). */
const ANSWER_MS = 1300;
/** A process that ended on the very deadline is given a moment to be seen ended. */
const LAST_LOOK_MS = 5;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a program in a group and session of its own and answers when **it** is done, even if what
 * it left in the background holds its pipes; that is left alive. Never throws or rejects.
 */
export function runProcess(program: RunnableProgram, options: RunOptions): Promise<ProcessResult> {
  return new Promise((answer) => new Run(program, options, answer).begin());
}

class Run {
  readonly #program: RunnableProgram;
  readonly #options: RunOptions;
  readonly #answer: (result: ProcessResult) => void;
  readonly #running: Running;
  readonly #began = performance.now();
  readonly #stdout = new Output();
  readonly #stderr = new Output();
  #process: StartedProcess | undefined;
  #streamsLeft = 2;
  #exit: { code: number | null; signal: string | null } | undefined;
  #stopped: "timeout" | "abort" | undefined;
  #groupEnd: GroupEnd | undefined;
  #groupEnded = false;
  #settled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopDraining: (() => void) | undefined;

  constructor(
    program: RunnableProgram,
    options: RunOptions,
    answer: (result: ProcessResult) => void,
  ) {
    this.#program = program;
    this.#options = options;
    this.#answer = answer;
    this.#running = options.running ?? running;
  }

  begin(): void {
    const { stdin, signal, timeoutMs, env, cwd } = this.#options;
    if (signal?.aborted || this.#running.closing) {
      this.#stopped = "abort";
      return this.#settle();
    }
    const request = {
      ...this.#program,
      cwd,
      env: usableEnv(env),
      stdin: typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin,
    };
    this.#process = startProcess(request, {
      output: (stream, bytes) => {
        if (!this.#settled) (stream === "stdout" ? this.#stdout : this.#stderr).push(bytes);
      },
      ended: () => {
        this.#streamsLeft--;
        this.#settleOrDrain();
      },
      exited: (code, signal) => this.#exited(code, signal),
      failed: (error) => this.#settle(spawnFailure(error, this.#program.file, cwd)),
    });
    if (this.#settled || this.#process.pid === undefined) return;
    this.#running.add(this);
    signal?.addEventListener("abort", this.#abort);
    if (timeoutMs <= LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.#timeUp(), timeoutMs);
  }

  /** For the registry: ends the group as if the caller had given up. */
  stop(graceMs: number): Promise<void> {
    return this.#stop("abort", graceMs);
  }

  /** For the registry. */
  killNow(): void {
    void this.#stop("abort", 0);
    this.#groupEnd?.kill();
  }

  readonly #abort = () => void this.#stop("abort", GRACE_MS);

  #timeUp(): void {
    this.#timer = setTimeout(() => void this.#stop("timeout", GRACE_MS), LAST_LOOK_MS);
  }

  async #stop(why: "timeout" | "abort", graceMs: number): Promise<void> {
    if (this.#groupEnd) {
      this.#groupEnd.hurry(graceMs);
      return await this.#groupEnd.done;
    }
    this.#stopped = why;
    this.#quitWaiting();
    this.#timer = setTimeout(() => this.#settle(), ANSWER_MS);
    this.#groupEnd = new GroupEnd(this.#process!.pid!, graceMs);
    await this.#groupEnd.done;
    this.#groupEnded = true;
    this.#running.delete(this);
    this.#settleOrDrain();
  }

  #exited(code: number | null, signal: string | null): void {
    this.#exit = { code, signal };
    this.#process?.closeStdin();
    if (!this.#stopped) {
      this.#quitWaiting();
      // What it left in the background is no running hook.
      this.#running.delete(this);
    }
    this.#settleOrDrain();
  }

  /** rule 3.6: settle on exit, not on end-of-file. */
  #settleOrDrain(): void {
    if (this.#settled || !this.#exit) return;
    // rule 3.7: the leader of a group that is being ended may be gone before its grandchildren
    if (this.#stopped && !this.#groupEnded) return;
    if (this.#streamsLeft === 0) return this.#settle();
    this.#stopDraining ??= drain(
      () => this.#stdout.seen + this.#stderr.seen,
      () => this.#settle(),
    );
  }

  #quitWaiting(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#abort);
  }

  #settle(spawnError?: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#quitWaiting();
    this.#stopDraining?.();
    this.#running.delete(this);
    this.#process?.release();
    this.#give(this.#result(spawnError));
  }

  #give(result: ProcessResult): void {
    const { closing } = this.#running;
    if (!closing) return this.#answer(result);
    // rule 3.8: whoever waits for the end of all hooks in order to exit comes first
    closing.then(() => setTimeout(() => this.#answer(result), 0));
  }

  #result(spawnError: string | undefined): ProcessResult {
    return {
      exitCode: this.#exit?.code ?? null,
      signal: this.#exit?.signal ?? null,
      stdout: this.#stdout.text(),
      stderr: this.#stderr.text(),
      stdoutOver: this.#stdout.over,
      stderrOver: this.#stderr.over,
      timedOut: this.#stopped === "timeout",
      aborted: this.#stopped === "abort",
      ...(spawnError === undefined ? {} : { spawnError }),
      durationMs: performance.now() - this.#began,
    };
  }
}
