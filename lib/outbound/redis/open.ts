/** Opens the engine on the Redis of a config. */
import { NotAccepted } from "../engine.ts";
import type { OpenKept } from "../open_kept.ts";
import type { QueueOptions } from "../queue.ts";
import { readRedisUrl } from "../../config/redis_url.ts";
import { RedisEngine } from "./engine.ts";

/**
 * Opens it, connected or not: deliveries are taken in and sent as soon as Redis can be reached.
 * @throws NotAccepted when the URL is none
 */
export function openRedis(url: string, options: QueueOptions): RedisEngine {
  const address = readRedisUrl(url);
  if (typeof address !== "string") return new RedisEngine({ ...options, address });
  throw new NotAccepted(`hermes_hooks.outbound.queue: the URL ${address}`, "unavailable");
}

/**
 * Opens it to look at what is kept and to change it.
 * @throws NotAccepted when the URL is none
 */
export function openRedisKept(url: string, options: QueueOptions): OpenKept {
  // Whoever asks hears of a lost connection as the answer; nothing here goes on trying.
  const engine = openRedis(url, { ...options, log: () => {} });
  return {
    kept: engine.kept,
    counts: () => engine.counts(),
    sending: () => Promise.resolve("elsewhere"),
    close: () => engine.close(),
  };
}
