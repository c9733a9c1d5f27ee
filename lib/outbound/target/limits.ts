/** How much a target is sent at a time, and how much may wait for it. */
import { KEPT_MAX_QUEUE, ORDERINGS, TARGET_LIMITS, WHEN_FULL } from "../../config/bounds.ts";
import type { QueueAsked } from "../../config/queue_asked.ts";
import { type Entry, given, numberAt, wordAt } from "./entry.ts";
import { DEFAULT_RETRY, readRetry } from "./retry.ts";
import type { TargetOptions } from "./shape.ts";

type Limits = Pick<
  TargetOptions,
  "timeout" | "concurrency" | "maxQueue" | "ratePerSecond" | "whenFull" | "ordering" | "retry"
>;

/** Reads them; what counts only where deliveries are kept draws a warning elsewhere. */
export function readLimits(entry: Entry, queue: QueueAsked): Limits {
  return {
    timeout: numberAt(entry, "timeout", TARGET_LIMITS.timeout),
    concurrency: numberAt(entry, "concurrency", TARGET_LIMITS.concurrency),
    maxQueue: numberAt(
      entry,
      "max_queue",
      queue === "memory" ? TARGET_LIMITS.max_queue : KEPT_MAX_QUEUE,
    ),
    ratePerSecond: numberAt(
      entry,
      "rate_limit_per_second",
      TARGET_LIMITS.rate_limit_per_second,
    ),
    ...(queue === "memory" ? notKept(entry) : {
      whenFull: wordAt(entry, "when_full", WHEN_FULL, "drop_new"),
      ordering: readOrdering(entry, queue),
      retry: readRetry(entry),
    }),
  };
}

function notKept(entry: Entry): Pick<Limits, "whenFull" | "ordering" | "retry"> {
  for (const key of ["retry", "when_full", "ordering"]) {
    if (given(entry.map, key) === undefined) continue;
    entry.warn(key, "counts only with hermes_hooks.outbound.queue sqlite or redis; ignored");
  }
  return { whenFull: "drop_new", ordering: "none", retry: DEFAULT_RETRY };
}

function readOrdering(entry: Entry, queue: QueueAsked): Limits["ordering"] {
  const ordering = wordAt(entry, "ordering", ORDERINGS, "none");
  if (ordering === "session" && queue === "redis") {
    entry.fail("ordering", `"session" cannot be had with a redis queue: use sqlite, or "none"`);
  }
  return ordering;
}
