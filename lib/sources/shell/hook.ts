/** A configured shell hook made runnable: its process started, its answer read. */
import type { Answer } from "../../events/answer.ts";
import { failureOutcome, readAnswer } from "../../events/answer.ts";
import type { Outcome } from "../../events/outcome.ts";
import type { Call, Hook, Match } from "../hook.ts";
import type { ShellEntry } from "./entry.ts";
import { compileMatcher, type Matcher } from "./matcher/matcher.ts";
import { prepareCommand } from "./program.ts";
import { type ProcessResult, runProcess } from "./run/process.ts";

/** What every shell hook of one home shares. */
export interface ShellHost {
  readonly home: string;
  /** For hooks: secrets already taken out (rule 3.2). */
  readonly env: Readonly<Record<string, string>>;
  readonly startFolder: string;
  readonly expandTilde: (word: string) => string;
}

/** One run in full: what the dispatcher needs, and what `test` and `doctor` show besides. */
export interface ShellRun {
  readonly outcome: Outcome;
  readonly answer: Answer;
  /** Absent when no process was started. */
  readonly process?: ProcessResult;
  /** Why no process ran to its end: not started, or timed out. */
  readonly failure?: string;
}

function hookEnv(host: ShellHost, event: string): Record<string, string> {
  return { ...host.env, HERMES_HOME: host.home, HERMES_HOOK_EVENT: event };
}

async function start(
  entry: ShellEntry,
  call: Call,
  host: ShellHost,
): Promise<{ failure: string; process?: ProcessResult } | { process: ProcessResult }> {
  const env = hookEnv(host, call.event);
  const { startFolder, expandTilde } = host;
  const program = prepareCommand(entry.command, { env, startFolder, cwd: call.cwd, expandTilde });
  if (!program.ok) return { failure: program.reason };
  const timeoutMs = entry.timeout * 1000;
  const process = await runProcess(program, { stdin: call.text, cwd: call.cwd, env, timeoutMs });
  if (process.spawnError !== undefined) return { failure: process.spawnError };
  if (process.timedOut) return { failure: `timed out after ${entry.timeout}s`, process };
  if (process.aborted) return { failure: "was interrupted", process };
  return { process };
}

/** rule 3.5: what was thrown away is said. */
function cutStderr(command: string, process: ProcessResult | undefined): string[] {
  return process?.stderrOver
    ? [`hook ${command}: stderr is over 4 MiB, the rest is discarded`]
    : [];
}

/** Runs one hook on one call. Never throws. */
export async function runShellEntry(
  entry: ShellEntry,
  call: Call,
  host: ShellHost,
): Promise<ShellRun> {
  const began = performance.now();
  const { command, failClosed } = entry;
  const started = await start(entry, call, host);
  const failed = "failure" in started ? started.failure : undefined;
  const answer = failed !== undefined
    ? failureOutcome({ command, reason: failed, failClosed })
    : readAnswer({ event: call.event, command, failClosed, ...started.process! });
  const outcome: Outcome = {
    source: "shell",
    name: command,
    outcome: answer.outcome,
    durationMs: performance.now() - began,
    directive: answer.directive,
    error: answer.error,
    warnings: [...answer.warnings, ...cutStderr(command, started.process)],
  };
  return { outcome, answer, process: started.process, failure: failed };
}

/** A gate whose pattern is broken guards everything (rule 2.4); what it says of that. */
export function matcherProblem(entry: ShellEntry, matcher: Matcher): string | undefined {
  if (matcher.kind !== "broken") return undefined;
  const what = `matcher broken: ${JSON.stringify(entry.matcher)}: ${matcher.error}`;
  return entry.failClosed
    ? `${what}; this fail_closed hook matches every tool`
    : `${what}; compared as a literal name`;
}

/** Decides whether an entry takes a call (rule 2.4). */
export function entryMatches(entry: ShellEntry, matcher: Matcher | undefined, call: Call) {
  if (!matcher) return { matched: true };
  // rule 2.4: a hook with a matcher does not fire on an event without a tool name
  if (call.toolName === undefined) return { matched: false };
  if (matcher.kind === "broken" && entry.failClosed) return { matched: true };
  return matcher.test(call.toolName);
}

/** The compiled matcher of an entry, if it has one. */
export function matcherOf(entry: ShellEntry): Matcher | undefined {
  if (entry.matcher === undefined) return undefined;
  const known = compiled.get(entry);
  if (known) return known;
  const matcher = compileMatcher(entry.matcher);
  compiled.set(entry, matcher);
  return matcher;
}

// Looked at while reading and again while running: compiled once.
const compiled = new WeakMap<ShellEntry, Matcher>();

/** The hook the dispatcher sees. */
export function shellHook(entry: ShellEntry, host: ShellHost): Hook {
  const matcher = matcherOf(entry);
  return {
    source: "shell",
    name: entry.command,
    event: entry.event,
    matcher: entry.matcher,
    matches: (call): Match | Promise<Match> => entryMatches(entry, matcher, call),
    run: async (call) => (await runShellEntry(entry, call, host)).outcome,
  };
}
