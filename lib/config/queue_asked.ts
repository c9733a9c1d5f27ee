/** Which queue a config asks for, read off its tree: asked at every `fire`, so it loads next to nothing. */
import { at, type ConfigNode } from "./node.ts";
import { isRedisUrl } from "./redis_url.ts";

/** What is asked for; `unknown`: something that cannot be had. */
export type QueueAsked = "memory" | "sqlite" | "redis" | "unknown";

const isNull = (node: ConfigNode) => node.kind === "scalar" && node.value === null;

/**
 * Looks at `hermes_hooks.outbound.queue`; memory where nothing is said. Whether it can be had, and
 * what is wrong where it is `unknown`, {@link readQueueSettings} says.
 */
export function queueAsked(root: ConfigNode | undefined): QueueAsked {
  const block = at(at(root, "hermes_hooks"), "outbound");
  if (block === undefined || isNull(block)) return "memory";
  if (block.kind !== "map") return "unknown";
  const queue = at(block, "queue");
  if (queue === undefined || isNull(queue)) return "memory";
  const text = queue.kind === "scalar" && typeof queue.value === "string" ? queue.value.trim() : "";
  if (text === "memory" || text === "sqlite") return text;
  return isRedisUrl(text) ? "redis" : "unknown";
}
