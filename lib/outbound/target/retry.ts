/** A target's `retry`: how often, how long and at what distance it is tried where deliveries are kept. */
import { RETRY_ATTEMPTS, RETRY_KEYS } from "../../config/bounds.ts";
import { durationText, readDuration } from "../../config/duration.ts";
import type { ConfigNode } from "../../config/node.ts";
import { type Entry, given, numberAt, shown, warnUnknown } from "./entry.ts";
import type { RetryPlan } from "./shape.ts";

const SECOND = 1_000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

/** 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, and 10 h again and again. */
export const DEFAULT_RETRY: RetryPlan = {
  attempts: RETRY_ATTEMPTS.fallback,
  maxAgeMs: 72 * HOUR,
  scheduleMs: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR],
};

const AGE = { from: MINUTE, to: 30 * DAY } as const;
const STEP = { from: SECOND, to: 7 * DAY } as const;
const MOST_STEPS = 100;

/** Reads it; what is not given or cannot be read is as in {@link DEFAULT_RETRY}. */
export function readRetry(entry: Entry): RetryPlan {
  const node = given(entry.map, "retry");
  if (node === undefined) return DEFAULT_RETRY;
  if (node.kind !== "map") {
    entry.warn("retry", `is ${shown(node)}, expected a mapping; using the defaults`);
    return DEFAULT_RETRY;
  }
  warnUnknown(entry, node, RETRY_KEYS, "retry.");
  const own: Entry = {
    ...entry,
    map: node,
    warn: (key, message) => entry.warn(`retry.${key}`, message),
  };
  return {
    attempts: numberAt(own, "attempts", RETRY_ATTEMPTS),
    maxAgeMs: readMaxAge(own),
    scheduleMs: readSchedule(own),
  };
}

function readMaxAge(own: Entry): number {
  const node = given(own.map, "max_age");
  const { maxAgeMs } = DEFAULT_RETRY;
  if (node === undefined) return maxAgeMs;
  return spanOf(own, "max_age", node, AGE, `using ${durationText(maxAgeMs)}`) ?? maxAgeMs;
}

/** All of it or none: a schedule without one of its steps is not what anyone meant. */
function readSchedule(own: Entry): readonly number[] {
  const node = given(own.map, "schedule");
  const { scheduleMs } = DEFAULT_RETRY;
  if (node === undefined) return scheduleMs;
  if (node.kind !== "list" || node.items.length === 0 || node.items.length > MOST_STEPS) {
    const expected = `a list of 1 to ${MOST_STEPS} spans such as [5s, 5m, 2h]`;
    own.warn("schedule", `is ${listShown(node)}, expected ${expected}; using the default`);
    return scheduleMs;
  }
  const steps = node.items.map((item, i) =>
    spanOf(own, `schedule[${i}]`, item, STEP, "using the default schedule")
  );
  const read = steps.filter((step) => step !== undefined);
  return read.length === steps.length ? read : scheduleMs;
}

function listShown(node: ConfigNode): string {
  return node.kind === "list" ? `a list of ${node.items.length}` : shown(node);
}

/** A span of time in ms, clamped to its bounds with a warning; undefined when it cannot be read. */
function spanOf(
  own: Entry,
  key: string,
  node: ConfigNode,
  { from, to }: { readonly from: number; readonly to: number },
  instead: string,
): number | undefined {
  const ms = node.kind === "scalar" ? readDuration(node.value) : undefined;
  if (ms === undefined) {
    const bounds = `from ${durationText(from)} to ${durationText(to)}`;
    own.warn(
      key,
      `is ${shown(node)}, expected a span such as 90s, 5m or 72h ${bounds}; ${instead}`,
    );
    return undefined;
  }
  const clamped = Math.min(to, Math.max(from, ms));
  if (clamped !== ms) {
    const [side, bound] = [clamped > ms ? "below" : "above", durationText(clamped)];
    own.warn(key, `is ${shown(node)}, ${side} ${bound}; using ${bound}`);
  }
  return clamped;
}
