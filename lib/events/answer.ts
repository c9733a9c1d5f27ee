/** What a hook's answer means (section 4): from an exit and its output, or a value, to a directive. */
import { firstChars, isObject, parseJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Directive } from "./outcome.ts";
import { quoted, reading } from "./answer/reading.ts";
import type { Family, Reading } from "./answer/reading.ts";
import { asksNothing, toolCall, toolCallReturn } from "./answer/tool_call.ts";
import { context, contextReturn } from "./answer/context.ts";
import { verify } from "./answer/verify.ts";
import { admission, dispatch } from "./answer/message.ts";
import { transform } from "./answer/transform.ts";
import { transcription } from "./answer/transcription.ts";
import { classification } from "./answer/classification.ts";
import { command } from "./answer/command.ts";
import { observe } from "./answer/observe.ts";

/** What a block says when its hook did not say why (rule 4.2). */
export const DEFAULT_BLOCK_MESSAGE = "Blocked by shell hook.";
/** How much of a failing hook's stderr is shown, in code points (rules 4.9, 4.10). */
export const STDERR_SHOWN = 400;

/** A shell hook that has run to its end. */
export interface Ran {
  readonly event: string;
  /** The hook's command, as configured: every message names it. */
  readonly command: string;
  /** Null when it died by a signal. */
  readonly exitCode: number | null;
  /** Such as `SIGSEGV`; null when it exited. */
  readonly signal: string | null;
  /** Decoded; at most what rule 3.5 keeps. */
  readonly stdout: string;
  /** Decoded; at most what rule 3.5 keeps. */
  readonly stderr: string;
  /** Did it write more than is kept? Then stdout cannot be parsed (rule 3.5). */
  readonly stdoutOver: boolean;
  /** The entry's `fail_closed`; without effect on events that cannot block. */
  readonly failClosed: boolean;
}

/** What came of it. With `outcome`, `directive`, `error` and `warnings` it fits into an `Outcome`. */
export interface Answer {
  /** `failed` is also what became a block because its gate is closed (rule 4.12). */
  readonly outcome: "directive" | "none" | "failed";
  /** In its canonical shape; a block always has a message. */
  readonly directive?: Directive;
  /** Why it failed, in one line or the hook's own words; only with `failed`. */
  readonly error?: string;
  /** For the verdict, each naming the hook. */
  readonly warnings: readonly string[];
  /** Worth saying in `test` and `doctor` only (rule 4.8), each naming the hook. */
  readonly hints: readonly string[];
  /** Did it answer with something that cannot count on this event? What `doctor` counts. */
  readonly misspoke: boolean;
}

const SHELL: ReadonlyMap<string, Family> = new Map([
  ["pre_tool_call", toolCall],
  ["pre_llm_call", context],
  ["pre_verify", verify],
  ["pre_gateway_dispatch", dispatch],
  ["post_gateway_admission", admission],
  ["transform_tool_result", transform("result", true)],
  ["transform_terminal_output", transform("output", true)],
  ["transform_llm_output", transform("response_text", false)],
  ["pre_transcription", transcription],
]);

const RETURNED: ReadonlyMap<string, Family> = new Map([
  ...SHELL,
  ["pre_tool_call", toolCallReturn],
  ["pre_llm_call", contextReturn],
  ["transform_api_error_classification", classification],
]);

/** Can a hook on this event refuse, and so be a closed gate (rule 2.6)? */
function canBlock(event: string): boolean {
  return event === "pre_tool_call";
}

/** What was found on stdout. */
interface Heard {
  readonly reading: Reading;
  /** Why stdout is not an answer at all (rule 4.11). */
  readonly unreadable?: string;
  /** Why an object counts for nothing (rule 4.8). */
  readonly misspoke?: string;
}

/** Reads what a shell hook that ended said, rules 4.1 to 4.13. Never throws. */
export function readAnswer(ran: Ran): Answer {
  const heard = hearStdout(ran);
  if (canBlock(ran.event) && ran.exitCode === 2) return refused(ran, heard);
  const failure = exitFailure(ran);
  const named = (text: string) => `hook ${ran.command}: ${text}`;
  const warnings = [failure, heard.unreadable, ...heard.reading.malformed]
    .concat(heard.reading.warnings)
    .filter((text) => text !== undefined);
  const closed = ran.failClosed && canBlock(ran.event) ? shut(heard, failure) : undefined;
  const observing = !SHELL.has(ran.event);
  const misspoke = heard.misspoke === undefined ? [] : [heard.misspoke];
  if (closed !== undefined) {
    const failed = failureOutcome({ command: ran.command, reason: closed, failClosed: true });
    const kept = warnings.filter((text) => text !== closed || text === failure);
    return { ...failed, warnings: kept.map(named), misspoke: isMisspoken(heard) };
  }
  const hints = [...heard.reading.hints, ...(observing ? misspoke : [])].map(named);
  const said = {
    warnings: [...warnings, ...(observing ? [] : misspoke)].map(named),
    hints,
    misspoke: isMisspoken(heard),
  };
  const asked = withMessage(heard.reading.directive, DEFAULT_BLOCK_MESSAGE);
  if (asked) return { outcome: "directive", directive: asked, ...said };
  const error = failure ?? heard.unreadable;
  return error === undefined ? { outcome: "none", ...said } : { outcome: "failed", error, ...said };
}

