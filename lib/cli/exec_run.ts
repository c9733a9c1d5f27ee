/** Running the command of `exec` in our own place, as if we were not there. */
import { Buffer } from "node:buffer";
import { type OutputStream, startForeground } from "../platform/spawn_foreground.ts";
import { refuseFirstLine } from "../sources/shell/program/first_line.ts";
import { findInPath, refuseFile } from "../sources/shell/program/lookup.ts";
import { anchored } from "../sources/shell/program/place.ts";
import type { Refusal } from "../sources/shell/program/refusal.ts";
import type { PassedSignals } from "./exec_signals.ts";

/** What became of it. */
export interface ExecRan {
  /** The command's own, 128 and the signal's number, or 127 and 126 as shells answer. */
  readonly exit: number;
  readonly signal?: string;
  /** Why it could not be started. */
  readonly refused?: string;
  /** The last 64 KiB it wrote, as UTF-8 with replacement. */
  readonly output?: string;
}

/** How it is run. */
export interface ExecRun {
  readonly argv: readonly string[];
  readonly startFolder: string;
  readonly path: string | undefined;
  /** Keep the last of its output, which then goes through pipes. */
  readonly capture: boolean;
  /** Writes to one of our own streams, all of it; false when that cannot be done. */
  readonly write: (stream: OutputStream, bytes: Uint8Array) => Promise<boolean>;
}

/** Bytes of output that are kept. */
const TAIL = 65_536;

function find({ argv, startFolder, path }: ExecRun): string | Refusal {
  const name = argv[0]!;
  if (!name.includes("/")) {
    const found = findInPath(name, path, startFolder);
    return "file" in found ? found.file : found;
  }
  const file = anchored(startFolder, name);
  return refuseFile(file, name) ?? file;
}

/** Runs it to its end; `signals` go to it meanwhile. */
export async function runCommand(run: ExecRun, signals: PassedSignals): Promise<ExecRan> {
  const { startFolder, path, argv } = run;
  const file = find(run);
  if (typeof file !== "string") return unstarted(file.reason, file.code === "command not found");
  const refusal = refuseFirstLine(file, { path, startFolder, cwd: startFolder });
  if (refusal) return unstarted(refusal.reason);
  const tail = run.capture ? new Tail() : undefined;
  const output = tail && ((stream: OutputStream, bytes: Uint8Array) => {
    tail.add(bytes);
    return run.write(stream, bytes);
  });
  try {
    const child = startForeground({ file, argv0: argv[0]!, args: argv.slice(1), output });
    signals.to(child);
    const end = await child.ended;
    const kept = tail && { output: tail.text() };
    if (end.signal === undefined) return { exit: end.code, ...kept };
    return { exit: 128 + end.number, signal: end.signal, ...kept };
  } catch (error) {
    const { code = "unknown error" } = error as { code?: string };
    return unstarted(`"${argv[0]}" cannot be started: ${code}`);
  }
}

function unstarted(reason: string, missing = false): ExecRan {
  return { exit: missing ? 127 : 126, refused: reason };
}

/** The last bytes of a stream. */
class Tail {
  #chunks: Uint8Array[] = [];
  #size = 0;

  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes.slice());
    this.#size += bytes.length;
    while (this.#size - this.#chunks[0]!.length >= TAIL) {
      this.#size -= this.#chunks.shift()!.length;
    }
  }

  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks).subarray(-TAIL));
  }
}
