/** Callbacks that an embedding program registers: they live in its own process, not in a host. */
import type { Context } from "../../context.ts";
import type { PluginSettings } from "../../config/plugin_settings.ts";
import { type Json, toJs } from "../../events/json.ts";
import { returnedJson } from "../host/returned.ts";
import type { CallResult } from "../host/host.ts";
import type { Hook } from "../hook.ts";
import { Failures } from "../failures.ts";
import { type Callback, type CallbackOptions, pluginHook } from "./hook.ts";

/**
 * A callback: the event's fields as plain JavaScript in, an answer as a plugin's callback gives it
 * out (rule 8.5); nothing is no opinion.
 */
export type InProcessCallback = (fields: Readonly<Record<string, unknown>>) => unknown;

function oneLine(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? error.message || error.name : String(error);
  } catch {
    text = "something that cannot be shown";
  }
  return text.split("\n")[0]!;
}

/** One function; at most one overrun call of it is still under way. */
class FunctionCallback implements Callback {
  #overran = false;

  constructor(
    readonly plugin: string,
    readonly event: string,
    readonly callback: InProcessCallback,
  ) {}

  async call(fields: Json, timeoutMs: number): Promise<CallResult> {
    if (this.#overran) return { kind: "stillRunning" };
    const answered = this.#run(fields);
    if (timeoutMs <= 0) return await answered;
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutMs);
    });
    const first = await Promise.race([answered, over]);
    clearTimeout(timer);
    // A function that kept the thread has overrun too, though its answer came first.
    if (first && performance.now() - began <= timeoutMs) return first;
    if (!first) {
      this.#overran = true;
      answered.then(() => this.#overran = false);
    }
    return { kind: "overran", afterMs: timeoutMs };
  }

  async #run(fields: Json): Promise<CallResult> {
    try {
      return {
        kind: "returned",
        value: returnedJson(await this.callback(toJs(fields) as Record<string, unknown>)),
      };
    } catch (error) {
      return { kind: "threw", error: oneLine(error) };
    }
  }
}

/** The callbacks of one dispatcher, in registration order. */
export class InProcess {
  readonly #hooks: Hook[] = [];
  readonly #options: CallbackOptions;

  constructor({ callbackTimeout, failClosed }: PluginSettings, log: Context["log"]) {
    this.#options = { callbackTimeout, failClosed, failures: new Failures(log) };
  }

  add(name: string, event: string, callback: InProcessCallback): void {
    this.#hooks.push(pluginHook(new FunctionCallback(name, event, callback), this.#options));
  }

  hooksFor(event: string): readonly Hook[] {
    return this.#hooks.filter((hook) => hook.event === event);
  }
}
