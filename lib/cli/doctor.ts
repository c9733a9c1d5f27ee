/** `doctor`: is every hook there, able to start, approved, unchanged, and answering well? */
import type { Context } from "../context.ts";
import { callOf } from "../dispatch/dispatch.ts";
import { allowLine } from "../dispatch/register.ts";
import { readRegistry, type Registry } from "../dispatch/registry.ts";
import { findEvent } from "../events/catalog.ts";
import { type Json, writeJson } from "../events/json.ts";
import { sampleFields } from "../events/sample.ts";
import type { Problem } from "../events/problem.ts";
import type { ShellEntry } from "../sources/shell/entry.ts";
import { entryMatches, matcherOf, runShellEntry, type ShellRun } from "../sources/shell/hook.ts";
import { prepareCommand } from "../sources/shell/program.ts";
import { relativeWords } from "../sources/shell/program.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { consentText, driftText, filesLines, problemLines, traits } from "./list.ts";
import { queueProblems } from "./queue_report.ts";
import * as targetReport from "./targets.ts";
import { readTargets } from "../outbound/target.ts";
import { findGatewayFolders } from "../sources/gateway/folder.ts";
import * as gatewayReport from "./gateway_report.ts";
import * as pluginReport from "./plugin_report.ts";
import { triedLines } from "./test.ts";
import { counted, line, type Style, styleFor } from "./style.ts";
import { allProblems, hookJson, problemJson, survey, type Surveyed } from "./survey.ts";

/** What was found out about one hook. */
interface Finding {
  readonly hook: Surveyed;
  /** Each counts as a problem. */
  readonly problems: readonly string[];
  /** Worth knowing, no problem. */
  readonly notes: readonly string[];
  /** What could not be checked, and why. */
  readonly unchecked: readonly string[];
  readonly run?: ShellRun;
}

/** Tool names to try a matcher with; the first that it takes is used. */
const TOOLS = [
  "terminal",
  "write_file",
  "read_file",
  "patch",
  "web_search",
  "web_extract",
  "execute_code",
  "delegate_task",
  "search_files",
  "process",
  "todo",
  "memory",
  "mcp__server__tool",
];

/** A made-up call that the hook takes; undefined when its matcher takes no name we can think of. */
async function madeUpCall(entry: ShellEntry, registry: Registry) {
  const row = findEvent(entry.event)!;
  const sample = sampleFields(entry.event);
  const matcher = matcherOf(entry);
  const words = entry.matcher?.match(/[\p{L}\p{N}_-]+/gu) ?? [];
  const own = sample.get("tool_name");
  const names = matcher ? [...(own === undefined ? [] : [own]), ...words, ...TOOLS] : [own];
  for (const name of names) {
    const fields = new Map(sample);
    if (name !== undefined) fields.set("tool_name", name);
    const call = callOf(registry, row, entry.event, fields);
    if ((await entryMatches(entry, matcher, call)).matched) return call;
  }
  return undefined;
}

/** What a run shows: is the answer one that counts, and was there time to spare? */
function judge(entry: ShellEntry, run: ShellRun): { problems: string[]; notes: string[] } {
  const { answer, outcome, process, failure } = run;
  const problems: string[] = [];
  const notes: string[] = [];
  if (failure !== undefined) problems.push(failure);
  const refused = entry.event === "pre_tool_call" && process?.exitCode === 2;
  if (failure === undefined && answer.error !== undefined && !refused) problems.push(answer.error);
  else if (failure === undefined && (process?.exitCode || process?.signal) && !refused) {
    problems.push(`ended with ${process.signal ?? `exit code ${process.exitCode}`}`);
  }
  if (answer.misspoke) problems.push(...answer.warnings, ...answer.hints);
  if (failure === undefined && outcome.durationMs > entry.timeout * 500) {
    notes.push(
      `took ${
        (outcome.durationMs / 1000).toFixed(1)
      } s of its ${entry.timeout} s: close to a timeout`,
    );
  }
  return { problems: [...new Set(problems)], notes };
}

async function examine(hook: Surveyed, registry: Registry): Promise<Finding> {
  const { entry, consent } = hook;
  const problems: string[] = [];
  const notes: string[] = [];
  const unchecked: string[] = [];
  const { env, startFolder, expandTilde } = registry.host;
  const where = { env, startFolder, cwd: startFolder, expandTilde };
  const program = prepareCommand(entry.command, where);
  if (!program.ok) problems.push(program.reason);
  const relative = relativeWords(entry.command, where);
  if (relative.length > 0) {
    notes.push(
      `relative path ${relative.map((word) => `"${word}"`).join(", ")} depends on the folder the ` +
        `program is started in: write it absolute, or with ~`,
    );
  }
  if (consent === "unapproved") {
    const unarmed = hook.unarmed ? "UNARMED: " : "";
    problems.push(`${unarmed}not approved; approve it with: ${allowLine(entry.command)}`);
  }
  const drift = driftText(hook);
  if (drift) problems.push(`${drift}; look at it, then: ${allowLine(entry.command)}`);
  if (matcherOf(entry)?.kind === "broken") problems.push("matcher broken");
  const runnable = program.ok && consent === "approved" && !registry.safeMode;
  if (!runnable) {
    const why = registry.safeMode
      ? "safe mode is on"
      : consent !== "approved"
      ? "it is not approved"
      : "it cannot start";
    return { hook, problems, notes, unchecked: [`its answer: ${why}`] };
  }
  const call = await madeUpCall(entry, registry);
  if (!call) {
    unchecked.push("its answer: no made-up tool name fits the matcher; use test --for-tool");
    return { hook, problems, notes, unchecked };
  }
  const run = await runShellEntry(entry, call, registry.host);
  const judged = judge(entry, run);
  return {
    hook,
    problems: [...problems, ...judged.problems],
    notes: [...notes, ...judged.notes],
    unchecked,
    run,
  };
}

