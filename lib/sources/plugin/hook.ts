/** A plugin's callback made a hook: called with the event's fields, its return value read (section 8). */
import { readReturn } from "../../events/answer.ts";
import { findEvent } from "../../events/catalog.ts";
import type { Json } from "../../events/json.ts";
import type { Directive, Outcome } from "../../events/outcome.ts";
import { TELEMETRY_KEY, TELEMETRY_VALUE } from "../../events/payload.ts";
import type { CallResult } from "../host/host.ts";
import type { Call, Hook } from "../hook.ts";
import type { Failures } from "../failures.ts";

/** `subagent_stop` is exempt from the setting, but ends all the same (rule 8.3), in ms. */
const SUBAGENT_STOP_MS = 600_000;

/** One registered callback, wherever it lives. Never throws or rejects. */
export interface Callback {
  /** The plugin's name. */
  readonly plugin: string;
  readonly event: string;
  /** @param timeoutMs 0: no bound */
  call(fields: Json, timeoutMs: number): Promise<CallResult>;
}

/** What all callbacks of a home share. */
export interface CallbackOptions {
  /** `plugins.hook_callback_timeout`, in seconds; 0: no bound. */
  readonly callbackTimeout: number;
  /** `plugins.fail_closed`. */
  readonly failClosed: boolean;
  readonly failures: Failures;
}

/** The event's bare fields with the telemetry marker, where it carries one (section 7). */
export function callbackFields(call: Call): Json {
  const fields = new Map(call.fields);
  if (!findEvent(call.event)?.telemetry) return fields;
  fields.delete(TELEMETRY_KEY); // what the caller sent stands for nothing
  return fields.set(TELEMETRY_KEY, TELEMETRY_VALUE);
}

function timeoutOf(event: string, callbackTimeout: number): number {
  return event === "subagent_stop" ? SUBAGENT_STOP_MS : callbackTimeout * 1000;
}

type Said = Pick<Outcome, "outcome" | "directive" | "error" | "warnings">;

/** A failure of a callback, or of a whole plugin: a warning, or a closed gate's block. */
export function failedPlugin(plugin: string, reason: string, block: boolean): Said {
  const text = `plugin "${plugin}": ${reason}`;
  if (!block) return { outcome: "failed", error: reason, warnings: [text] };
  const directive: Directive = new Map([["action", "block"], ["message", text]]);
  return { outcome: "failed", error: reason, directive, warnings: [] };
}

/** Why a call gave no answer, and whether that alone closes the gate (rules 8.3, 8.5). */
function failureOf(
  result: Exclude<CallResult, { kind: "returned" }>,
  event: string,
  failClosed: boolean,
): { reason: string; block: boolean } {
  const gate = event === "pre_tool_call";
  const closed = gate && failClosed ? "failed closed: " : "";
  const undecided = gate ? ", so the tool call is blocked" : "";
  switch (result.kind) {
    case "threw":
      return { reason: `${closed}${event} callback threw: ${result.error}`, block: closed !== "" };
    case "gone":
      return {
        reason: `${closed}${event} callback gave no answer: its host ${result.error}`,
        block: closed !== "",
      };
    case "overran": {
      const seconds = Number((result.afterMs / 1000).toPrecision(3));
      return { reason: `${event} callback timed out after ${seconds}s${undecided}`, block: gate };
    }
    case "stillRunning": {
      const still = `${event} callback is still running since an earlier call timed out`;
      return { reason: `${still}${undecided}`, block: gate };
    }
  }
}

function read(result: CallResult, callback: Callback, options: CallbackOptions): Said {
  const { plugin, event } = callback;
  const { failures, failClosed } = options;
  if (result.kind !== "returned") {
    const { reason, block } = failureOf(result, event, failClosed);
    failures.say(`plugin "${plugin}": ${reason}`);
    return failedPlugin(plugin, reason, block);
  }
  const answer = readReturn(event, result.value, plugin);
  for (const hint of answer.hints) failures.debug(hint);
  return answer;
}

/** The hook the dispatcher sees. */
export function pluginHook(callback: Callback, options: CallbackOptions): Hook {
  const { plugin, event } = callback;
  return {
    source: "plugin",
    name: plugin,
    event,
    matches: () => ({ matched: true }),
    run: async (call) => {
      const began = performance.now();
      const timeoutMs = timeoutOf(event, options.callbackTimeout);
      const result = await callback.call(callbackFields(call), timeoutMs);
      const { outcome, directive, error, warnings } = read(result, callback, options);
      const durationMs = performance.now() - began;
      return { source: "plugin", name: plugin, outcome, durationMs, directive, error, warnings };
    },
  };
}

/** What stands in for a gate that could not be loaded, with `plugins.fail_closed`. */
export function closedGate(plugin: string, reason: string): Hook {
  const said = failedPlugin(plugin, `failed closed: ${reason}`, true);
  return {
    source: "plugin",
    name: plugin,
    event: "pre_tool_call",
    matches: () => ({ matched: true }),
    run: () => Promise.resolve({ source: "plugin", name: plugin, durationMs: 0, ...said }),
  };
}
