import assert from "node:assert/strict";
import test from "node:test";
import type { Delivery } from "../lib/outbound/engine.ts";
import { MemoryEngine } from "../lib/outbound/memory_engine.ts";

let made = 0;
const delivery = (target: string, wire = "{}"): Delivery => ({
  id: String(++made).padStart(32, "0"),
  target,
  event: "on_session_end",
  wire,
  occurredAt: "2026-01-01T00:00:00.000Z",
  attempts: 0,
});
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("deliveries of a target come out in the order they went in, and of that target only", () => {
  const engine = new MemoryEngine();
  const list = Array.from({ length: 200 }, (_, i) => delivery(i % 2 ? "a" : "b"));
  for (const item of list) engine.enqueue(item);
  const taken = Array.from({ length: 100 }, () => engine.take("a"));
  assert.deepEqual(taken, list.filter(({ target }) => target === "a"));
  assert.equal(engine.take("a"), undefined);
  assert.equal(engine.take("c"), undefined);
  assert.deepEqual(engine.counts().get("a"), { waiting: 0, inFlight: 100, dropped: 0 });
});

test("a full queue drops what is new, counts it, and warns once a burst with the count", async () => {
  const told: [string, number][] = [];
  const engine = new MemoryEngine({
    maxQueue: () => 3,
    burstMs: 40,
    onDropped: (target, count) => told.push([target, count]),
  });
  const list = Array.from({ length: 10 }, () => delivery("a"));
  const results = list.map((item) => engine.enqueue(item));
  assert.deepEqual(results.filter((r) => r === "dropped").length, 7);
  assert.equal(engine.enqueue(delivery("b")), "queued");
  assert.deepEqual(told, []);
  await sleep(120);
  assert.deepEqual(told, [["a", 7]]);
  engine.enqueue(delivery("a"));
  engine.enqueue(delivery("a"));
  await sleep(120);
  assert.deepEqual(told, [["a", 7], ["a", 2]]);
  assert.deepEqual(engine.take("a"), list[0]);
  assert.equal(engine.counts().get("a")?.dropped, 9);
  engine.close();
});

test("bytes are bounded in all, and a target that hoards leaves the others their share", () => {
  const engine = new MemoryEngine({ maxQueue: () => 999, maxBytes: 100_000, targets: () => 4 });
  const heavy = (target: string) => engine.enqueue(delivery(target, " ".repeat(10_000)));
  const hoarded = Array.from({ length: 20 }, () => heavy("a")).filter((r) => r === "queued");
  assert.equal(hoarded.length, 2);
  assert.equal(heavy("b"), "queued");
  const huge = engine.enqueue(delivery("c", " ".repeat(60_000)));
  assert.equal(huge, "queued");
  assert.equal(heavy("d"), "dropped");
  const taken = engine.take("c")!;
  assert.equal(heavy("d"), "dropped");
  engine.settle(taken, { kind: "done" });
  assert.equal(heavy("d"), "queued");
});

test("a retry comes before what waits, not before it is due, with its attempt counted", async () => {
  const engine = new MemoryEngine();
  const ready: string[] = [];
  engine.onReady((target) => ready.push(target));
  const [first, second] = [delivery("a"), delivery("a")];
  engine.enqueue(first);
  engine.enqueue(second);
  engine.settle(engine.take("a")!, { kind: "retry", afterMs: 60 });
  assert.equal(engine.counts().get("a")?.waiting, 2);
  assert.equal(engine.take("a"), second);
  assert.equal(engine.take("a"), undefined);
  await sleep(90);
  assert.deepEqual(ready, ["a", "a", "a"]);
  assert.deepEqual(engine.take("a"), { ...first, attempts: 1 });
});

test("drain takes no more in and gives back what is undelivered when the time is up", async () => {
  const engine = new MemoryEngine();
  const list = [delivery("a"), delivery("a"), delivery("b"), delivery("b")];
  for (const item of list) engine.enqueue(item);
  const done = engine.take("a")!;
  engine.take("b");
  const drained = engine.drain(80);
  assert.equal(engine.enqueue(delivery("a")), "dropped");
  engine.settle(done, { kind: "done" });
  assert.deepEqual((await drained).map(({ id }) => id).sort(), list.slice(1).map(({ id }) => id));
});

test("drain is over as soon as all is delivered", async () => {
  const engine = new MemoryEngine();
  engine.enqueue(delivery("a"));
  const taken = engine.take("a")!;
  setTimeout(() => engine.settle(taken, { kind: "done" }), 20);
  const began = performance.now();
  assert.deepEqual(await engine.drain(5_000), []);
  assert.ok(performance.now() - began < 2_000);
  engine.close();
});
