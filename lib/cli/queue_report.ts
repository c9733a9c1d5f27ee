/** The queue that keeps deliveries, as `doctor` looks at it. */
import { readdirSync } from "node:fs";
import path from "node:path";
import { type QueueSettings, readQueueSettings } from "../config/queue_settings.ts";
import type { Registry } from "../dispatch/registry.ts";
import type { Problem } from "../events/problem.ts";
import { NotAccepted } from "../outbound/engine.ts";
import { openKept } from "../outbound/open_kept.ts";
import type { Target } from "../outbound/target.ts";
import { TargetNames } from "../outbound/target_names.ts";

const PATH = "hermes_hooks.outbound.queue";

/** Everything about the queue that someone should look at; nothing where the queue is memory. */
export async function queueProblems(
  { context, root, safeMode }: Registry,
  targets: readonly Target[],
): Promise<Problem[]> {
  const { settings } = readQueueSettings(root, context.configFile);
  const { kind } = settings.queue;
  if (kind === "memory" || safeMode) return [];
  const file = kind === "sqlite" ? path.join(context.home, "outbound.db") : context.configFile;
  const warn = (message: string, severity: Problem["severity"] = "warning"): Problem => ({
    severity,
    file,
    path: kind === "sqlite" ? "" : PATH,
    message,
  });
  const aside = kind === "sqlite" ? setAside(context.home) : [];
  const found = aside.map((name) =>
    warn(`"${name}" was set aside since it is broken: deliveries in it were not made`)
  );
  if (settings.queue.kind === "redis") {
    const { probeRedis } = await import("../outbound/redis/probe.ts");
    const { isReached, problems } = await probeRedis(settings.queue.url);
    found.push(...problems.map((problem) => warn(problem, isReached ? "warning" : "error")));
    if (!isReached) return found;
  }
  try {
    return [...found, ...await letters(settings, context, targets, warn)];
  } catch (error) {
    if (!(error instanceof NotAccepted)) throw error;
    return [...found, warn(error.message, "error")];
  }
}

async function letters(
  settings: QueueSettings,
  { home, log, now }: Registry["context"],
  targets: readonly Target[],
  warn: (message: string) => Problem,
): Promise<Problem[]> {
  const open = await openKept({ home, log, now, queue: settings, targets });
  if (!open) return [];
  try {
    const [counts, statuses] = [await open.counts(), await open.kept.statuses()];
    const names = new TargetNames(targets.map(({ key, name }) => [key, name]));
    const name = (key: string) => names.of(key);
    const dead = [...counts].flatMap(([key, { dead = 0 }]) =>
      dead === 0 ? [] : [warn(
        `target "${name(key)}": ${dead} dead letter${dead === 1 ? " waits" : "s wait"}: see ` +
          "hermes-hooks deliveries list --state dead",
      )]
    );
    const held = [...statuses].flatMap(([key, { disabled, paused }]) => [
      ...(disabled
        ? [warn(
          `target "${
            name(key)
          }" is disabled since ${disabled.since}: ${disabled.reason}; lift it ` +
            `with: hermes-hooks deliveries enable ${name(key)}`,
        )]
        : []),
      ...(paused
        ? [warn(`target "${name(key)}" is paused until ${paused.until}: ${paused.reason}`)]
        : []),
    ]);
    return [...dead, ...held];
  } finally {
    await open.close();
  }
}

function setAside(home: string): string[] {
  try {
    return readdirSync(home).filter((name) =>
      name.startsWith("outbound.db.broken-") && !/-(?:wal|shm)$/.test(name)
    ).sort();
  } catch {
    return [];
  }
}
