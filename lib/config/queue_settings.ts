/** `hermes_hooks.outbound`: which queue deliveries wait in, and how long dead letters are kept. */
import { z } from "zod";
import type { Problem } from "../events/problem.ts";
import { durationText, readDuration } from "./duration.ts";
import { at, type ConfigNode } from "./node.ts";
import { isRedisUrl, readRedisUrl } from "./redis_url.ts";
import { readBlock } from "./settings_block.ts";

/** Where deliveries wait. */
export type QueueKind =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite" }
  /** The URL may hold a password: never shown. */
  | { readonly kind: "redis"; readonly url: string };

/** The settings of the queue. */
export interface QueueSettings {
  /** Default: memory. */
  readonly queue: QueueKind;
  /** How long dead letters are kept, in ms. Default 7 days. */
  readonly retainMs: number;
}

/** What {@link readQueueSettings} returns. */
export interface QueueSettingsRead {
  readonly settings: QueueSettings;
  /**
   * An error among them: what was asked for is not known, and nothing may be taken in or sent
   * instead. The settings say memory then, which nobody asked for.
   */
  readonly problems: readonly Problem[];
}

const MINUTE = 60_000, DAY = 86_400_000;
const LEAST_RETAIN = MINUTE, MOST_RETAIN = 365 * DAY, DEFAULT_RETAIN = 7 * DAY;

const queue = z.string().transform((text, context): QueueKind => {
  const word = text.trim();
  if (word === "memory" || word === "sqlite") return { kind: word };
  if (typeof readRedisUrl(word) !== "string") return { kind: "redis", url: word };
  context.addIssue("no queue");
  return z.NEVER;
});

const retain = z.union([z.string(), z.number()]).transform((value, context) => {
  const ms = readDuration(value);
  if (ms !== undefined && ms >= LEAST_RETAIN && ms <= MOST_RETAIN) return ms;
  context.addIssue("no duration");
  return z.NEVER;
});

/** The schema of `hermes_hooks.outbound`; descriptions say what is expected, for messages and docs. */
export const queueSchema = z.object({
  queue: queue.default({ kind: "memory" })
    .describe("memory, sqlite, or a URL such as redis://127.0.0.1:6379/0"),
  retain: retain.default(DEFAULT_RETAIN)
    .describe("how long dead letters are kept: 1m to 365d, such as 7d"),
});

/**
 * Reads them. A bad `queue` is an error, and so is a block that is no mapping: whoever asked for
 * deliveries that are kept must not get ones that are not. Anything else that is bad falls back to
 * its default, with a warning.
 * @param root the whole config; undefined: all defaults
 */
export function readQueueSettings(root: ConfigNode | undefined, file: string): QueueSettingsRead {
  const { values, problems } = readBlock(at(at(root, "hermes_hooks"), "outbound"), {
    path: "hermes_hooks.outbound",
    file,
    fields: queueSchema.shape,
    fatal: ["queue"],
    isFatal: true,
    complaint: (key, value) => key === "queue" ? urlComplaint(value) : undefined,
    shownDefault: (key) => key === "retain" ? durationText(DEFAULT_RETAIN) : undefined,
  });
  const { queue, retain } = queueSchema.parse(values);
  return { settings: { queue, retainMs: retain }, problems };
}

/** What is wrong with a URL, which itself is not shown: it may have a password in it. */
function urlComplaint(value: unknown): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  const wrong = isRedisUrl(text) ? readRedisUrl(text) : undefined;
  return typeof wrong === "string" ? `the URL ${wrong}` : undefined;
}
