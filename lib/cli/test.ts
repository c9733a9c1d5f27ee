/** `test EVENT`: the matching hooks on a made-up payload, approved or not, since the user asked. */
import type { Context } from "../context.ts";
import { callOf, runHooks } from "../dispatch/dispatch.ts";
import { readRegistry, type Registry, touches } from "../dispatch/registry.ts";
import { type EventRow, findEvent, pluginEvents } from "../events/catalog.ts";
import { firstChars, type Json, JsonNumber, printable, writeJson } from "../events/json.ts";
import { readFields } from "../events/payload.ts";
import { sampleFields } from "../events/sample.ts";
import { problemText } from "../events/problem.ts";
import { openPlugins } from "../dispatch/plugins.ts";
import type { Outcome } from "../events/outcome.ts";
import type { Call, Hook } from "../sources/hook.ts";
import { entryMatches, matcherOf, runShellEntry, type ShellRun } from "../sources/shell/hook.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { consentText, traits } from "./list.ts";
import { counted, line, type Style, styleFor } from "./style.ts";
import { survey, type Surveyed } from "./survey.ts";

/** How much of a hook's output is shown, in characters. */
const SHOWN = 400;

/** One hook that ran. */
export interface Tried {
  readonly hook: Surveyed;
  readonly run: ShellRun;
}

interface LeftOut {
  readonly hook: Surveyed;
  readonly why: string;
}

/**
 * The catalogue's row of an event that hooks can be tested on.
 * @throws UsageError for any other, with the full list
 */
async function testable(name: string | undefined): Promise<EventRow> {
  const row = name === undefined ? undefined : findEvent(name);
  if (row && row.kind !== "gateway") return row;
  const all = `events are: ${pluginEvents().join(", ")}`;
  if (name === undefined) throw new UsageError(`test needs an event; ${all}`);
  const { hintFor } = await import("../events/names.ts");
  const hint = hintFor(name);
  const what = row ? "no event to test" : "unknown event";
  throw new UsageError(`${what} "${printable(name)}"${hint ? `: ${hint}` : ""}\n${all}`);
}

/** Sample, then the payload file, then `--for-tool` (section 11). */
async function fieldsOf(args: Args, io: Io, row: EventRow): Promise<Map<string, Json> | string> {
  const { variant, "payload-file": file, "for-tool": tool } = args.options;
  if (variant !== undefined && !row.variants.some(({ name }) => name === variant)) {
    const names = row.variants.map(({ name }) => name).join(", ");
    throw new UsageError(`${row.name} has no variant "${printable(variant)}"; it has: ${names}`);
  }
  const fields = new Map(sampleFields(row.name, variant));
  if (file !== undefined) {
    const input = await io.readFile(file);
    if (!input.ok) return input.reason;
    const read = readFields(input.text, row.name);
    if (!read.ok && read.exit === 64) throw new UsageError(read.message);
    if (!read.ok) return `${file}: ${read.message}`;
    for (const [name, value] of read.fields) fields.set(name, value);
  }
  if (tool !== undefined) fields.set("tool_name", tool);
  return fields;
}

/** A hook that keeps what its run was like, to be shown. */
function recording(hook: Surveyed, registry: Registry, tried: Tried[]): Hook {
  const { entry } = hook;
  return {
    source: "shell",
    name: entry.command,
    event: entry.event,
    matcher: entry.matcher,
    matches: (call) => entryMatches(entry, matcherOf(entry), call),
    run: async (call) => {
      const run = await runShellEntry(entry, call, registry.host);
      tried.push({ hook, run });
      return run.outcome;
    },
  };
}

/** A plugin's hook that keeps what came of it. */
function recordingPlugin(hook: Hook, outcomes: Outcome[]): Hook {
  return {
    ...hook,
    run: async (call) => {
      const outcome = await hook.run(call);
      outcomes.push(outcome);
      return outcome;
    },
  };
}

function outcomeLines(outcome: Outcome, style: Style): string[] {
  const { name, outcome: came, durationMs, directive, error, warnings } = outcome;
  const parsed = directive ? writeJson(directive, { printable: true }) : "no directive";
  return [
    `  ${came === "failed" ? style.bad : style.ok} plugin ${style.bold(line(name))}`,
    `      ${error === undefined ? "returned" : line(error)} · ${Math.round(durationMs)} ms`,
    `      parsed: ${parsed}`,
    ...warnings.map((text) => `      ${style.warn} ${line(text)}`),
  ];
}

function outcomeJson({ name, outcome, durationMs, directive, error, warnings }: Outcome): Json {
  const shown = new Map<string, Json>([
    ["name", name],
    ["outcome", outcome],
    ["duration_ms", new JsonNumber(String(Math.round(durationMs)))],
  ]);
  if (error !== undefined) shown.set("failure", error);
  if (directive) shown.set("parsed", directive);
  return shown.set("warnings", [...warnings]);
}

async function leftOut(hooks: readonly Surveyed[], call: Call): Promise<LeftOut[]> {
  const out: LeftOut[] = [];
  for (const hook of hooks) {
    const { entry } = hook;
    if ((await entryMatches(entry, matcherOf(entry), call)).matched) continue;
    const tool = call.toolName === undefined ? "there is no tool name" : `not "${call.toolName}"`;
    out.push({ hook, why: `matcher ${JSON.stringify(entry.matcher)}: ${tool}` });
  }
  return out;
}

/** `exit 2`, `killed by SIGSEGV`, or why it did not run to its end. */
function endText({ failure, process }: ShellRun): string {
  if (failure !== undefined) return failure;
  if (process?.signal) return `killed by ${process.signal}`;
  return `exit ${process?.exitCode ?? "?"}`;
}

