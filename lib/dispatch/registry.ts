/** What a home has configured, and which of it may run: the dispatcher's view of one context. */
import path from "node:path";
import type { Context } from "../context.ts";
import { acceptedWithoutAsking, saysYes } from "../consent/accept.ts";
import {
  type Allowlist,
  allowlistFile,
  findApproval,
  readAllowlist,
} from "../consent/allowlist.ts";
import { loadConfig } from "../config/load.ts";
import type { ConfigNode } from "../config/node.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { hintFor } from "../events/names.ts";
import type { Problem } from "../events/problem.ts";
import { readEntries, type ShellEntry } from "../sources/shell/entry.ts";
import { matcherOf, matcherProblem, type ShellHost } from "../sources/shell/hook.ts";
import { expandTilde } from "../config/home.ts";
import type { Discovered } from "../sources/plugin/discover.ts";

/** Everything read from one home. Reading asks nobody and writes nothing. */
export interface Registry {
  readonly context: Context;
  readonly configExists: boolean;
  /** The whole config, expanded; undefined for a missing or empty one. */
  readonly root: ConfigNode | undefined;
  readonly settings: Settings;
  readonly entries: readonly ShellEntry[];
  /** Those enabled, looked at and not loaded. */
  readonly plugins: Discovered;
  readonly allowlist: Allowlist;
  readonly problems: readonly Problem[];
  /** rule 6.7: nothing is registered. */
  readonly safeMode: boolean;
  readonly host: ShellHost;
}

function hostOf(context: Context, settings: Settings): ShellHost {
  const env: Record<string, string> = { ...context.env };
  // rule 3.2: a hook gets the whole environment, less what signs deliveries and opens the listener
  for (const name of settings.secretNames) delete env[name];
  const { home, startFolder } = context;
  return { home, env, startFolder, expandTilde: (word) => expandTilde(word, context.env) };
}

/** The matchers that cannot be compiled (rule 2.4). */
export function matcherProblems(entries: readonly ShellEntry[], file: string): Problem[] {
  return entries.flatMap((entry): Problem[] => {
    const matcher = matcherOf(entry);
    const message = matcher && matcherProblem(entry, matcher);
    if (!message) return [];
    const { event, matcherLine: line, path } = entry;
    return [{ severity: "warning", file, path: `${path}.matcher`, line, message, event }];
  });
}

/** Looked for only where some are enabled: most of the time `fire` needs none of that code. */
async function pluginsOf({ home }: Context, settings: Settings, file: string): Promise<Discovered> {
  const { enabled } = settings.plugins;
  if (enabled.length === 0) return { plugins: [], broken: [], problems: [] };
  const { discoverPlugins } = await import("../sources/plugin/discover.ts");
  return await discoverPlugins(home, enabled, file);
}

/** A config that was asked for by name and is not there leaves every gate open: worth a word. */
function missingConfig({ home, configFile }: Context, exists: boolean): Problem[] {
  if (exists || configFile === path.join(home, "config.yaml")) return [];
  return [{ severity: "warning", file: configFile, path: "", message: "no such file: no hooks" }];
}

/**
 * Reads config and allowlist of a context.
 * @param event when given, only this event's matchers are looked at: `fire` needs no others
 * @returns a promise that rejects with a ConfigError when the config cannot be used at all (rule 1.2)
 */
export async function readRegistry(context: Context, event?: string): Promise<Registry> {
  const config = await loadConfig(context.configFile, context.env);
  const settings = readSettings(config.root, config.file);
  const { entries, problems } = readEntries(config.root, config.file, hintFor);
  const plugins = await pluginsOf(context, settings, config.file);
  const allowlist = readAllowlist(allowlistFile(context.home));
  return {
    context,
    configExists: config.exists,
    root: config.root,
    settings,
    entries,
    plugins,
    allowlist,
    problems: [
      ...missingConfig(context, config.exists),
      ...config.problems,
      ...problems,
      ...matcherProblems(entries.filter((e) => !event || e.event === event), config.file),
      ...settings.problems,
      ...plugins.problems,
      ...allowlist.problems,
    ],
    safeMode: saysYes(context.env["HERMES_SAFE_MODE"]),
    host: hostOf(context, settings),
  };
}

/** Is this entry's (event, command) pair approved (rule 6.1)? */
export function approved(registry: Registry, entry: ShellEntry): boolean {
  return findApproval(registry.allowlist, entry.event, entry.command) !== undefined;
}

/** In which way, if any, unseen hooks are approved without asking (rule 6.4). */
export function standingAcceptance(registry: Registry, flag: boolean) {
  const { context, settings } = registry;
  return acceptedWithoutAsking({ flag, env: context.env, configValue: settings.autoAccept });
}

/** Does a problem concern this event, so that `fire` must mention it (rule 1.6)? */
export function touches(problem: Problem, event: string): boolean {
  if (problem.event !== undefined) return problem.event === event;
  const { path } = problem;
  const own = `hooks.${event}`;
  if (path === own || path.startsWith(`${own}.`) || path.startsWith(`${own}[`)) return true;
  if (path.startsWith("hooks.output_spill")) return event === "pre_llm_call";
  if (path.startsWith("agent.")) return event === "pre_verify";
  // A plugin that is not loaded may have been a gate on any event.
  if (path.startsWith("plugins.")) return true;
  return ["", "hooks", "hooks_auto_accept", "plugins"].includes(path);
}
