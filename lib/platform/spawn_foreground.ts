/**
 * Starting a command in our own place: our stdin, stdout and stderr, our process group and terminal.
 * With `output`, its stdout and stderr go through pipes instead.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { type Copying, copyOutput, type Source } from "./copy_output.ts";
import { loadPipes, openPipe, type Pipe, signalName } from "./spawn_bun.ts";
import { type LibcRequest, loadLibcSpawn } from "./spawn_libc.ts";

/** What to start. */
export interface ForegroundRequest {
  /** The program, absolute. */
  readonly file: string;
  readonly argv0: string;
  readonly args: readonly string[];
  /**
   * Takes its output, piece by piece, and is not called again before it has; false: nobody reads
   * it any more, and the command is to find that out. Absent: its output goes where ours goes.
   */
  readonly output?: (stream: OutputStream, bytes: Uint8Array) => Promise<boolean>;
}

/** The two that a command writes to. */
export type OutputStream = "stdout" | "stderr";

/** How it ended: with a code, or by a signal, whose number 0 is one unknown here. */
export type ForegroundEnd =
  | { readonly code: number; readonly signal?: undefined }
  | { readonly signal: string; readonly number: number };

/** A command under way. */
export interface Foreground {
  /** When it has ended, and with `output` all it wrote has been handed on. */
  readonly ended: Promise<ForegroundEnd>;
  /** Passes a signal on, while it runs; after that, a reader that stalls is not waited for. */
  signal(name: NodeJS.Signals): void;
}

const STREAMS = ["stdout", "stderr"] as const;

/** Starts it, in our folder and environment. @throws Error with a `code` when it cannot be */
export function startForeground(request: ForegroundRequest): Foreground {
  const start = loadLibcSpawn();
  const pipes = start && request.output ? loadPipes() : undefined;
  if (!start || (request.output && !pipes)) return startWithNode(request);
  const { file, argv0, args, output } = request;
  const command = { file, argv: [argv0, ...args] };
  if (!output || !pipes) return foreground(start(command), []);
  const both = STREAMS.map(() => openPipe(pipes, false));
  const child = startOnPipes(start, command, both);
  return foreground(child, both.map(({ ours }, at) => copy(pipeSource(ours), at, output)));
}

function startOnPipes(
  start: NonNullable<ReturnType<typeof loadLibcSpawn>>,
  command: LibcRequest,
  pipes: readonly Pipe[],
) {
  try {
    return start({ ...command, outputs: pipes.map(({ theirs }) => theirs) });
  } catch (error) {
    for (const { ours } of pipes) closeSync(ours);
    throw error;
  } finally {
    for (const { theirs } of pipes) closeSync(theirs);
  }
}

function copy(source: Source, at: number, output: NonNullable<ForegroundRequest["output"]>) {
  return copyOutput(source, (bytes) => output(STREAMS[at]!, bytes));
}

function foreground(
  { pid, status }: { readonly pid: number; readonly status: Promise<number> },
  copies: readonly Copying[],
): Foreground {
  let running = true;
  const ended = status.then((value) => {
    // From now on the number may be anybody's.
    running = false;
    return endOf(value);
  });
  return {
    ended: settled(ended, copies),
    signal(name) {
      if (running) send(pid, name);
      for (const each of copies) each.hurry();
    },
  };
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has just ended, or runs as another user: then it is not ours to signal.
  }
}

/** What the status of `waitpid` means. */
function endOf(status: number): ForegroundEnd {
  const number = status & 0x7f;
  if (number === 0) return { code: (status >> 8) & 0xff };
  return { signal: signalName(number) ?? `signal ${number}`, number };
}

async function settled(
  ended: Promise<ForegroundEnd>,
  copies: readonly Copying[],
): Promise<ForegroundEnd> {
  const end = await ended;
  await Promise.all(copies.map((each) => each.finish()));
  return end;
}

/** Reads our side of a pipe. Takes `fd` over. */
function pipeSource(fd: number): Source {
  const { Bun: bun } = globalThis as unknown as {
    Bun: { file(descriptor: number): { stream(): ReadableStream<Uint8Array> } };
  };
  const reader = bun.file(fd).stream().getReader();
  // The reader has a duplicate of its own, which it closes at the end or when given up.
  closeSync(fd);
  return {
    next: async () => (await reader.read()).value,
    stop: () => void reader.cancel().catch(() => {}),
  };
}

function startWithNode({ file, argv0, args, output }: ForegroundRequest): Foreground {
  const out = output ? "pipe" : "inherit";
  const child = spawn(file, [...args], { argv0, stdio: ["inherit", out, out] });
  let running = true;
  const ended = new Promise<ForegroundEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      running = false;
      if (signal === null) return resolve({ code: code ?? 1 });
      resolve({ signal, number: constants.signals[signal] ?? 0 });
    });
  });
  const copies = output ? STREAMS.map((name, at) => copy(nodeSource(child, name), at, output)) : [];
  return {
    ended: settled(ended, copies),
    signal(name) {
      // Not child.kill: Deno then says that the signal ended it, whatever did.
      if (running && child.pid !== undefined) send(child.pid, name);
      for (const each of copies) each.hurry();
    },
  };
}

function nodeSource(child: ChildProcess, name: OutputStream): Source {
  const readable = child[name]!;
  const chunks = readable[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value } = await chunks.next();
      return done ? undefined : value;
    },
    stop: () => void readable.destroy(),
  };
}
