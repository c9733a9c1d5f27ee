/** An outbox for tests: targets from config text, calls made up, log lines kept. */
import { readYaml } from "../../lib/config/yaml.ts";
import { fromJs, type JsonObject, writeJson } from "../../lib/events/json.ts";
import { createOutbox, type Outbox, type OutboxOptions } from "../../lib/outbound/outbox.ts";
import { readTargets, type Target, type Targets } from "../../lib/outbound/target.ts";
import { type Problem, problemText } from "../../lib/events/problem.ts";
import type { Call } from "../../lib/sources/hook.ts";

/** Reads the entries of `hooks.outbound`, given as YAML list items; `queue`: as in the config. */
export function targetsOf(
  items: string,
  env: Record<string, string> = {},
  queue = "memory",
): Targets {
  const indented = items.trimEnd().replace(/^/gm, "    ");
  const own = `hermes_hooks:\n  outbound:\n    queue: ${queue}\n`;
  const { root } = readYaml(`hooks:\n  outbound:\n${indented}\n${own}`, "config.yaml");
  return readTargets(root, "config.yaml", env);
}

/** The one target of an entry that must be fine. */
export function targetOf(item: string, env: Record<string, string> = {}): Target {
  const { targets: [target], problems } = targetsOf(item, env);
  if (!target) throw new Error(problems.map(problemText).join("\n"));
  return target;
}

export const texts = (problems: readonly Problem[]) => problems.map(problemText);

/** One event as the dispatcher makes it. */
export function call(event: string, extra: Record<string, unknown> = {}, toolName?: string): Call {
  const wire = fromJs({
    hook_event_name: event,
    tool_name: toolName ?? null,
    tool_input: toolName ? { command: "ls" } : null,
    session_id: "s1",
    cwd: "/",
    profile: "default",
    extra: { ...extra, telemetry_schema_version: "hermes.observer.v1" },
  }) as JsonObject;
  return { event, wire, text: writeJson(wire), cwd: "/", toolName };
}

/** An outbox and what it logged; `lines` holds no debug lines. */
export function outboxOf(
  targets: readonly Target[],
  options: Partial<OutboxOptions> = {},
): { outbox: Outbox; lines: string[]; debug: string[] } {
  const lines: string[] = [], debug: string[] = [];
  const outbox = createOutbox({
    targets,
    env: {},
    now: () => new Date(),
    log: (level, line) => (level === "debug" ? debug : lines).push(line),
    ...options,
  });
  return { outbox, lines, debug };
}
