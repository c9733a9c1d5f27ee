/** One run of a host: a process that loads a file and answers calls until it ends. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Json, JsonNumber, type JsonObject, printable, stringAt } from "../../events/json.ts";
import {
  type HostRequest,
  ownMemoryMb,
  type StartedHost,
  startHostProcess,
} from "../../platform/spawn_host.ts";
import { GroupEnd } from "../shell/run/kill.ts";
import { running, type RunningProcess } from "../shell/run/running.ts";
import type { CallResult, HostSpec, Loaded } from "./host.ts";
import { LineLog } from "./lines.ts";
import { readLoaded } from "./loaded.ts";
import { MessageReader, writeMessage } from "./message.ts";

/** Levels of the log. */
export type Level = "debug" | "info" | "warning" | "error";

/** How a run tells of itself. */
export interface RunEvents {
  log(line: string, level: Level): void;
  /** It is over; `why` reads on from the host's name, such as `exited with code 3`. */
  ended(why: string): void;
}

/** How long loading may take, in ms. */
export const LOAD_MS = 30_000;
/** How long a host has to answer a ping, in ms. */
const PING_MS = 2_000;
/** How long after TERM a group gets KILL, in ms. */
const GRACE_MS = 800;
/** How long a host that was ended may take to be known to be gone, with what it printed, in ms. */
const LAST_WORDS_MS = 500;
/** How often its memory is looked at, in ms. */
const MEMORY_MS = 250;
/** Longer than any run: keeps our own process alive while somebody waits for an answer. */
const FOREVER_MS = 2 ** 30;

interface Waiting {
  readonly callback: number;
  settle(result: CallResult): void;
}

