/**
 * A hook host: the child process in which one plugin or one gateway hook lives, spoken to over a
 * private pipe. Whatever its code does (a busy loop, an exit, growth without bound) hurts only it.
 */
import type { Json } from "../../events/json.ts";

/** What to host. */
export interface HostSpec {
  /** `script`: TypeScript or JavaScript, in our own executable; `python`: in `python3`. */
  readonly language: "script" | "python";
  /** `plugin`: the file exports `register(ctx)`; `gateway`: `handle(event_type, context)`. */
  readonly mode: "plugin" | "gateway";
  /** For messages and logs, such as `plugin "guard"` or `gateway hook "boot-md"`. */
  readonly label: string;
  /** The file to load, absolute. */
  readonly file: string;
  /** The plugin's or hook's own folder, absolute: imports of neighbours resolve from it. */
  readonly folder: string;
  /** The whole environment of the host; secrets already taken out. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder the host starts in, absolute. */
  readonly cwd: string;
  /** Memory the host may take, in MiB; 0: no bound. Default 512 (`hermes_hooks.hosts.memory_mb`). */
  readonly memoryMb: number;
}

/** One callback a plugin registered, in order of registration; of a gateway hook, its handler (id 0). */
export interface HostedCallback {
  readonly id: number;
  /** The event it was registered for; `*` for a gateway handler. */
  readonly event: string;
}

/** One system prompt section a plugin registered; its text may be a function, called once a session. */
export interface HostedSection {
  readonly id: string;
  readonly position: string;
  /** NaN: what was given is no number. */
  readonly maxChars: number | undefined;
  /** The id to {@link Host.call} for the text, or the text itself. */
  readonly content: { readonly text: Json } | { readonly callback: number };
}

/** What loading gave. */
export type Loaded =
  | {
    readonly ok: true;
    readonly callbacks: readonly HostedCallback[];
    readonly sections: readonly HostedSection[];
    /** What was asked for and is not provided here, a bad registration, and the like. */
    readonly warnings: readonly string[];
  }
  | { readonly ok: false; readonly error: string };

/** How one call ended. */
export type CallResult =
  | { readonly kind: "returned"; readonly value: Json }
  /** The callback threw; the text is one line, without a stack. */
  | { readonly kind: "threw"; readonly error: string }
  /** The time was up; the callback is abandoned. A host that answers no ping within 2 s is ended. */
  | { readonly kind: "overran"; readonly afterMs: number }
  /** A call of this callback that overran is still running. */
  | { readonly kind: "stillRunning" }
  /** The host is gone (exit, crash, memory) or is being started again with back-off. */
  | { readonly kind: "gone"; readonly error: string };

/** A host under way. Never throws or rejects. */
export interface Host {
  readonly spec: HostSpec;
  /** Starts it when it is not running, and loads the file. The same answer while it runs. */
  load(): Promise<Loaded>;
  /**
   * Calls a callback.
   * @param fields the event's fields (plugin) or `{event_type, context}` (gateway), digits kept
   * @param timeoutMs 0: no bound
   */
  call(callback: number, event: string, fields: Json, timeoutMs: number): Promise<CallResult>;
  /** Ends it with its process group: TERM, then KILL within a second. */
  close(): Promise<void>;
}
