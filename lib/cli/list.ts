/** `list`: every hook and every problem; loads plugins to see what they register, runs no hook. */
import type { Context } from "../context.ts";
import { readRegistry, type Registry } from "../dispatch/registry.ts";
import { type Json, writeJson } from "../events/json.ts";
import { type Problem, problemText } from "../events/problem.ts";
import { matcherOf } from "../sources/shell/hook.ts";
import type { Args } from "./args.ts";
import { UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { counted, line, type Style, styleFor } from "./style.ts";
import { allTargetLines, targetJson } from "./targets.ts";
import { readTargets, type Target } from "../outbound/target.ts";
import { findGatewayFolders, type GatewayFolder } from "../sources/gateway/folder.ts";
import { gatewayJson, gatewayLines } from "./gateway_report.ts";
import {
  examinePlugins,
  type PluginFinding,
  pluginJson,
  pluginLines,
  pluginProblems,
} from "./plugin_report.ts";
import { allProblems, hookJson, problemJson, survey, type Surveyed } from "./survey.ts";

/** The marks behind a hook's command, for people: `matcher terminal · 10 s · fail_closed`. */
export function traits(entry: Surveyed["entry"]): string {
  const parts = [];
  if (entry.matcher !== undefined) {
    const broken = matcherOf(entry)?.kind === "broken";
    parts.push(`matcher ${broken ? "broken " : ""}${line(entry.matcher)}`);
  }
  parts.push(`timeout ${entry.timeout}s`);
  if (entry.failClosed) parts.push("fail_closed");
  return parts.join(" · ");
}

/** Consent in words, UNARMED in front of a closed gate that would not run. */
export function consentText(hook: Surveyed, style: Style): string {
  if (hook.unarmed) return `${style.bad} ${style.red("UNARMED: not approved")}`;
  if (hook.consent === "unapproved") return `${style.warn} ${style.yellow("not approved")}`;
  if (hook.consent === "accepted") return `${style.ok} accepted without asking, at its next run`;
  const when = hook.approvedAt ? ` ${line(hook.approvedAt)}` : "";
  return `${style.ok} approved${when}`;
}

/** What changed since the approval, or nothing. */
export function driftText({ drift }: Surveyed): string | undefined {
  if (!drift.drifted) return undefined;
  return `script modified since it was approved: ${drift.from} then, ${drift.to} now`;
}

function hookLines(hook: Surveyed, style: Style): string[] {
  const lines = [
    `    ${style.bold(line(hook.entry.command))}`,
    `      ${traits(hook.entry)}`,
    `      ${consentText(hook, style)}`,
  ];
  const drift = driftText(hook);
  if (drift) lines.push(`      ${style.warn} ${style.yellow(drift)}`);
  return lines;
}

/** The part that names the files, shared with `doctor`. */
export function filesLines(registry: Registry, style: Style): string[] {
  const { context, configExists, allowlist } = registry;
  const missing = (there: boolean) => there ? "" : style.dim(" (no such file)");
  const lines = [
    `home       ${line(context.home)} ${style.dim(`(profile ${line(context.profile)})`)}`,
    `config     ${line(context.configFile)}${missing(configExists)}`,
    `allowlist  ${line(allowlist.file)}`,
  ];
  if (registry.safeMode) {
    lines.push(`${style.warn} ${style.yellow("safe mode: HERMES_SAFE_MODE is set, no hook runs")}`);
  }
  return lines;
}

/** The problems, one line each. */
export function problemLines(problems: readonly Problem[], style: Style): string[] {
  if (problems.length === 0) return [];
  const shown = problems.map((problem) => {
    const mark = problem.severity === "error" ? style.bad : style.warn;
    return `  ${mark} ${line(problemText(problem))}`;
  });
  return ["", counted(problems.length, "problem"), ...shown];
}

function shellLines(surveyed: readonly Surveyed[], style: Style): string[] {
  if (surveyed.length === 0) return ["", "no shell hooks"];
  const lines = ["", counted(surveyed.length, "shell hook")];
  const events = [...new Set(surveyed.map(({ entry }) => entry.event))];
  for (const event of events) {
    lines.push(`  ${event}`);
    for (const hook of surveyed.filter(({ entry }) => entry.event === event)) {
      lines.push(...hookLines(hook, style));
    }
  }
  const waiting = surveyed.filter(({ consent }) => consent === "unapproved");
  if (waiting.length > 0) {
    lines.push(`${style.warn} approve with: hermes-hooks allow COMMAND, or allow --all`);
  }
  return lines;
}

function asJson(
  registry: Registry,
  plugins: readonly PluginFinding[],
  surveyed: readonly Surveyed[],
  gateway: readonly GatewayFolder[],
  targets: readonly Target[],
  problems: readonly Problem[],
) {
  const { context, configExists, allowlist, safeMode } = registry;
  return new Map<string, Json>([
    ["home", context.home],
    ["profile", context.profile],
    ["config", context.configFile],
    ["config_exists", configExists],
    ["allowlist", allowlist.file],
    ["safe_mode", safeMode],
    ["plugins", plugins.map(pluginJson)],
    ["hooks", surveyed.map(hookJson)],
    ["gateway", gateway.map(gatewayJson)],
    ["outbound", targets.map(targetJson)],
    ["problems", problems.map(problemJson)],
  ]);
}

/** Runs it: exit 1 when there are problems; an unapproved hook alone is none (section 11). */
export async function list(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) throw new UsageError("list takes no further words");
  const registry = await readRegistry(context);
  const surveyed = survey(registry, args.options["accept-hooks"] ?? false);
  const outbound = readTargets(registry.root, context.configFile, context.env);
  const { targets } = outbound;
  const plugins = await examinePlugins(registry);
  const gateway = await findGatewayFolders(context.home);
  const problems = [
    ...allProblems(registry, surveyed),
    ...pluginProblems(plugins),
    ...gateway.problems,
    ...outbound.problems,
  ];
  const exit = problems.length > 0 ? 1 : 0;
  if (args.options.json) {
    const shown = asJson(registry, plugins, surveyed, gateway.hooks, targets, problems);
    io.out(writeJson(shown, { printable: true }) + "\n");
    return exit;
  }
  const style = styleFor(io.stdoutTty, context.env);
  const lines = [
    ...filesLines(registry, style),
    ...pluginLines(plugins, style),
    ...shellLines(surveyed, style),
    ...gatewayLines(gateway.hooks, style),
    ...allTargetLines(targets, style),
    ...problemLines(problems, style),
  ];
  io.out(lines.join("\n") + "\n");
  return exit;
}
