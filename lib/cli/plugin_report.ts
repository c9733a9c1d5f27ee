/** How `list` and `doctor` show plugins: what each declares, what it registered, what is wrong. */
import { openPlugins } from "../dispatch/plugins.ts";
import type { Registry } from "../dispatch/registry.ts";
import { type Json, JsonNumber, type JsonObject } from "../events/json.ts";
import type { Problem } from "../events/problem.ts";
import type { Plugin } from "../sources/plugin/discover.ts";
import { type LoadedPlugin, notLoaded } from "../sources/plugin/plugins.ts";
import { counted, line, type Style } from "./style.ts";

/** One plugin, and what loading it showed; `loaded` is absent where it was not tried. */
export interface PluginFinding {
  readonly plugin: Plugin;
  readonly loaded?: LoadedPlugin;
}

/** Loads every enabled plugin, looks, and ends the hosts; in safe mode none is loaded. */
export async function examinePlugins(registry: Registry): Promise<PluginFinding[]> {
  const opened = await openPlugins(registry);
  if (!opened) return registry.plugins.plugins.map((plugin) => ({ plugin }));
  try {
    return (await opened.loadAll()).map((loaded) => ({ plugin: loaded.plugin, loaded }));
  } finally {
    await opened.close();
  }
}

/** What loading showed to be wrong. */
export function pluginProblems(findings: readonly PluginFinding[]): Problem[] {
  return findings.flatMap(({ plugin, loaded }): Problem[] => {
    const about = { severity: "warning", file: plugin.file, path: "" } as const;
    const { error, warnings = [] } = loaded ?? {};
    const failed: Problem[] = error === undefined
      ? []
      : [{ ...about, severity: "error", message: notLoaded(plugin.name, error) }];
    return [...failed, ...warnings.map((message) => ({ ...about, message }))];
  });
}

function countsOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function registeredText({ hooks }: LoadedPlugin): string {
  const counts = countsOf(hooks.map(({ event }) => event));
  const parts = [...counts].map(([event, count]) => count > 1 ? `${event} ×${count}` : event);
  return parts.length === 0 ? "none" : parts.join(", ");
}

function lines({ plugin, loaded }: PluginFinding, style: Style): string[] {
  const { name, version, description, provides, file } = plugin;
  const bad = loaded?.error !== undefined;
  const mark = bad ? style.bad : loaded ? style.ok : style.dot;
  const shown = [
    `  ${mark} ${style.bold(line(name))}${version ? ` ${line(version)}` : ""}` +
    (description ? style.dim(` ${line(description)}`) : ""),
    `      ${line(file)}`,
    `      declares   ${provides ? provides.map(line).join(", ") : "nothing (provides_hooks)"}`,
  ];
  if (!loaded) return [...shown, "      not loaded: safe mode is on"];
  if (loaded.error !== undefined) {
    return [...shown, `      ${style.bad} ${style.red(line(`not loaded: ${loaded.error}`))}`];
  }
  shown.push(`      registered ${line(registeredText(loaded))}`);
  const sections = loaded.sections.map(({ id }) => line(id));
  if (sections.length > 0) shown.push(`      sections   ${sections.join(", ")}`);
  return [...shown, ...loaded.notes.map((text) => `      ${style.dot} ${line(text)}`)];
}

/** For people. */
export function pluginLines(findings: readonly PluginFinding[], style: Style): string[] {
  if (findings.length === 0) return [];
  const all = findings.flatMap((finding) => lines(finding, style));
  return ["", counted(findings.length, "plugin"), ...all];
}

/** For `--json`. */
export function pluginJson({ plugin, loaded }: PluginFinding): JsonObject {
  const { name, version, description, provides, file, language } = plugin;
  const shown: JsonObject = new Map<string, Json>([["source", "plugin"], ["name", name]]);
  if (version !== undefined) shown.set("version", version);
  if (description !== undefined) shown.set("description", description);
  shown.set("file", file);
  shown.set("language", language);
  if (provides) shown.set("provides_hooks", [...provides]);
  shown.set("loaded", loaded !== undefined && loaded.error === undefined);
  if (!loaded) return shown;
  if (loaded.error !== undefined) return shown.set("error", loaded.error);
  const counts = countsOf(loaded.hooks.map(({ event }) => event));
  shown.set(
    "hooks",
    [...counts].map(([event, count]): Json =>
      new Map<string, Json>([["event", event], ["callbacks", new JsonNumber(String(count))]])
    ),
  );
  shown.set("sections", loaded.sections.map(({ id }) => id));
  shown.set("notes", [...loaded.notes]);
  return shown;
}
