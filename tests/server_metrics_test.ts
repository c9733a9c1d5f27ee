import assert from "node:assert/strict";
import test from "node:test";
import { NotAccepted, type TargetStatus } from "../lib/outbound/engine.ts";
import type { TargetCounts } from "../lib/outbound/outbox.ts";
import { Metrics } from "../lib/server/metrics.ts";

const none = { waiting: 0, inFlight: 0, dropped: 0, delivered: 0, failed: 0 };
const counts = (list: [string, Partial<TargetCounts>][]) => () =>
  Promise.resolve(new Map(list.map(([key, each]) => [key, { name: key, ...none, ...each }])));

async function lines(metrics: Metrics, name: RegExp): Promise<string[]> {
  const { text } = await metrics.text();
  return text.split("\n").filter((line) => !line.startsWith("#") && name.test(line));
}

test("where deliveries are kept metrics tell dead letters, and which targets are kept back", async () => {
  const statuses = new Map<string, TargetStatus>([
    ["b", { paused: { until: "2026-01-01T00:00:00.000Z", reason: "answered 503" } }],
    ["c", { disabled: { since: "2026-01-01T00:00:00.000Z", reason: "it answered 410" } }],
  ]);
  const metrics = new Metrics(
    () => 0,
    counts([["a", { dead: 0 }], ["b", { dead: 3 }], ["c", { dead: 1 }]]),
    () => [],
    () => Promise.resolve(statuses),
  );
  assert.deepEqual(await lines(metrics, /_dead_letters|_target_/), [
    'hermes_hooks_dead_letters{target="a"} 0',
    'hermes_hooks_dead_letters{target="b"} 3',
    'hermes_hooks_dead_letters{target="c"} 1',
    'hermes_hooks_target_paused{target="a"} 0',
    'hermes_hooks_target_paused{target="b"} 1',
    'hermes_hooks_target_paused{target="c"} 0',
    'hermes_hooks_target_disabled{target="a"} 0',
    'hermes_hooks_target_disabled{target="b"} 0',
    'hermes_hooks_target_disabled{target="c"} 1',
  ]);
});

test("with memory there is no such value", async () => {
  const metrics = new Metrics(() => 0, counts([["a", { waiting: 2 }]]));
  assert.deepEqual(await lines(metrics, /_dead_letters|_target_/), []);
  assert.deepEqual(await lines(metrics, /queue_depth/), ['hermes_hooks_queue_depth{target="a"} 2']);
});

test("a queue that cannot be reached leaves a gap in its own values, and in no others", async () => {
  const away = () => Promise.reject(new NotAccepted("redis cannot be reached", "unavailable"));
  const metrics = new Metrics(() => 7, away, () => [], away);
  assert.deepEqual(await lines(metrics, /inflight/), ["hermes_hooks_events_inflight 7"]);
  assert.deepEqual(await lines(metrics, /queue_depth|_target_|deliveries_total/), []);
});