/** Rule 4.9: exit 2 blocks, whatever stdout holds. */
function refused(ran: Ran, heard: Heard): Answer {
  const said = heard.reading.directive;
  const own = said?.get("action") === "block" ? said.get("message") : undefined;
  const message = typeof own === "string" ? own : shown(ran.stderr) || DEFAULT_BLOCK_MESSAGE;
  return {
    outcome: "directive",
    directive: new Map([["action", "block"], ["message", message]]),
    warnings: ran.stdoutOver ? [`hook ${ran.command}: ${STDOUT_OVER}`] : [],
    hints: [],
    misspoke: false,
  };
}

/** Why a closed gate shuts (rule 4.12), or undefined when what it said stands. */
function shut(heard: Heard, failure: string | undefined): string | undefined {
  const action = heard.reading.directive?.get("action");
  if (action === "block") return undefined;
  if (failure !== undefined && action !== "approve") return failure;
  return heard.unreadable ?? heard.reading.malformed[0] ?? heard.misspoke;
}

function isMisspoken(heard: Heard): boolean {
  const { malformed, hints } = heard.reading;
  return malformed.length > 0 || hints.length > 0 || heard.misspoke !== undefined;
}

function withMessage(asked: Directive | undefined, fallback: string): Directive | undefined {
  if (asked?.get("action") !== "block" || asked.has("message")) return asked;
  return new Map([...asked, ["message", fallback]]);
}

/** `exit code 1: boom` or `killed by SIGSEGV`; undefined after a clean exit. */
function exitFailure(ran: Ran): string | undefined {
  if (ran.exitCode === 0 && ran.signal === null) return undefined;
  const how = ran.signal !== null
    ? `killed by ${ran.signal}`
    : ran.exitCode !== null
    ? `exit code ${ran.exitCode}`
    : "ended without an exit code";
  const why = shown(ran.stderr);
  return why === "" ? how : `${how}: ${why}`;
}

function shown(stderr: string): string {
  return firstChars(stderr.trim(), STDERR_SHOWN);
}

const STDOUT_OVER = "stdout is over 4 MiB, the rest is discarded";
const SILENT: Reading = reading({ counted: false });

function hearStdout(ran: Ran): Heard {
  if (ran.stdoutOver) return { reading: SILENT, unreadable: STDOUT_OVER };
  const text = ran.stdout.trim();
  if (text === "") return { reading: SILENT };
  const value = tryParse(text);
  if (value === undefined) {
    const hint = tryParse(text.slice(text.lastIndexOf("\n") + 1)) instanceof Map
      ? "; only its last line is: print everything else to stderr"
      : "";
    return { reading: SILENT, unreadable: `stdout is not JSON: ${quoted(text)}${hint}` };
  }
  const heard = hear(SHELL.get(ran.event) ?? observe, value);
  return heard ?? { reading: SILENT, unreadable: `stdout is not a JSON object: ${quoted(value)}` };
}

function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Undefined when the family does not take this kind of value. */
function hear(family: Family, value: Json): Heard | undefined {
  const heard = family.read(value);
  if (heard === undefined) return undefined;
  if (heard.counted || !isObject(value) || value.size === 0 || asksNothing(value)) {
    return { reading: heard };
  }
  return { reading: heard, misspoke: countsForNothing(family, value) };
}

function countsForNothing(family: Family, value: JsonObject): string {
  return `answer counts for nothing here: ${quoted(value)} (${family.advice(value)})`;
}

/**
 * Reads what a plugin's callback or a gateway handler returned (rules 8.5 and 9.3). Null is no
 * opinion. What cannot count is ignored, with a warning or, where nothing could count, a hint.
 * @param event a plugin event, or `command:<name>`
 * @param name whose callback it is, for the warnings
 */
export function readReturn(event: string, value: Json, name: string): Answer {
  const family = event.startsWith("command:") ? command : RETURNED.get(event) ?? observe;
  const heard = value === null ? undefined : hear(family, value);
  if (!heard) return { outcome: "none", warnings: [], hints: [], misspoke: false };
  const named = (text: string) => `hook ${name}: ${text}`;
  const said = heard.reading;
  const asked = said.directive;
  return {
    outcome: asked ? "directive" : "none",
    ...(asked && { directive: asked }),
    warnings: [...said.malformed, ...said.warnings].map(named),
    hints: [...said.hints, ...(heard.misspoke ? [heard.misspoke] : [])].map(named),
    misspoke: isMisspoken(heard),
  };
}

/** A hook that could not be run to its end. */
export interface Failure {
  readonly command: string;
  /** Such as `timed out after 5s` or `command not found: "x"`. */
  readonly reason: string;
  /** True only on an event that can block. */
  readonly failClosed: boolean;
}

/** What becomes of a spawn failure or a timeout: a warning, or a closed gate's block (4.11, 4.12). */
export function failureOutcome({ command, reason, failClosed }: Failure): Answer {
  const rest = { outcome: "failed", error: reason, hints: [], misspoke: false } as const;
  if (!failClosed) return { ...rest, warnings: [`hook ${command}: ${reason}`] };
  const message = `hook ${command} failed closed: ${reason}`;
  return {
    ...rest,
    directive: new Map([["action", "block"], ["message", message]]),
    warnings: [],
  };
}
