/**
 * An outbox on Redis, for tests; run as a program it is a listener that sends until it is killed:
 *
 *   redis_outbox.ts REDIS_URL RECEIVER_URL LOCK_MS
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import process from "node:process";
import { type Delivery, NotAccepted } from "../../lib/outbound/engine.ts";
import type { Outbox } from "../../lib/outbound/outbox.ts";
import { readRedisUrl, type RedisAddress } from "../../lib/config/redis_url.ts";
import { RedisEngine, type RedisEngineOptions } from "../../lib/outbound/redis/engine.ts";
import type { Target } from "../../lib/outbound/target.ts";
import type { Policy, Step } from "../../lib/outbound/work.ts";
import { outboxOf, targetsOf } from "./outbound_outbox.ts";
import type { Receiver } from "./outbound_receiver.ts";
import { type RedisServer, startRedis } from "./redis_server.ts";

/** The address of a URL that must be fine. */
export function addressOf(url: string): RedisAddress {
  const address = readRedisUrl(url);
  if (typeof address === "string") throw new Error(address);
  return address;
}

/** An engine on a Redis; what it logs goes into `lines`. */
export function engineOn(
  url: string,
  targets: readonly Target[],
  options: Partial<RedisEngineOptions> = {},
): { engine: RedisEngine; lines: string[] } {
  const lines: string[] = [];
  const engine = new RedisEngine({
    address: addressOf(url),
    log: (level, line) => level === "debug" ? undefined : lines.push(`${level}: ${line}`),
    retainMs: 3_600_000,
    target: (key) => targets.find((target) => target.key === key)?.options,
    ...options,
  });
  return { engine, lines };
}

/** After each failed attempt the next of these steps; the last one repeats. */
export function steps(...list: readonly Step[]): Policy {
  return {
    after: (_target, _delivery, { outcome }, made) =>
      outcome === "delivered"
        ? { settlement: { kind: "done" } }
        : list[Math.min(made, list.length) - 1] as Step,
  };
}

/** Tried again after so many milliseconds. */
export const again = (afterMs: number): Step => ({
  settlement: { kind: "retry", afterMs, why: { error: "answered 503", status: 503 } },
});

/** Given up. */
export const dead: Step = {
  settlement: { kind: "dead", why: { error: "answered 404", status: 404 } },
};

/** An outbox on an engine. */
export function outboxOn(engine: RedisEngine, targets: readonly Target[], policy: Policy): Outbox {
  return outboxOf(targets, { engine, policy }).outbox;
}

/** The one target that programs send to. */
export function receiverTarget(url: string): readonly Target[] {
  return targetsOf(`- {name: r, url: "${url}", events: [on_session_end], concurrency: 4}`).targets;
}

/** A delivery made up. */
export function delivery({ key }: Target): Delivery {
  return {
    id: randomBytes(16).toString("hex"),
    target: key,
    event: "on_session_end",
    wire: "{}",
    occurredAt: new Date().toISOString(),
    attempts: 0,
  };
}

/** What a receiver got, by id. */
export const idsOf = ({ posts }: Receiver) =>
  posts.map(({ headers }) => headers.get("x-hermes-delivery"));

/** Which of these did not arrive. */
export function lostOf(accepted: readonly string[], receiver: Receiver): string[] {
  const arrived = new Set(idsOf(receiver));
  return accepted.filter((id) => !arrived.has(id));
}

/** What is said when nothing is taken in, since Redis cannot be asked. */
export async function refusalOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof NotAccepted, String(error));
    assert.equal(error.reason, "unavailable");
    return error.message;
  }
  throw new Error("it was accepted");
}

/** A server for as long as the body takes. */
export async function withRedis(
  body: (redis: RedisServer) => Promise<void>,
  more: Parameters<typeof startRedis>[0] = {},
): Promise<void> {
  const redis = await startRedis(more);
  try {
    await body(redis as RedisServer);
  } finally {
    await redis?.close();
  }
}

if (import.meta.main) {
  const [url, receiver, lockMs] = process.argv.slice(2) as [string, string, string];
  const targets = receiverTarget(receiver);
  const { engine } = engineOn(url, targets, { lockMs: Number(lockMs) });
  outboxOn(engine, targets, steps(again(50)));
  console.log("sending");
}
