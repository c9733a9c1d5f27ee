import assert from "node:assert/strict";
import test from "node:test";
import type { Outcome } from "../lib/events/outcome.ts";
import type { Call, Hook } from "../lib/sources/hook.ts";
import { isStreamEvent, STREAM_QUEUE_SIZE, StreamQueues } from "../lib/sources/stream_queue.ts";
import { callOf } from "./programs/plugin_home.ts";

const EVENT = "on_stream_delta";
const NONE: Outcome = {
  source: "plugin",
  name: "p",
  outcome: "none",
  durationMs: 0,
  warnings: [],
};

/** A hook that notes what it gets; with `wait` it is stuck until that settles. */
function noting(name: string, wait?: Promise<void>) {
  const seen: string[] = [];
  const hook: Hook = {
    source: "plugin",
    name,
    event: EVENT,
    matches: () => ({ matched: true }),
    run: async (call) => {
      seen.push(String(call.fields?.get("delta")));
      await wait;
      return NONE;
    },
  };
  return { hook, seen };
}

const delta = (n: number): Call => callOf(EVENT, `{"delta": "${n}"}`);

test("the four stream events are the ones whose caller waits for no hook", () => {
  const events = ["on_stream_start", EVENT, "on_stream_end", "on_interim_message"];
  assert.ok(events.every(isStreamEvent));
  assert.equal(isStreamEvent("post_llm_call"), false);
});

test("each hook gets its events in order, one at a time, and nothing runs on the caller's stack", async () => {
  const { hook, seen } = noting("p");
  const queues = new StreamQueues();
  for (let n = 0; n < 5; n++) queues.push([hook], delta(n));
  assert.deepEqual(seen, []);
  await queues.idle(1000);
  assert.deepEqual(seen, ["0", "1", "2", "3", "4"]);
  assert.equal(queues.counts()[0]!.delivered, 5);
});

test("a stuck hook loses only its own oldest events, and the drops are counted and told once", async () => {
  let free = () => {};
  const stuck = noting("stuck", new Promise<void>((resolve) => free = resolve));
  const quick = noting("quick");
  const told: string[] = [];
  const queues = new StreamQueues({ dropping: ({ name }) => void told.push(name) });
  queues.push([stuck.hook, quick.hook], delta(0));
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (let n = 1; n <= STREAM_QUEUE_SIZE + 3; n++) {
    queues.push([stuck.hook, quick.hook], delta(n));
    if (n % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  const [first, second] = queues.counts();
  assert.deepEqual([first!.waiting, first!.dropped, first!.delivered], [STREAM_QUEUE_SIZE, 3, 0]);
  assert.deepEqual([second!.dropped, second!.delivered], [0, STREAM_QUEUE_SIZE + 4]);
  assert.deepEqual(told, ["stuck"]);
  free();
  await queues.idle(2000);
  assert.deepEqual(stuck.seen.slice(0, 2), ["0", "4"]);
  assert.equal(stuck.seen.at(-1), String(STREAM_QUEUE_SIZE + 3));
});

test("events that come before the hooks are known wait, in order and bounded", async () => {
  const { hook, seen } = noting("p");
  const queues = new StreamQueues();
  let known: (hooks: Hook[]) => void = () => {};
  const hooks = new Promise<readonly Hook[]>((resolve) => known = resolve);
  for (let n = 0; n < STREAM_QUEUE_SIZE + 2; n++) queues.pushLater(hooks, delta(n));
  assert.equal(queues.lostEarly, 2);
  known([hook]);
  await hooks;
  await new Promise((resolve) => setTimeout(resolve, 5));
  await queues.idle(2000);
  assert.equal(seen.length, STREAM_QUEUE_SIZE);
  assert.equal(seen[0], "2");
});

test("hooks that cannot be found out lose the events and nothing else", async () => {
  const queues = new StreamQueues();
  queues.pushLater(Promise.reject(new Error("x")), delta(0));
  await queues.idle(100);
  assert.deepEqual(queues.counts(), []);
});

test("a closed queue takes nothing more and counts what it gave up", async () => {
  const { hook, seen } = noting("p");
  const queues = new StreamQueues();
  queues.push([hook], delta(0));
  queues.push([hook], delta(1));
  queues.close();
  queues.push([hook], delta(2));
  await queues.idle(100);
  assert.deepEqual(seen, []);
  assert.equal(queues.counts()[0]!.dropped, 2);
});