/** A host's process. Never throws or rejects. */
export class RunningHost {
  /** Settles when the file is loaded or cannot be. */
  readonly loaded: Promise<Loaded>;
  /** Settles when the process is gone. */
  readonly over: Promise<void>;
  readonly #spec: HostSpec;
  readonly #events: RunEvents;
  readonly #process: StartedHost;
  readonly #waiting = new Map<number, Waiting>();
  /** Calls that overran and have not ended, with their callbacks. */
  readonly #overrun = new Map<number, number>();
  readonly #pings = new Map<number, () => void>();
  #settleLoaded: (loaded: Loaded) => void = () => {};
  #settleOver: () => void = () => {};
  /** rule 3.8: a signal to us ends it, and what it started, with the hooks that run. */
  readonly #registered: RunningProcess = {
    // Not before it is known that all are to end: see afterEnding.
    stop: () => Promise.resolve().then(() => this.end("was ended with us")),
    killNow: () => void this.#process.signal("SIGKILL"),
  };
  #last = 0;
  #awake: ReturnType<typeof setInterval> | undefined;
  #memory: ReturnType<typeof setInterval> | undefined;
  #end: GroupEnd | undefined;
  #why: string | undefined;
  #over = false;
  #ready = false;

  constructor(spec: HostSpec, request: HostRequest, events: RunEvents) {
    this.#spec = spec;
    this.#events = events;
    this.loaded = new Promise((resolve) => {
      this.#settleLoaded = (loaded) => resolve(afterEnding(loaded));
    });
    this.over = new Promise((resolve) => (this.#settleOver = resolve));
    this.#process = this.#start(request);
    running.add(this.#registered);
    this.#load();
    this.#watchMemory();
  }

  /** Usable, with its file loaded. */
  get ready(): boolean {
    return this.#ready && this.usable;
  }

  /** False once it is over or on its way there. */
  get usable(): boolean {
    return this.#why === undefined && !this.#over;
  }

  /** Calls a callback of a file that is loaded. */
  call(callback: number, event: string, fields: Json, timeoutMs: number): Promise<CallResult> {
    if (!this.usable) return Promise.resolve(this.#gone());
    if ([...this.#overrun.values()].includes(callback)) {
      return Promise.resolve({ kind: "stillRunning" });
    }
    const id = ++this.#last;
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const settle = (result: CallResult) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        this.#keepAwake();
        resolve(afterEnding(result));
      };
      this.#waiting.set(id, { callback, settle });
      this.#keepAwake();
      if (timeoutMs > 0) timer = setTimeout(() => this.#overran(id, timeoutMs), timeoutMs);
      const op = { op: "call", id: number(id), callback: number(callback), event, fields };
      this.#process.send(writeMessage(op));
    });
  }

  /** Ends it with its group, for a reason that reads on from its name. */
  async end(why: string): Promise<void> {
    if (this.#over) return;
    this.#why ??= why;
    for (const { settle } of this.#waiting.values()) settle(this.#gone());
    this.#settleLoaded({ ok: false, error: this.#why });
    if (this.#process.pid !== undefined) {
      this.#end ??= new GroupEnd(this.#process.pid, GRACE_MS);
      await this.#end.done;
      await this.#lastWords();
    }
    this.#finish(this.#why);
  }

  /** What it printed right before its end is still to be read. */
  async #lastWords(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, LAST_WORDS_MS));
    await Promise.race([this.over, late]);
    clearTimeout(timer);
  }

  #start(request: HostRequest): StartedHost {
    const { label } = this.#spec;
    const print = (line: string) => this.#events.log(`${label}: ${line}`, "info");
    const lines = { stdout: new LineLog(print), stderr: new LineLog(print) };
    const reader = new MessageReader();
    return startHostProcess(request, {
      received: (bytes) => {
        try {
          for (const message of reader.read(bytes)) this.#take(message);
        } catch (error) {
          this.end((error as Error).message);
        }
      },
      printed: (stream, bytes) => lines[stream].take(bytes),
      ended: (why) => {
        for (const line of Object.values(lines)) line.end();
        this.#finish(this.#why ?? why);
      },
    });
  }

  #load(): void {
    const { mode, file, folder, label, env } = this.#spec;
    const name = /"(.+)"/.exec(label)?.[1] ?? basename(folder);
    const home = env["HERMES_HOME"] ?? "";
    const timer = setTimeout(() => this.end(`did not load within ${LOAD_MS / 1000} s`), LOAD_MS);
    this.loaded.then(() => clearTimeout(timer));
    this.#process.send(writeMessage({ op: "load", mode, file, folder, name, home }));
  }

  #take(message: JsonObject): void {
    if (message.has("log")) return this.#said(message);
    if (message.has("loaded")) return this.#loadedAs(readLoaded(message));
    if (message.has("pong")) return this.#pings.get(numberAt(message, "pong"))?.();
    const id = numberAt(message, message.has("threw") ? "threw" : "returned");
    // An answer that comes too late only says that the callback is no longer running.
    this.#overrun.delete(id);
    const error = stringAt(message, "error") ?? "";
    this.#waiting.get(id)?.settle(
      message.has("threw")
        ? { kind: "threw", error: printable(error) }
        : { kind: "returned", value: message.get("value") ?? null },
    );
  }

  #loadedAs(loaded: Loaded): void {
    this.#ready = loaded.ok;
    this.#settleLoaded(loaded);
  }

  #said(message: JsonObject): void {
    const level = LEVELS[stringAt(message, "level") ?? ""] ?? "info";
    const line = printable(stringAt(message, "log") ?? "", true);
    this.#events.log(`${this.#spec.label}: ${line}`, level);
  }

  #overran(id: number, afterMs: number): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#overrun.set(id, waiting.callback);
    waiting.settle({ kind: "overran", afterMs });
    this.#ping();
  }

  /** rule 8.3: a host that answers no ping is ended. */
  #ping(): void {
    if (this.#pings.size > 0) return;
    const id = ++this.#last;
    const timer = setTimeout(() => this.end(`did not answer for ${PING_MS / 1000} s`), PING_MS);
    letGo(timer);
    this.#pings.set(id, () => {
      clearTimeout(timer);
      this.#pings.delete(id);
    });
    this.#process.send(writeMessage({ op: "ping", id: number(id) }));
  }

  #watchMemory(): void {
    const { memoryMb } = this.#spec;
    const { pid } = this.#process;
    if (memoryMb <= 0 || pid === undefined) return;
    const read = (file: string) => readFileSync(file, "utf8");
    this.#memory = setInterval(() => {
      const taken = ownMemoryMb(pid, read) ?? 0;
      if (taken <= memoryMb) return;
      // Nothing gentler: it would go on growing.
      this.#process.signal("SIGKILL");
      this.end(`took ${Math.round(taken)} MiB of memory, over its bound of ${memoryMb}`);
    }, MEMORY_MS);
    letGo(this.#memory);
  }

  #keepAwake(): void {
    if (this.#waiting.size > 0) return void (this.#awake ??= setInterval(() => {}, FOREVER_MS));
    clearInterval(this.#awake);
    this.#awake = undefined;
  }

  #gone(): CallResult {
    return { kind: "gone", error: this.#why ?? "is gone" };
  }

  #finish(why: string): void {
    if (this.#over) return;
    this.#over = true;
    running.delete(this.#registered);
    this.#why = why;
    clearInterval(this.#memory);
    for (const pong of [...this.#pings.values()]) pong();
    for (const { settle } of [...this.#waiting.values()]) settle(this.#gone());
    this.#settleLoaded({ ok: false, error: why });
    // What it left in its group, when it ended by itself.
    if (this.#process.pid !== undefined) this.#end ??= new GroupEnd(this.#process.pid, GRACE_MS);
    this.#process.release();
    this.#settleOver();
    this.#events.ended(why);
  }
}

const LEVELS: Readonly<Record<string, Level>> = {
  debug: "debug",
  info: "info",
  warn: "warning",
  warning: "warning",
  error: "error",
};

/** rule 3.8: while a signal ends all that runs, nobody gets an answer to make a verdict of. */
function afterEnding<T>(value: T): T | Promise<T> {
  return running.closing?.then(() => value) ?? value;
}

const number = (value: number) => new JsonNumber(String(value));

function numberAt(message: JsonObject, key: string): number {
  const value = message.get(key);
  return value instanceof JsonNumber ? value.valueOf() : NaN;
}

/** What waits for this does not keep our process alive. */
function letGo(timer: ReturnType<typeof setTimeout>): void {
  (timer as { unref?(): void }).unref?.();
}