/** The directive exactly as the dispatcher gets it. */
function parsedText({ answer }: ShellRun): string {
  return answer.directive ? writeJson(answer.directive, { printable: true }) : "no directive";
}

/** stdout or stderr, cut at 400 characters. */
function outputLine(name: string, text: string | undefined): string[] {
  const trimmed = (text ?? "").trim();
  if (!trimmed) return [];
  const cut = firstChars(trimmed, SHOWN);
  return [`      ${name}: ${line(cut)}${cut.length < trimmed.length ? " …" : ""}`];
}

/** One run, for people; shared with `doctor`. */
export function triedLines({ hook, run }: Tried, style: Style): string[] {
  const failed = run.outcome.outcome === "failed";
  const ms = Math.round(run.outcome.durationMs);
  const consent = hook.consent === "approved" ? [] : [`      ${consentText(hook, style)}`];
  return [
    `  ${failed ? style.bad : style.ok} ${style.bold(line(hook.entry.command))}`,
    `      ${traits(hook.entry)}`,
    ...consent,
    `      ${line(endText(run))} · ${ms} ms`,
    ...outputLine("stdout", run.process?.stdout),
    ...outputLine("stderr", run.process?.stderr),
    `      parsed: ${parsedText(run)}`,
    ...[...run.answer.warnings, ...run.answer.hints].map((text) =>
      `      ${style.warn} ${line(text)}`
    ),
  ];
}

function triedJson({ hook, run }: Tried): Json {
  const { process, failure, answer, outcome } = run;
  const shown = new Map<string, Json>([
    ["command", hook.entry.command],
    ["consent", hook.consent],
    ["unarmed", hook.unarmed],
    ["outcome", outcome.outcome],
    ["duration_ms", new JsonNumber(String(Math.round(outcome.durationMs)))],
  ]);
  if (process && process.exitCode !== null) {
    shown.set("exit_code", new JsonNumber(String(process.exitCode)));
  }
  if (process?.signal) shown.set("signal", process.signal);
  if (failure !== undefined) shown.set("failure", failure);
  shown.set("stdout", firstChars(process?.stdout ?? "", SHOWN));
  shown.set("stderr", firstChars(process?.stderr ?? "", SHOWN));
  if (answer.directive) shown.set("parsed", answer.directive);
  shown.set("warnings", [...answer.warnings]);
  shown.set("hints", [...answer.hints]);
  return shown;
}

/** Runs it: exit 0 when the hooks ran, 1 when one could not start or timed out. */
export async function test(args: Args, io: Io, context: Context): Promise<number> {
  const [name, ...more] = args.words;
  if (more.length > 0) throw new UsageError("test takes one event");
  const row = await testable(name);
  const fields = await fieldsOf(args, io, row);
  if (typeof fields === "string") {
    io.err(`hermes-hooks: ${printable(fields)}\n`);
    return 1;
  }
  const registry = await readRegistry(context, row.name);
  const surveyed = survey(registry, args.options["accept-hooks"] ?? false);
  const own = surveyed.filter(({ entry }) => entry.event === row.name);
  const call = callOf(registry, row, row.name, fields);
  const tried: Tried[] = [];
  const outcomes: Outcome[] = [];
  const plugins = await openPlugins(registry, { event: row.name });
  const ofPlugins = await plugins?.hooksFor(row.name) ?? { hooks: [], warnings: [] };
  const { warnings } = ofPlugins;
  const hooks = [
    ...ofPlugins.hooks.map((hook) => recordingPlugin(hook, outcomes)),
    ...own.map((hook) => recording(hook, registry, tried)),
  ];
  const verdict = await runHooks(registry, { hooks, warnings }, call, fields);
  await plugins?.close();
  const out = await leftOut(own, call);
  const failed = outcomes.some(({ outcome }) => outcome === "failed") || warnings.length > 0;
  const exit = failed || tried.some(({ run }) => run.failure !== undefined) ? 1 : 0;
  if (args.options.json) {
    const json = new Map<string, Json>([
      ["event", row.name],
      ["payload", call.wire],
      ["safe_mode", registry.safeMode],
      ["plugins", outcomes.map(outcomeJson)],
      ["hooks", tried.map(triedJson)],
      [
        "left_out",
        out.map(({ hook, why }): Json => new Map([["command", hook.entry.command], ["why", why]])),
      ],
      ["verdict", verdict],
    ]);
    io.out(writeJson(json, { printable: true }) + "\n");
    return exit;
  }
  const style = styleFor(io.stdoutTty, context.env);
  const problems = registry.problems.filter((problem) => touches(problem, row.name));
  const lines = [
    `${row.name}: ${counted(outcomes.length + tried.length, "hook")} run, ${out.length} left out`,
    ...(registry.safeMode
      ? [`${style.warn} safe mode: HERMES_SAFE_MODE is set, fire would run none of these`]
      : []),
    ...outcomes.flatMap((one) => outcomeLines(one, style)),
    ...warnings.map((text) => `  ${style.bad} ${line(text)}`),
    ...tried.flatMap((one) => triedLines(one, style)),
    ...out.map(({ hook, why }) =>
      `  ${style.dot} ${line(hook.entry.command)}: left out, ${line(why)}`
    ),
    ...problems.map((problem) => `  ${style.warn} ${line(problemText(problem))}`),
    "",
    `verdict: ${writeJson(verdict, { printable: true })}`,
  ];
  io.out(lines.join("\n") + "\n");
  return exit;
}
