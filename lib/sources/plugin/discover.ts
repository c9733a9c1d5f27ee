/** The plugins of a home: folders in, what each says of itself and located problems out (rule 8.1). */
import { statSync } from "node:fs";
import path from "node:path";
import { at, type ConfigNode, type ScalarNode } from "../../config/node.ts";
import type { EnabledPlugin } from "../../config/plugin_settings.ts";
import { readTextFile } from "../../config/text_file.ts";
import { YamlSyntaxError } from "../../config/yaml_error.ts";
import { readConfigYaml } from "../../config/yaml_file.ts";
import { findEvent } from "../../events/catalog.ts";
import { hintFor } from "../../events/names.ts";
import type { Problem } from "../../events/problem.ts";

/** A plugin that can be loaded. */
export interface Plugin {
  /** Its folder's name: what `plugins.enabled` lists and messages name. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** Its folder, absolute. */
  readonly folder: string;
  /** What a host loads, absolute. */
  readonly file: string;
  readonly language: "script" | "python";
  /**
   * The events it declares under `provides_hooks`. Undefined: it declares none, or not all of it
   * can be understood, and only loading shows what it registers.
   */
  readonly provides?: readonly string[];
}

/** An enabled plugin that is not there, or cannot be loaded. */
export interface BrokenPlugin {
  readonly name: string;
  /** Why, in one line. */
  readonly reason: string;
  readonly provides?: readonly string[];
}

/** What {@link discoverPlugins} returns; both lists in load order. */
export interface Discovered {
  readonly plugins: readonly Plugin[];
  readonly broken: readonly BrokenPlugin[];
  readonly problems: readonly Problem[];
}

/** The name under which a plugin says what it is. */
const MANIFEST = "plugin.yaml";
const ENTRIES = ["plugin.ts", "plugin.js", "plugin.mjs", "__init__.py"];

interface Manifest {
  readonly version?: string;
  readonly description?: string;
  readonly provides?: readonly string[];
}

type Report = (path: string, line: number | undefined, message: string) => void;

