/** Gates that are in the file and will not run: each is an error, whatever else is wrong with it. */
import { at, type ConfigNode, type MapNode } from "../../config/node.ts";
import { RESERVED_KEYS } from "../../config/bounds.ts";
import { saysYes } from "../../consent/accept.ts";
import { findEvent } from "../../events/catalog.ts";
import type { ShellEntry } from "../../sources/shell/entry.ts";
import type { Finding } from "./finding.ts";

interface Gate {
  /** Such as `hooks.pre_tool_cal[0]`. */
  readonly path: string;
  readonly line: number;
}

/** rule 2.6: the snake_case spelling wins, null is absent. */
function isClosed(map: MapNode): boolean {
  const nodes = [at(map, "fail_closed"), at(map, "failClosed")];
  const node = nodes.find((each) => each && !(each.kind === "scalar" && each.value === null));
  if (node?.kind !== "scalar") return false;
  return node.value === true || (typeof node.value === "string" && saysYes(node.value));
}

function isRead(map: MapNode, event: string, entries: readonly ShellEntry[]): boolean {
  const command = at(map, "command");
  if (command?.kind !== "scalar" || typeof command.value !== "string") return false;
  const text = command.value.trim();
  const canBlock = findEvent(event)?.canBlock ?? false;
  return entries.some((entry) =>
    entry.event === event && entry.command === text && (entry.failClosed || !canBlock)
  );
}

/** Every closed hook below `node`, at whatever place it was put. */
function closedIn(node: ConfigNode, path: string): { map: MapNode; path: string }[] {
  if (node.kind === "list") return node.items.flatMap((item, i) => closedIn(item, `${path}[${i}]`));
  if (node.kind !== "map") return [];
  if (isClosed(node)) return [{ map: node, path }];
  return [...node.entries].flatMap(([name, { value }]) => closedIn(value, `${path}.${name}`));
}

function lostGates(root: ConfigNode | undefined, entries: readonly ShellEntry[]): Gate[] {
  const hooks = at(root, "hooks");
  if (!hooks) return [];
  const blocks: [string, ConfigNode][] = hooks.kind === "map"
    ? [...hooks.entries].map(([name, { value }]) => [name, value])
    : [["", hooks]];
  return blocks
    .filter(([event]) => !(RESERVED_KEYS as readonly string[]).includes(event))
    .flatMap(([event, block]) =>
      closedIn(block, event ? `hooks.${event}` : "hooks")
        .filter(({ map }) => !isRead(map, event, entries))
        .map(({ map, path }) => ({ path, line: map.line }))
    );
}

/** How near a finding is to a gate: the reason it is lost stands at it, just below, or above. */
function nearness({ path }: Finding, gate: Gate): number {
  if (path === `${gate.path}.command` || path === `${gate.path}.args`) return gate.path.length + 1;
  const above = gate.path === path || gate.path.startsWith(`${path}.`) ||
    gate.path.startsWith(`${path}[`);
  return above && path !== "" ? path.length : 0;
}

const words = (count: number) => count === 1 ? "a fail_closed gate" : `${count} fail_closed gates`;

/** A block that a later one of the same name replaces may have held a gate: nobody can tell. */
function isLostBlock({ kind, path }: Finding): boolean {
  return kind === "duplicate-key" && ["hooks", "hooks.pre_tool_call"].includes(path);
}

/** What is wrong with a config, with every finding that costs a gate made an error. */
export function withGates(
  findings: readonly Finding[],
  file: string,
  root: ConfigNode | undefined,
  entries: readonly ShellEntry[],
): Finding[] {
  const reasons = new Map<Finding, number>();
  const unexplained: Finding[] = [];
  for (const gate of lostGates(root, entries)) {
    const own = findings.filter((f) => f.file === file && nearness(f, gate) > 0);
    const reason = own.sort((a, b) => nearness(b, gate) - nearness(a, gate))[0];
    if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    else {
      const message = "UNARMED: this fail_closed gate will not run";
      unexplained.push({ level: "error", kind: "unarmed-gate", file, message, ...gate });
    }
  }
  const graver = findings.map((finding): Finding => {
    const count = reasons.get(finding);
    if (isLostBlock(finding)) {
      const message = `${finding.message}; a gate in what is lost is UNARMED`;
      return { ...finding, level: "error", message };
    }
    if (count === undefined) return finding;
    const said = finding.message.includes("UNARMED");
    const more = said ? "" : `; UNARMED: ${words(count)} will not run`;
    return { ...finding, level: "error", kind: "unarmed-gate", message: finding.message + more };
  });
  return [...graver, ...unexplained];
}
