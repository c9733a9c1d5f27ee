/** Gateway hooks as `list` and `doctor` show them. */
import type { Context } from "../context.ts";
import type { Registry } from "../dispatch/registry.ts";
import type { Json, JsonObject } from "../events/json.ts";
import type { GatewayFolder } from "../sources/gateway/folder.ts";
import { gatewaySetup, hostSpec } from "../sources/gateway/gateway_hooks.ts";
import { exampleOf } from "../sources/gateway/subscription.ts";
import { gatewayHosts } from "./gateway_hosts.ts";
import { counted, line, type Style } from "./style.ts";

function hookLines({ name, description, events, handler }: GatewayFolder, style: Style): string[] {
  const about = description === "" ? "" : `  ${style.dim(line(description))}`;
  return [
    `    ${style.bold(line(name))}${about}`,
    `      ${events.map(line).join(", ")} · ${line(handler)}`,
  ];
}

/** All gateway hooks, for `list`. */
export function gatewayLines(hooks: readonly GatewayFolder[], style: Style): string[] {
  if (hooks.length === 0) return [];
  const lines = hooks.flatMap((hook) => hookLines(hook, style));
  return ["", counted(hooks.length, "gateway hook"), ...lines];
}

/** A gateway hook as `--json` shows it. */
export function gatewayJson(hook: GatewayFolder): JsonObject {
  const shown: JsonObject = new Map<string, Json>([
    ["source", "gateway"],
    ["name", hook.name],
    ["folder", hook.folder],
  ]);
  if (hook.description !== "") shown.set("description", hook.description);
  shown.set("events", [...hook.events]);
  shown.set("handler", hook.handler);
  shown.set("language", hook.language);
  return shown;
}

/** What `doctor` found out about one gateway hook. */
export interface GatewayFinding {
  readonly hook: GatewayFolder;
  /** Each counts as a problem. */
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  readonly unchecked: readonly string[];
}

/** Loads each one, as the listener does, and calls none: what a handler does is not ours to try. */
export async function examineAll(
  hooks: readonly GatewayFolder[],
  registry: Registry,
  context: Context,
): Promise<GatewayFinding[]> {
  if (hooks.length === 0) return [];
  if (registry.safeMode) {
    const unchecked = ["whether it loads: safe mode is on"];
    return hooks.map((hook) => ({ hook, problems: [], notes: [], unchecked }));
  }
  const makeHost = await gatewayHosts(context);
  const setup = gatewaySetup(registry, hooks);
  const findings: GatewayFinding[] = [];
  for (const hook of hooks) {
    const host = makeHost(hostSpec(hook, setup));
    const loaded = await host.load();
    await host.close();
    findings.push({
      hook,
      problems: loaded.ok ? [] : [`not loaded: ${loaded.error}`],
      notes: loaded.ok ? loaded.warnings : [],
      unchecked: [`what it does: try hermes-hooks gateway emit ${exampleOf(hook.events[0]!)}`],
    });
  }
  return findings;
}

/** A gateway hook that was looked at, for people. */
export function findingLines(finding: GatewayFinding, style: Style): string[] {
  const [head = "", ...rest] = hookLines(finding.hook, style);
  const mark = finding.problems.length > 0 ? style.bad : style.ok;
  return [
    `  ${mark} ${head.trimStart()}`,
    ...rest,
    ...finding.problems.map((text) => `      ${style.bad} ${style.red(line(text))}`),
    ...finding.notes.map((text) => `      ${style.warn} ${line(text)}`),
    ...finding.unchecked.map((text) => `      ${style.dot} not checked: ${line(text)}`),
  ];
}

/** The same for `--json`. */
export function findingJson({ hook, problems, notes, unchecked }: GatewayFinding): JsonObject {
  const shown = gatewayJson(hook);
  shown.set("problems", [...problems]);
  shown.set("notes", [...notes]);
  shown.set("not_checked", [...unchecked]);
  return shown;
}