function findingLines(finding: Finding, style: Style): string[] {
  const { hook, run } = finding;
  const bad = finding.problems.length > 0;
  const lines = run
    ? triedLines({ hook, run }, style).slice(1)
    : [`      ${traits(hook.entry)}`, `      ${consentText(hook, style)}`];
  return [
    `  ${bad ? style.bad : style.ok} ${hook.entry.event}  ${style.bold(line(hook.entry.command))}`,
    ...lines,
    ...finding.problems.map((text) => `      ${style.bad} ${style.red(line(text))}`),
    ...finding.notes.map((text) => `      ${style.warn} ${line(text)}`),
    ...finding.unchecked.map((text) => `      ${style.dot} not checked: ${line(text)}`),
  ];
}

function findingJson({ hook, problems, notes, unchecked, run }: Finding): Json {
  const shown = hookJson(hook);
  shown.set("problems", [...problems]);
  shown.set("notes", [...notes]);
  shown.set("not_checked", [...unchecked]);
  if (run?.answer.directive) shown.set("parsed", run.answer.directive);
  return shown;
}

function asJson(
  registry: Registry,
  plugins: readonly pluginReport.PluginFinding[],
  findings: readonly Finding[],
  gateway: readonly gatewayReport.GatewayFinding[],
  probed: readonly targetReport.TargetFinding[],
  problems: readonly Problem[],
) {
  const { context, allowlist, safeMode } = registry;
  return new Map<string, Json>([
    ["home", context.home],
    ["config", context.configFile],
    ["allowlist", allowlist.file],
    ["safe_mode", safeMode],
    ["plugins", plugins.map(pluginReport.pluginJson)],
    ["hooks", findings.map(findingJson)],
    ["gateway", gateway.map(gatewayReport.findingJson)],
    ["outbound", probed.map(targetReport.findingJson)],
    ["problems", problems.map(problemJson)],
    ["ok", countProblems([...findings, ...gateway, ...probed], problems) === 0],
  ]);
}

function countProblems(
  findings: readonly { readonly problems: readonly string[] }[],
  problems: readonly Problem[],
): number {
  return findings.reduce((sum, { problems }) => sum + problems.length, problems.length);
}

/** rule 6.4: `doctor` records only when it is told to accept. */
async function acceptFirst(registry: Registry, io: Io): Promise<boolean> {
  const { recordApprovals } = await import("../consent/approval.ts");
  const { problemText } = await import("../events/problem.ts");
  const fresh = survey(registry, true).filter(({ consent }) => consent !== "approved");
  const approvals = fresh.map(({ entry: { event, command }, script }) => {
    return { event, command, script, via: "--accept-hooks" as const };
  });
  const problem = await recordApprovals(registry.allowlist.file, approvals, {
    now: registry.context.now(),
  });
  if (problem) io.err(`hermes-hooks: ${line(problemText(problem))}\n`);
  return fresh.length > 0;
}

/** Runs it: exit 1 when there are problems. */
export async function doctor(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) throw new UsageError("doctor takes no further words");
  let registry = await readRegistry(context);
  if (args.options["accept-hooks"] && await acceptFirst(registry, io)) {
    registry = await readRegistry(context);
  }
  const surveyed = survey(registry, false);
  const outbound = readTargets(registry.root, context.configFile, context.env);
  const plugins = await pluginReport.examinePlugins(registry);
  const found = await findGatewayFolders(context.home);
  const problems = [
    ...allProblems(registry, surveyed),
    ...pluginReport.pluginProblems(plugins),
    ...found.problems,
    ...outbound.problems,
    ...await queueProblems(registry, outbound.targets),
  ];
  const probing = targetReport.probeAll(outbound.targets, context);
  const findings: Finding[] = [];
  for (const hook of surveyed) findings.push(await examine(hook, registry));
  const gateway = await gatewayReport.examineAll(found.hooks, registry, context);
  const probed = await probing;
  const count = countProblems([...findings, ...gateway, ...probed], problems);
  if (args.options.json) {
    const shown = asJson(registry, plugins, findings, gateway, probed, problems);
    io.out(writeJson(shown, { printable: true }) + "\n");
    return count > 0 ? 1 : 0;
  }
  const style = styleFor(io.stdoutTty, context.env);
  const lines = [
    ...filesLines(registry, style),
    ...pluginReport.pluginLines(plugins, style),
    ...(plugins.length > 0
      ? [`  ${style.dot} not checked: what callbacks answer; they were loaded and not called`]
      : []),
    "",
    findings.length === 0 ? "no shell hooks" : counted(findings.length, "shell hook"),
    ...findings.flatMap((finding) => findingLines(finding, style)),
    ...(gateway.length > 0 ? ["", counted(gateway.length, "gateway hook")] : []),
    ...gateway.flatMap((finding) => gatewayReport.findingLines(finding, style)),
    ...(probed.length > 0 ? ["", counted(probed.length, "outbound target")] : []),
    ...probed.flatMap((finding) => targetReport.findingLines(finding, style)),
    ...problemLines(problems, style),
    "",
    count === 0 ? `${style.ok} no problems` : `${style.bad} ${counted(count, "problem")}`,
  ];
  io.out(lines.join("\n") + "\n");
  return count > 0 ? 1 : 0;
}