function isFolder(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

function isFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The file to load, or why there is not one. */
function entryOf(folder: string): { file: string } | { reason: string } {
  const there = ENTRIES.filter((name) => isFile(path.join(folder, name)));
  if (there.length === 1) return { file: path.join(folder, there[0]!) };
  const all = `${ENTRIES.slice(0, -1).join(", ")} or ${ENTRIES.at(-1)}`;
  if (there.length === 0) return { reason: `no ${all} in its folder` };
  return { reason: `${there.join(" and ")} in its folder, expected only one of ${all}` };
}

/** Text as it is, a number as it was probably meant (`version: 1.0`). */
function textOf(node: ConfigNode | undefined): string | undefined {
  const value = node?.kind === "scalar" ? node.value : null;
  if (value === null || typeof value === "boolean") return undefined;
  return typeof value === "number" && Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** Undefined when the list is absent, empty, or not wholly understood: then only loading tells. */
function readProvides(node: ConfigNode | undefined, report: Report): string[] | undefined {
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  const unsure = "; the plugin is loaded to find out";
  if (node.kind !== "list") {
    report("provides_hooks", node.line, `expected a list of events${unsure}`);
    return undefined;
  }
  let sure = true;
  const events = new Set<string>();
  node.items.forEach((item, i) => {
    const where = `provides_hooks[${i}]`;
    const name = item.kind === "scalar" ? (item as ScalarNode).value : undefined;
    const row = typeof name === "string" ? findEvent(name) : undefined;
    if (typeof name === "string" && row && row.kind !== "gateway") return events.add(name);
    // A slip for a gate's event must not leave the gate open: what is not understood is looked up.
    sure = false;
    if (typeof name !== "string") return report(where, item.line, `expected an event${unsure}`);
    const hint = hintFor(name) ?? "see hermes-hooks events";
    report(where, item.line, `unknown event "${name}"${unsure}: ${hint}`);
  });
  return sure && events.size > 0 ? [...events] : undefined;
}

function readManifest(root: ConfigNode | undefined, name: string, report: Report): Manifest {
  const named = at(root, "name");
  const said = textOf(named);
  if (named && said !== undefined && said.trim() !== name) {
    report("name", named.line, `is "${said}", but the folder's name counts: "${name}"`);
  }
  const hooks = root?.kind === "map" ? root.entries.get("hooks") : undefined;
  if (hooks) {
    const message = "is not read here: list the events a plugin registers under provides_hooks";
    report("hooks", hooks.key.line, message);
  }
  return {
    version: textOf(at(root, "version")),
    description: textOf(at(root, "description")),
    provides: readProvides(at(root, "provides_hooks"), report),
  };
}

/** Reads one `plugin.yaml`; a reason instead when the plugin cannot be used for it. */
async function manifestOf(
  file: string,
  name: string,
  problems: Problem[],
): Promise<Manifest | { reason: string; line?: number; column?: number }> {
  const read = readTextFile(file);
  if (read.state === "unusable") return { reason: `${MANIFEST} ${read.why}` };
  if (read.state !== "read") return { reason: `no ${MANIFEST} in its folder` };
  try {
    const yaml = await readConfigYaml(read.text, file);
    const { root } = yaml;
    problems.push(...yaml.problems);
    if (root && root.kind !== "map" && !(root.kind === "scalar" && root.value === null)) {
      return { reason: `${MANIFEST} is no mapping`, line: root.line };
    }
    return readManifest(root, name, (at, line, message) =>
      problems.push({
        severity: "warning",
        file,
        path: at,
        line,
        message: `plugin "${name}": ${message}`,
      }));
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    const { line, column, message } = error;
    return { reason: `${MANIFEST} is no valid YAML: ${message}`, line, column };
  }
}

type Found =
  | { readonly kind: "plugin"; readonly plugin: Plugin }
  | { readonly kind: "broken"; readonly broken: BrokenPlugin };

async function discover(
  home: string,
  { name, path: where, line }: EnabledPlugin,
  configFile: string,
  problems: Problem[],
): Promise<Found> {
  const folder = path.join(home, "plugins", name);
  if (isFolder(folder)) return await readFolder(folder, name, problems);
  const reason = `there is no folder "${folder}"`;
  const message = `no plugin "${name}": ${reason}`;
  problems.push({ severity: "warning", file: configFile, path: where, line, message });
  return { kind: "broken", broken: { name, reason } };
}

async function readFolder(folder: string, name: string, problems: Problem[]): Promise<Found> {
  const manifestFile = path.join(folder, MANIFEST);
  const manifest = await manifestOf(manifestFile, name, problems);
  const broken = (reason: string, at: { line?: number; column?: number } = {}): Found => {
    const message = `plugin "${name}" is not loaded: ${reason}`;
    problems.push({ severity: "error", path: "", file: manifestFile, ...at, message });
    const provides = "reason" in manifest ? undefined : manifest.provides;
    return { kind: "broken", broken: { name, reason, provides } };
  };
  if ("reason" in manifest) {
    const { reason, line, column } = manifest;
    return broken(reason, { line, column });
  }
  const entry = entryOf(folder);
  if ("reason" in entry) return broken(entry.reason);
  const { file } = entry;
  const language = file.endsWith(".py") ? "python" : "script";
  return { kind: "plugin", plugin: { name, folder, file, language, ...manifest } };
}

/**
 * What is wrong with the one plugin in `folder`, wherever that is and whether enabled or not.
 * @param folder absolute
 */
export async function pluginFolderProblems(folder: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  await readFolder(folder, path.basename(folder), problems);
  return problems;
}

/**
 * Looks at each enabled plugin; loads none, and one that cannot be read never takes another down.
 * @param home absolute
 * @param enabled in load order
 * @param configFile where `plugins.enabled` stands, for problems
 */
export async function discoverPlugins(
  home: string,
  enabled: readonly EnabledPlugin[],
  configFile: string,
): Promise<Discovered> {
  const problems: Problem[] = [];
  const found: Found[] = [];
  for (const each of enabled) found.push(await discover(home, each, configFile, problems));
  return {
    plugins: found.flatMap((one) => one.kind === "plugin" ? [one.plugin] : []),
    broken: found.flatMap((one) => one.kind === "broken" ? [one.broken] : []),
    problems,
  };
}
