/** Kept deliveries and their targets as `deliveries` shows them. */
import { SPANS } from "../config/duration.ts";
import { fromJs, type Json } from "../events/json.ts";
import type { KeptDelivery, QueueCounts, TargetStatus } from "../outbound/engine.ts";
import type { TargetNames } from "../outbound/target_names.ts";
import { column, line, type Style } from "./style.ts";

/** `3h`, `12m`, `0s`: the largest unit that is at least 1. */
export function span(ms: number): string {
  const [size, unit] = SPANS.find(([each]) => ms >= each) ?? [1_000, "s"];
  return `${Math.floor(Math.max(0, ms) / size)}${unit}`;
}

/** One line a delivery, under a heading. */
export function keptLines(
  deliveries: readonly KeptDelivery[],
  names: TargetNames,
  now: Date,
  style: Style,
): string[] {
  const rows = deliveries.map((delivery) => {
    const { id, target, event, state, attempts, occurredAt, dueAt, why } = delivery;
    const age = span(now.getTime() - Date.parse(occurredAt));
    const due = dueAt === undefined ? undefined : Date.parse(dueAt) - now.getTime();
    const next = due === undefined || state === "sending"
      ? ""
      : due <= 0
      ? "due"
      : `in ${span(due)}`;
    return {
      state,
      cells: [id, names.of(target), event, state, age, String(attempts), next].map(line),
      why: why ? line(why.error) : "",
    };
  });
  const head = ["ID", "TARGET", "EVENT", "STATE", "AGE", "TRIED", "NEXT"];
  const width = head.map((name, at) =>
    Math.max(...[name, ...rows.map(({ cells }) => cells[at]!)].map((text) => [...text].length))
  );
  const row = (cells: readonly string[], rest: string) =>
    [...cells.map((text, at) => column(text, width[at]!)), rest].join("  ").trimEnd();
  return [
    style.dim(row(head, "WHY")),
    ...rows.map(({ state, cells, why }) =>
      state === "dead" ? style.red(row(cells, why)) : row(cells, why)
    ),
  ];
}

type Statuses = ReadonlyMap<string, TargetStatus>;
type Counts = ReadonlyMap<string, QueueCounts>;

/** Every target that is configured or that the queue knows. */
function everyKey(configured: readonly string[], counts: Counts, statuses: Statuses): string[] {
  const known = [...counts].filter(([, { waiting, inFlight, dead = 0 }]) =>
    waiting + inFlight + dead > 0
  );
  return [
    ...new Set([
      ...configured,
      ...known.map(([key]) => key),
      ...statuses.keys(),
    ]),
  ];
}

/** How each target stands; `configured` are the keys of those in the config. */
export function statusJson(
  configured: readonly string[],
  names: TargetNames,
  counts: Counts,
  statuses: Statuses,
): Json {
  const shown = everyKey(configured, counts, statuses).map((key): Json => {
    const { waiting = 0, inFlight = 0, dead = 0 } = counts.get(key) ?? {};
    return fromJs({
      name: names.of(key),
      configured: names.has(key),
      waiting: waiting + inFlight,
      dead,
      ...statuses.get(key),
    });
  });
  return new Map([["targets", shown]]);
}

/** The same for people. */
export function statusLines(
  configured: readonly string[],
  names: TargetNames,
  counts: Counts,
  statuses: Statuses,
  style: Style,
): string[] {
  const keys = everyKey(configured, counts, statuses);
  if (keys.length === 0) return ["no targets"];
  return keys.flatMap((key) => {
    const { waiting = 0, inFlight = 0, dead = 0 } = counts.get(key) ?? {};
    const { disabled, paused } = statuses.get(key) ?? {};
    const name = names.of(key);
    const lines = [
      `${style.bold(line(name))}  ${waiting + inFlight} waiting, ${dead} dead`,
    ];
    if (!names.has(key)) {
      lines.push(`  ${style.warn} not configured any more: what waits is kept, not sent`);
    }
    if (disabled) {
      lines.push(
        `  ${style.bad} disabled since ${line(disabled.since)}: ${line(disabled.reason)}; ` +
          `lift it with: hermes-hooks deliveries enable ${line(name)}`,
      );
    }
    if (paused) {
      lines.push(`  ${style.warn} paused until ${line(paused.until)}: ${line(paused.reason)}`);
    }
    if (dead > 0) {
      lines.push(`  ${style.warn} see: hermes-hooks deliveries list --state dead`);
    }
    return lines;
  });
}
