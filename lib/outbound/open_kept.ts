/** What is kept, opened to be looked at and changed, without sending anything. */
import type { QueueSettings } from "../config/queue_settings.ts";
import type { KeptQueue, QueueCounts } from "./engine.ts";
import type { QueueOptions } from "./queue.ts";
import type { Target } from "./target.ts";

/** A queue that somebody else may be sending from at the same time. */
export interface OpenKept {
  readonly kept: KeptQueue;
  /** By {@link Target.key}; of targets that are not configured any more too. */
  counts(): Promise<ReadonlyMap<string, QueueCounts>>;
  /** Who sends from it now, on this machine; `elsewhere`: not known here, as with redis. */
  sending(): Promise<"listener" | "sender" | "nobody" | "elsewhere">;
  close(): Promise<void>;
}

/** What {@link openKept} is told. */
export interface OpenKeptOptions extends Pick<QueueOptions, "home" | "log" | "now"> {
  readonly queue: QueueSettings;
  /** The configured targets: what they say of `max_queue` and the like counts for what is handed in. */
  readonly targets: readonly Target[];
}

/**
 * Opens it; undefined for memory, which keeps nothing.
 * @throws NotAccepted when it cannot be opened
 */
export async function openKept(
  { queue: { queue, retainMs }, targets, ...rest }: OpenKeptOptions,
): Promise<OpenKept | undefined> {
  const byKey = new Map(targets.map((target) => [target.key, target.options]));
  const options: QueueOptions = { ...rest, retainMs, target: (key) => byKey.get(key) };
  switch (queue.kind) {
    case "memory":
      return undefined;
    case "sqlite":
      return await (await import("./sqlite/open.ts")).openSqlite(options);
    case "redis":
      return (await import("./redis/open.ts")).openRedisKept(queue.url, options);
  }
}
