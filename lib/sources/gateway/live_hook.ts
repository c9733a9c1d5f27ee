/** One gateway hook under way: its host, loaded when first needed and closed when nothing needs it. */
import type { Json } from "../../events/json.ts";
import { printable } from "../../events/json.ts";
import type { CallResult, Host, HostSpec } from "../host/host.ts";
import type { GatewayFolder } from "./folder.ts";

/** A gateway host has one callback, the handler. */
const HANDLER = 0;

/** What messages call a hook: by its name, and by its directory where that is another. */
export function labelOf({ name, directory }: GatewayFolder): string {
  const where = name === directory ? "" : ` (hooks/${printable(directory)})`;
  return `gateway hook "${printable(name)}"${where}`;
}

/** Makes hosts; a stand-in in tests. */
export type MakeHost = (spec: HostSpec) => Host;

/** See the file's head. */
export class LiveHook {
  readonly label: string;
  readonly #host: Host;
  readonly #tell: (level: "warning" | "debug", line: string) => void;
  #loaded: Promise<boolean> | undefined;
  #rejection: string | undefined;
  #users = 0;
  #idle: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  /**
   * @param stamp two hooks of the same stamp are the same one, read from the same files
   * @param host not started yet
   * @param tell the log
   */
  constructor(
    readonly entry: GatewayFolder,
    readonly stamp: string,
    host: Host,
    tell: (level: "warning" | "debug", line: string) => void,
  ) {
    this.label = labelOf(entry);
    this.#host = host;
    this.#tell = tell;
  }

  /** Why loading it failed; only a reload tries again. */
  get rejection(): string | undefined {
    return this.#rejection;
  }

  /** Starts and loads it, once; false when it is rejected, which is logged with its directory. */
  load(): Promise<boolean> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }

  async #load(): Promise<boolean> {
    const loaded = await this.#host.load();
    if (this.#closed) return false;
    if (loaded.ok) {
      for (const text of loaded.warnings) this.#tell("warning", `${this.label}: ${text}`);
      return true;
    }
    this.#rejection = loaded.error;
    this.#tell("warning", `${this.label} is not loaded: ${loaded.error}`);
    return false;
  }

  /**
   * Calls its handler.
   * @param timeoutMs 0: no bound
   * @returns undefined when it is rejected or closed: nothing was called
   */
  async call(event: string, context: Json, timeoutMs: number): Promise<CallResult | undefined> {
    if (!await this.load()) return undefined;
    const fields = new Map<string, Json>([["event_type", event], ["context", context]]);
    const result = await this.#host.call(HANDLER, event, fields, timeoutMs);
    return this.#closed ? undefined : result;
  }

  /** Keeps it from being closed by {@link retire} until as many releases. */
  hold(): void {
    this.#users++;
  }

  release(): void {
    this.#users--;
    if (this.#users === 0) this.#idle?.();
  }

  /** It is in force no longer: closes it when those that hold it are done; settles then. */
  async retire(): Promise<void> {
    if (this.#users > 0) await new Promise<void>((resolve) => this.#idle = resolve);
    await this.close();
  }

  /** Ends its host. */
  close(): Promise<void> {
    this.#closed ??= this.#host.close();
    return this.#closed;
  }
}
