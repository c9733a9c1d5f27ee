/**
 * `config check FILE`: files as they stand in a repository, with no home and no machine behind
 * them. What only the machine in use can say (is a variable set, a script there, a hook approved,
 * who owns a file) is not asked, so that the same files give the same findings everywhere.
 */
import { statSync } from "node:fs";
import path from "node:path";
import { type Config, ConfigError, loadConfig } from "../../config/load.ts";
import { at } from "../../config/node.ts";
import { readQueueSettings } from "../../config/queue_settings.ts";
import { readServeSettings } from "../../config/serve_settings.ts";
import { readSettings, type Settings } from "../../config/settings.ts";
import { matcherProblems } from "../../dispatch/registry.ts";
import { hintFor } from "../../events/names.ts";
import { readTargets } from "../../outbound/target.ts";
import { readGatewayFolder } from "../../sources/gateway/folder.ts";
import { discoverPlugins, pluginFolderProblems } from "../../sources/plugin/discover.ts";
import { readEntries, type ShellEntry } from "../../sources/shell/entry.ts";
import { splitWords, WordsError } from "../../sources/shell/words.ts";
import { type Checked, type Finding, findingOf } from "./finding.ts";
import { folderFiles, folderProblems, isFile, namesIn } from "./folders.ts";
import { withGates } from "./gates.ts";

const HOOK = /^hook\.ya?ml$/i;
const PLUGIN = /^plugin\.ya?ml$/i;

/** Stands for every secret that a config names: whether one is there is for the machine to say. */
const SOME_SECRET = "not-looked-at";

function commandFindings(entries: readonly ShellEntry[], file: string): Finding[] {
  return entries.flatMap(({ command, path, line }): Finding[] => {
    try {
      splitWords(command);
      return [];
    } catch (error) {
      if (!(error instanceof WordsError)) throw error;
      const message = `cannot be parsed: ${error.message}`;
      return [{ level: "error", kind: "hook-command", file, path, line, message }];
    }
  });
}

function secretNotes({ root, file }: Config): Finding[] {
  const outbound = at(at(root, "hooks"), "outbound");
  const items = outbound?.kind === "list" ? outbound.items : [];
  return items.flatMap((item, i): Finding[] => {
    const entry = item.kind === "map" ? item.entries.get("secret_env") : undefined;
    if (!entry || (entry.value.kind === "scalar" && entry.value.value === null)) return [];
    const message = "whether the variable is set is not checked here";
    const { line } = entry.key;
    const where = `hooks.outbound[${i}].secret_env`;
    return [{ level: "note", kind: "not-checked", file, path: where, line, message }];
  });
}

/** A file on the machine in use need not be on this one. */
function isElsewhere({ path, message }: Finding): boolean {
  return /^hooks\.outbound\[\d+\]\.ca_file$/.test(path) && message.includes(": ENOENT");
}

/** A value that holds a variable cannot be judged; that it is one is noted once. */
function withoutMachine(findings: readonly Finding[]): Finding[] {
  const unset = new Set(findings.filter((f) => f.kind === "unset-variable").map((f) => f.path));
  return findings.flatMap((finding): Finding[] => {
    if (finding.kind === "unset-variable") {
      const name = /^"[^"]*"/.exec(finding.message)?.[0] ?? "a variable";
      const message = `holds the variable ${name}; the value is not checked here`;
      return [{ ...finding, level: "note", kind: "not-checked", message }];
    }
    if (unset.has(finding.path)) return [];
    if (!isElsewhere(finding)) return [finding];
    const message = "whether the file is there is not checked here";
    return [{ ...finding, level: "note", kind: "not-checked", message }];
  });
}

interface ConfigFile extends Checked {
  readonly settings?: Settings;
}

async function checkConfig(file: string, env: Record<string, string>): Promise<ConfigFile> {
  let config: Config;
  try {
    config = await loadConfig(file, env);
  } catch (error) {
    if (!(error instanceof ConfigError) || !error.problem) throw error;
    return { files: [file], findings: [findingOf(error.problem)] };
  }
  const settings = readSettings(config.root, file);
  const { entries, problems } = readEntries(config.root, file, hintFor);
  const secrets = Object.fromEntries(settings.secretNames.map((name) => [name, SOME_SECRET]));
  const all = [
    ...config.problems,
    ...problems,
    ...matcherProblems(entries, file),
    ...settings.problems,
    ...readServeSettings(settings.serve, file).problems,
    ...readQueueSettings(config.root, file).problems,
    ...readTargets(config.root, file, { ...env, ...secrets }).problems,
  ].map((problem) => findingOf(problem));
  const findings = [
    ...withGates(withoutMachine(all), file, config.root, entries),
    ...commandFindings(entries, file),
    ...secretNotes(config),
  ];
  return { files: [file], findings, settings };
}

async function checkHomeFolder(home: string, env: Record<string, string>): Promise<Checked> {
  const file = path.join(home, "config.yaml");
  const config: ConfigFile = isFile(file)
    ? await checkConfig(file, env)
    : { files: [], findings: [] };
  const enabled = config.settings?.plugins.enabled ?? [];
  const problems = [
    ...(await discoverPlugins(home, enabled, file)).problems,
    ...await folderProblems(home, enabled),
  ];
  return {
    files: [...config.files, ...folderFiles(home)],
    findings: [...config.findings, ...problems.map((problem) => findingOf(problem))],
  };
}

async function checkHook(file: string): Promise<Checked> {
  const { problems } = await readGatewayFolder(path.dirname(file));
  return { files: [file], findings: problems.map((problem) => findingOf(problem)) };
}

async function checkPlugin(file: string): Promise<Checked> {
  const problems = await pluginFolderProblems(path.dirname(file));
  return { files: [file], findings: problems.map((problem) => findingOf(problem)) };
}

function refused(file: string, message: string): Checked {
  return { files: [], findings: [{ level: "error", kind: "unreadable", file, path: "", message }] };
}

async function checkFolder(folder: string, env: Record<string, string>): Promise<Checked> {
  const names = namesIn(folder);
  const hook = names.find((name) => HOOK.test(name));
  const plugin = names.find((name) => PLUGIN.test(name));
  const home = ["config.yaml", "hooks", "plugins"].some((name) => names.includes(name));
  const parts = [
    ...(hook ? [await checkHook(path.join(folder, hook))] : []),
    ...(plugin ? [await checkPlugin(path.join(folder, plugin))] : []),
    ...(home ? [await checkHomeFolder(folder, env)] : []),
  ];
  if (parts.length === 0) {
    const message =
      "holds no config.yaml, HOOK.yaml or plugin.yaml, and no hooks or plugins folder";
    return refused(folder, message);
  }
  return {
    files: parts.flatMap(({ files }) => files),
    findings: parts.flatMap(({ findings }) => findings),
  };
}

/**
 * Checks one file, told by its name (HOOK.yaml and plugin.yaml with the folder they describe,
 * anything else is a config), or what a folder holds.
 * @param file absolute
 * @param userHome what `~` stands for in a `ca_file`
 */
export async function checkFile(file: string, userHome: string): Promise<Checked> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return refused(file, "no such file");
  const env = { HOME: userHome };
  if (stat.isDirectory()) return await checkFolder(file, env);
  const name = path.basename(file);
  if (HOOK.test(name)) return await checkHook(file);
  return PLUGIN.test(name) ? await checkPlugin(file) : await checkConfig(file, env);
}
