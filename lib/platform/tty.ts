/** The terminal a person sits at: is there one, and what is typed on it, line by line. */

import * as fs from "node:fs";
import process from "node:process";

/** What {@link terminalAvailable} decides from. */
export interface TerminalFacts {
  /** Is stdin a terminal? */
  readonly stdinTty: boolean;
  /** Is stderr a terminal? */
  readonly stderrTty: boolean;
  /** Does stdin carry the payload? Then `/dev/tty` is asked on. */
  readonly stdinInUse: boolean;
}

/**
 * May someone be asked (rule 6.4)? Stderr must be a terminal, and stdin too unless it is in use.
 * False also when the terminal cannot be opened, or when we run in the background of it: a read
 * would stop the whole process instead of answering.
 */
export function terminalAvailable(facts: TerminalFacts): boolean {
  if (!facts.stderrTty || !(facts.stdinTty || facts.stdinInUse)) return false;
  if (inBackground()) return false;
  const terminal = openTerminal({ stdinTty: facts.stdinTty && !facts.stdinInUse });
  terminal?.close();
  return terminal !== undefined;
}

/** One line from a terminal, or why there is none. */
export type TerminalAnswer =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupted" };

/** A terminal being read; one serves all the questions of a run. */
export interface Terminal {
  /**
   * Calls `before` (to show a question), then gives the next line without its end; lines typed ahead count. `end` is end-of-file or a terminal
   * that went away, `interrupted` is Ctrl-C, which during this call does not end the process.
   * Calls made at once are answered one after another.
   */
  line(before?: () => void): Promise<TerminalAnswer>;
  /** Stops reading; what was typed and not asked for stays in the terminal. */
  close(): void;
}

/**
 * Opens the terminal: the one that is stdin, else the process's own (`/dev/tty`).
 * @returns undefined when there is none
 */
export function openTerminal(options: { readonly stdinTty: boolean }): Terminal | undefined {
  // Only Linux opens /dev/fd/0 anew; elsewhere it would share stdin's blocking reads.
  const own = options.stdinTty && process.platform === "linux" ? ["/dev/fd/0"] : [];
  for (const name of [...own, "/dev/tty"]) {
    try {
      const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
      return new PolledTerminal(fs.openSync(name, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    } catch {
      // No terminal under this name, or not ours to open.
    }
  }
  return undefined;
}

const POLL_MS = 15;

// Polled on a descriptor of our own: a blocked read could not be given up, would keep the process
// alive and swallow the line that the next reader is meant to get.
class PolledTerminal implements Terminal {
  #typed: Uint8Array = new Uint8Array(0);
  #queue: Promise<unknown> = Promise.resolve();

  constructor(readonly fd: number) {}

  line(before: () => void = () => {}): Promise<TerminalAnswer> {
    const answer = this.#queue.then(() => this.#read(before));
    this.#queue = answer.catch(() => {});
    return answer;
  }

  close(): void {
    fs.closeSync(this.fd);
  }

  async #read(before: () => void): Promise<TerminalAnswer> {
    const interrupt = catchInterrupt();
    try {
      before();
      for (;;) {
        const more = this.#typed.includes(NEWLINE) || this.#fill();
        const line = this.#takeLine();
        // Also with a line in hand: a Ctrl-C that came before it may not have been delivered yet.
        await new Promise((done) => setTimeout(done, line === undefined && more ? POLL_MS : 0));
        if (interrupt.seen) {
          // As the terminal does with what it has not handed out yet.
          this.#typed = new Uint8Array(0);
          return { kind: "interrupted" };
        }
        if (line !== undefined) return { kind: "line", text: line };
        if (!more) return { kind: "end" };
      }
    } finally {
      interrupt.restore();
    }
  }

  #takeLine(): string | undefined {
    const end = this.#typed.indexOf(NEWLINE);
    if (end < 0) return undefined;
    const line = new TextDecoder().decode(this.#typed.subarray(0, end));
    this.#typed = this.#typed.subarray(end + 1);
    return line;
  }

  /** Takes in what has been typed; false at end-of-file. */
  #fill(): boolean {
    const chunk = new Uint8Array(4096);
    try {
      const count = fs.readSync(this.fd, chunk, 0, chunk.length, null);
      if (count === 0) {
        this.#typed = new Uint8Array(0);
        return false;
      }
      this.#typed = new Uint8Array([...this.#typed, ...chunk.subarray(0, count)]);
      return true;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return code === "EAGAIN" || code === "EWOULDBLOCK" || code === "EINTR";
    }
  }
}

const NEWLINE = 10;

/** Keeps Ctrl-C from ending the process, or reaching other listeners, until `restore`. */
function catchInterrupt(): { readonly seen: boolean; restore(): void } {
  const state = { seen: false, restore };
  const others = process.rawListeners("SIGINT") as NodeJS.SignalsListener[];
  const listener = () => {
    state.seen = true;
  };
  // Ours first, so that there is no moment at which the signal would end us.
  process.on("SIGINT", listener);
  for (const other of others) process.removeListener("SIGINT", other);
  function restore() {
    for (const other of others) process.on("SIGINT", other);
    process.removeListener("SIGINT", listener);
  }
  return state;
}

/** Are we a background job of our terminal? Known on Linux only; elsewhere the answer is no. */
function inBackground(): boolean {
  const { own, foreground } = processGroups() ?? { own: 0, foreground: 0 };
  return foreground > 0 && foreground !== own;
}

/**
 * Does Ctrl-C at our terminal reach our whole process group, and not us alone?
 * @param otherwise the answer where that cannot be known, off Linux
 */
export function terminalIsOurs(otherwise: boolean): boolean {
  const groups = processGroups();
  return groups ? groups.foreground === groups.own : otherwise;
}

/** Our process group, and the one in the foreground of our terminal; that is -1 without one. */
function processGroups(): { readonly own: number; readonly foreground: number } | undefined {
  try {
    const stat = fs.readFileSync("/proc/self/stat", "latin1");
    // The second field is a file name in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { own: Number(fields[2]), foreground: Number(fields[5]) };
  } catch {
    return undefined;
  }
}

/** Writes text to stderr now, whole, so that a question stands before its answer is read. */
export function writeToStderr(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0, tries = 0; at < bytes.length && tries < 1000;) {
    try {
      at += fs.writeSync(2, bytes, at);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "EAGAIN") return;
      tries++;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
