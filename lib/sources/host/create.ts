/** A host that is started when it is used, and again, with back-off, after it ended. */
import type { Json } from "../../events/json.ts";
import type { SelfCommand } from "../../platform/self.ts";
import { hostCommand } from "./command.ts";
import type { CallResult, Host, HostSpec, Loaded } from "./host.ts";
import { type Level, LOAD_MS, RunningHost } from "./running.ts";

/** What a host needs of us. */
export interface HostOptions {
  /** Takes what the host prints and what becomes of it, a line at a time, its label in front. */
  log(line: string, level: Level): void;
  /** How to start ourselves. */
  readonly self: SelfCommand;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?(): number;
}

/** After the first end it is started again no sooner than this, in ms; then twice as long, … */
const FIRST_PAUSE_MS = 100;
/** … up to this. */
const LAST_PAUSE_MS = 30_000;
/** A run as long as this starts the count afresh, in ms. */
const GOOD_RUN_MS = 30_000;
/** A pause no longer than this is waited for rather than told. */
const WAIT_MS = 1_000;

/** Stands before the reason of a host that was ended for want of anything to call. */
const NOT_LOADED = "could not be loaded: ";

/** Makes a host for one file; nothing is started before it is used. */
export function createHost(spec: HostSpec, options: HostOptions): Host {
  return new KeptHost(spec, options);
}

class KeptHost implements Host {
  readonly spec: HostSpec;
  readonly #options: HostOptions;
  readonly #now: () => number;
  #running: RunningHost | undefined;
  #starting: Promise<RunningHost | string> | undefined;
  #firstLoaded: Loaded | undefined;
  #failures = 0;
  #startAt = 0;
  #lastWhy = "";
  #closed = false;

  constructor(spec: HostSpec, options: HostOptions) {
    this.spec = spec;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async load(): Promise<Loaded> {
    const running = await this.#use();
    if (typeof running === "string") return { ok: false, error: running };
    return await this.#loadedOf(running);
  }

  async call(
    callback: number,
    event: string,
    fields: Json,
    timeoutMs: number,
  ): Promise<CallResult> {
    const running = this.#running?.ready ? this.#running : await this.#ready(timeoutMs);
    if (typeof running === "string") return { kind: "gone", error: running };
    return await running.call(callback, event, fields, timeoutMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#starting;
    await this.#running?.end("was closed");
  }

  /** A run with its file loaded, waited for as long as the call may take. */
  async #ready(timeoutMs: number): Promise<RunningHost | string> {
    const patience = timeoutMs > 0 ? Math.min(timeoutMs, LOAD_MS) : LOAD_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, patience, "is still being started");
    });
    const started = this.#use().then(async (running) => {
      if (typeof running === "string") return running;
      const loaded = await this.#loadedOf(running);
      return loaded.ok ? running : loaded.error;
    });
    try {
      return await Promise.race([started, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #loadedOf(running: RunningHost): Promise<Loaded> {
    const loaded = await running.loaded;
    // There is nothing in it to call.
    if (!loaded.ok) await running.end(`${NOT_LOADED}${loaded.error}`);
    return loaded;
  }

  /** The run under way, or a new one; or why there is none. */
  async #use(): Promise<RunningHost | string> {
    if (this.#closed) return "was closed";
    if (this.#running?.usable) return this.#running;
    this.#starting ??= this.#start().finally(() => this.#starting = undefined);
    return await this.#starting;
  }

  async #start(): Promise<RunningHost | string> {
    // One that was told to end may not be gone yet.
    await this.#running?.over;
    const pause = this.#startAt - this.#now();
    if (pause > WAIT_MS) {
      const seconds = (pause / 1000).toFixed(1);
      return `${this.#lastWhy}; it is started again in ${seconds} s at the soonest`;
    }
    if (pause > 0) await new Promise((resume) => setTimeout(resume, pause));
    const command = await hostCommand(this.spec, this.#options.self);
    if (!command.ok) return command.error;
    if (this.#closed) return "was closed";
    const began = this.#now();
    const running = new RunningHost(this.spec, command.request, {
      log: (line, level) => this.#options.log(line, level),
      ended: (why) => this.#ended(why, began),
    });
    this.#running = running;
    running.loaded.then((loaded) => this.#compare(loaded));
    return running;
  }

  #ended(why: string, began: number): void {
    if (this.#closed) return;
    const now = this.#now();
    this.#failures = now - began >= GOOD_RUN_MS ? 0 : this.#failures;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LAST_PAUSE_MS);
    this.#failures++;
    this.#startAt = now + pause;
    this.#lastWhy = why;
    const again = `started again at its next use, in ${pause / 1000} s at the soonest`;
    // Whoever loads it is told of a file that cannot be, and tells.
    const level = why.startsWith(NOT_LOADED) ? "debug" : "warning";
    this.#options.log(`${this.spec.label}: its host ${why}; ${again}`, level);
  }

  /** Those who hold a callback's id learnt it from the first load. */
  #compare(loaded: Loaded): void {
    if (!loaded.ok) return;
    const before = this.#firstLoaded ??= loaded;
    if (!before.ok || JSON.stringify(before.callbacks) === JSON.stringify(loaded.callbacks)) return;
    const what = "registered other callbacks than when it was first loaded";
    this.#options.log(`${this.spec.label}: ${what}; restart to take them in`, "warning");
  }
}
