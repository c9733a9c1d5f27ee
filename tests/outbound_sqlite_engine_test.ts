import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { LIFTED, type QueueEngine } from "../lib/outbound/engine.ts";
import type { Target } from "../lib/outbound/target/shape.ts";
import { deliveriesTo, deliveryTo, eventually, targetAt } from "./programs/kept_queue_contract.ts";
import { type SqliteHome, takeAll, withHome } from "./programs/sqlite_process.ts";

const URL = "http://127.0.0.1:1/";
const HOUR = 3_600_000;
const WHY = { error: "answered 503", status: 503 };
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const waitingAt = async (engine: QueueEngine, { key }: Target) =>
  (await engine.counts()).get(key)?.waiting;

/** What the counts in the file say, against what is in the file. */
function assertCounts({ file }: SqliteHome): void {
  const database = new DatabaseSync(file);
  const rows = database.prepare(
    "SELECT key, waiting, dead, (SELECT count(*) FROM delivery d WHERE d.t = target.t AND state < 2)" +
      " w, (SELECT count(*) FROM delivery d WHERE d.t = target.t AND state = 2) d FROM target",
  ).all();
  database.close();
  for (const { key, waiting, dead, w, d } of rows) {
    assert.deepEqual({ key, waiting, dead }, { key, waiting: w, dead: d });
  }
}

test("of one session only the oldest is taken, and the next when it has ended, also as a dead letter", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL, { ordering: "session" });
    const engine = await home.engine([target]);
    const of = (session?: string) => deliveryTo(target, session ? { session } : {});
    const [a1, a2, a3, b1, free] = [of("a"), of("a"), of("a"), of("b"), of()];
    await engine.kept.accept([a1, a2, a3, b1, free]);
    const first = [1, 2, 3, 4].map(() => engine.take(target.key));
    assert.deepEqual(first.map((each) => each?.id), [a1.id, b1.id, free.id, undefined]);
    engine.settle(first[0]!, { kind: "retry", afterMs: 0, why: WHY });
    await eventually(async () => (await engine.kept.find({ states: ["retrying"] })).length > 0, "");
    await sleep(5);
    const again = engine.take(target.key)!;
    assert.equal(again.id, a1.id, "its own retry comes before the next of the session");
    assert.equal(engine.take(target.key), undefined);
    engine.settle(again, { kind: "dead", why: WHY });
    await engine.kept.fates([]);
    assert.deepEqual(idsOf(await takeAll(engine, target)), [a2.id]);
    await engine.kept.fates([]);
    assert.deepEqual(idsOf(await takeAll(engine, target)), [a3.id]);
    engine.settle(first[1]!, { kind: "done" });
    engine.settle(first[2]!, { kind: "done" });
    await engine.kept.fates([]);
    assertCounts(home);
  });
});

test("redelivering and purging keep a session's order", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL, { ordering: "session" });
    const engine = await home.engine([target]);
    const list = Array.from({ length: 4 }, () => deliveryTo(target, { session: "a" }));
    await engine.kept.accept(list);
    assert.equal(await engine.kept.redeliver({}), 4);
    assert.equal(await engine.kept.purge({ ids: [list[0]!.id, list[2]!.id] }), 2);
    const first = engine.take(target.key)!;
    assert.equal(first.id, list[1]!.id);
    assert.equal(engine.take(target.key), undefined, "the next one stands behind it");
    engine.settle(first, { kind: "done" });
    await engine.kept.fates([]);
    assert.deepEqual(idsOf(await takeAll(engine, target)), [list[3]!.id]);
    await engine.kept.fates([]);
    assertCounts(home);
  });
});

test("a full queue never drops what is under way, and what it dropped is not sent", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL, { maxQueue: 3, whenFull: "drop_old" });
    const engine = await home.engine([target]);
    const list = deliveriesTo(target, 6);
    for (const one of list.slice(0, 3)) await engine.kept.accept([one]);
    const first = engine.take(target.key)!;
    assert.equal(first.id, list[0]!.id);
    for (const one of list.slice(3)) await engine.kept.accept([one]);
    engine.settle(first, { kind: "retry", afterMs: 60_000, why: WHY });
    const kept = await engine.kept.find({});
    assert.deepEqual(idsOf(kept), [list[0]!.id, list[4]!.id, list[5]!.id]);
    assert.deepEqual(idsOf(await takeAll(engine, target)), idsOf(list.slice(4)));
    assert.equal((await engine.counts()).get(target.key)?.dropped, 3);
    await engine.kept.fates([]);
    assertCounts(home);
  });
});

test("an accept of several for one target keeps its bound", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL, { maxQueue: 3, whenFull: "refuse" });
    const engine = await home.engine([target]);
    await assert.rejects(engine.kept.accept(deliveriesTo(target, 4)), { reason: "full" });
    assert.deepEqual(await engine.kept.find({}), []);
    await engine.kept.accept(deliveriesTo(target, 3));
    // One that is kept already takes no room.
    const [one] = await engine.kept.find({});
    assert.deepEqual(await engine.kept.accept([one!]), ["queued"]);
  });
});

test("of calls that came together one that is refused takes no other with it", async () => {
  await withHome(async (home) => {
    const full = targetAt(URL, { maxQueue: 1, whenFull: "refuse" }), other = targetAt(URL);
    const engine = await home.engine([full, other]);
    const results = await Promise.allSettled([
      engine.kept.accept([deliveryTo(full), deliveryTo(other)]),
      engine.kept.accept([deliveryTo(other), deliveryTo(full)]),
      engine.kept.accept([deliveryTo(other)]),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    assert.deepEqual([await waitingAt(engine, full), await waitingAt(engine, other)], [1, 2]);
    assertCounts(home);
  });
});

test("what is older than max_age becomes a dead letter at its time, sent to or not, and in order", async () => {
  await withHome(async (home) => {
    const began = home.time = Date.UTC(2026, 0, 1);
    const retry = { attempts: 10, maxAgeMs: 72 * HOUR, scheduleMs: [5_000] };
    const [idle, tried] = [
      targetAt(URL, { retry, ordering: "session" }),
      targetAt(URL, { retry }),
    ];
    let engine = await home.engine([idle, tried]);
    const at = { occurredAt: new Date(began).toISOString() };
    const behind = [1, 2, 3].map(() => deliveryTo(idle, { ...at, session: "s" }));
    const late = deliveryTo(tried, at);
    const young = deliveryTo(idle, { occurredAt: new Date(began + 50 * HOUR).toISOString() });
    await engine.kept.setStatus(idle.key, { disabled: { since: "x", reason: "gone" } });
    await engine.kept.accept([...behind, late, young]);
    // A retry at hour 60 is still due within its age; it then waits in vain.
    engine.settle(engine.take(tried.key)!, { kind: "retry", afterMs: 60 * HOUR, why: WHY });
    await engine.close();
    home.time = began + 71 * HOUR;
    engine = await home.engine([idle, tried]);
    await sleep(50);
    assert.deepEqual(await engine.kept.find({ states: ["dead"] }), []);
    await engine.close();
    home.time = began + 72 * HOUR + 1;
    engine = await home.engine([idle, tried]);
    await eventually(
      async () => (await engine.kept.find({ states: ["dead"] })).length === 4,
      "all that is too old is dead",
    );
    const dead = await engine.kept.find({ states: ["dead"] });
    assert.deepEqual(idsOf(dead), [...idsOf(behind), late.id]);
    assert.equal(dead[0]!.why!.error, "expired after 72 h");
    assert.match(dead[3]!.why!.error, /^expired after 72 h; last: answered 503$/);
    assert.deepEqual(idsOf(await engine.kept.find({ states: ["waiting"] })), [young.id]);
    assertCounts(home);
    // Dead letters go when they were kept long enough.
    await engine.close();
    home.time += HOUR + 1;
    engine = await home.engine([idle, tried]);
    await eventually(async () => (await engine.kept.find({})).length === 1, "they are removed");
    assertCounts(home);
  });
});

test("one that has grown too old while it stood next is not sent", async () => {
  await withHome(async (home) => {
    const began = home.time = Date.UTC(2026, 0, 1);
    const retry = { attempts: 10, maxAgeMs: HOUR, scheduleMs: [5_000] };
    const target = targetAt(URL, { retry });
    const engine = await home.engine([target]);
    assert.equal(engine.take(target.key), undefined);
    const at = { occurredAt: new Date(began).toISOString() };
    const list = [1, 2, 3].map(() => deliveryTo(target, at));
    for (const one of list) await engine.kept.accept([one]);
    assert.equal(engine.take(target.key)!.id, list[0]!.id);
    home.time = began + HOUR + 1;
    assert.equal(engine.take(target.key), undefined);
    await eventually(
      async () => (await engine.kept.find({ states: ["dead"] })).length === 2,
      "the others are dead letters",
    );
    assertCounts(home);
  });
});

test("another process's deliveries are noticed within half a second, and so are its other changes", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL);
    const engine = await home.engine([target]);
    let ready = 0;
    engine.onReady(() => ready++);
    const beside = await home.beside([target]);
    assert.equal(await beside.sending(), "listener");
    const list = deliveriesTo(target, 20);
    await beside.kept.accept(list);
    await eventually(() => ready > 0, "told of it");
    const first = engine.take(target.key)!;
    assert.equal(first.id, list[0]!.id);
    // One that is under way may still arrive, those that were about to be taken may not.
    assert.equal(await beside.kept.purge({ ids: idsOf(list.slice(0, 10)) }), 10);
    await sleep(400);
    engine.settle(first, { kind: "retry", afterMs: 0, why: WHY });
    await engine.kept.fates([]);
    await sleep(5);
    const second = engine.take(target.key)!;
    assert.equal(second.id, list[10]!.id);
    assert.equal(await beside.kept.redeliver({ ids: [second.id] }), 1);
    engine.settle(second, { kind: "done" });
    await beside.kept.setStatus(target.key, { disabled: { since: "x", reason: "gone" } });
    await sleep(400);
    assert.equal(engine.take(target.key), undefined);
    const before = ready;
    await beside.kept.setStatus(target.key, LIFTED);
    await eventually(() => ready > before, "told that it was lifted");
    assert.equal((await takeAll(engine, target)).length, 9);
    await engine.kept.fates([]);
    assertCounts(home);
  });
});

test("a delivery that another process purged while it was under way leaves its row number free", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL);
    const engine = await home.engine([target]);
    const beside = await home.beside([target]);
    const [one, two] = deliveriesTo(target, 2);
    await engine.kept.accept([one!]);
    const taken = engine.take(target.key)!;
    await beside.kept.purge({});
    // The file gives the same number again.
    await beside.kept.accept([two!]);
    await sleep(400);
    const early = engine.take(target.key);
    engine.settle(taken, { kind: "done" });
    await eventually(async () => {
      const next = early ?? engine.take(target.key);
      if (!next) return false;
      assert.equal(next.id, two!.id);
      engine.settle(next, { kind: "done" });
      await engine.kept.fates([]);
      return true;
    }, "the new one is taken");
    assertCounts(home);
  });
});

test("retries come back at their time with one timer for the earliest, in the order they are due", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL);
    const engine = await home.engine([target]);
    const list = deliveriesTo(target, 3);
    await engine.kept.accept(list);
    const taken = list.map(() => engine.take(target.key)!);
    [150, 50, 100].forEach((afterMs, i) =>
      engine.settle(taken[i]!, { kind: "retry", afterMs, why: WHY })
    );
    const seen: string[] = [];
    engine.onReady(() => {
      for (let one = engine.take(target.key); one; one = engine.take(target.key)) {
        seen.push(one.id);
        assert.equal(one.attempts, 1);
      }
    });
    await eventually(() => seen.length === 3, "all three again");
    assert.deepEqual(seen, [list[1]!.id, list[2]!.id, list[0]!.id]);
  });
});

test("one that was put back untried is taken again, as it was", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL);
    const engine = await home.engine([target]);
    await engine.kept.accept(deliveriesTo(target, 2));
    const first = engine.take(target.key)!;
    engine.settle(first, { kind: "untried" });
    const left = await takeAll(engine, target);
    assert.deepEqual(left.find(({ id }) => id === first.id), first);
    assert.equal(left.length, 2);
  });
});

test("redelivering gives a delivery its attempts and its age anew", async () => {
  await withHome(async (home) => {
    const began = home.time = Date.UTC(2026, 0, 1);
    const retry = { attempts: 10, maxAgeMs: HOUR, scheduleMs: [5_000] };
    const target = targetAt(URL, { retry });
    const engine = await home.engine([target]);
    const one = deliveryTo(target, { occurredAt: new Date(began).toISOString() });
    await engine.kept.accept([one]);
    engine.settle(engine.take(target.key)!, { kind: "dead", why: WHY });
    home.time = began + 10 * HOUR;
    assert.equal(await engine.kept.redeliver({}), 1);
    const taken = engine.take(target.key);
    assert.deepEqual([taken?.id, taken?.attempts], [one.id, 0]);
  });
});

const rssMib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);

test("a backlog of 100,000 is kept and sent in order with memory that does not grow with it", async () => {
  await withHome(async (home) => {
    const target = targetAt(URL, { maxQueue: 1_000_000 });
    const engine = await home.engine([target]);
    const wire = JSON.stringify({ note: "x".repeat(300) });
    const batch = () => Array.from({ length: 500 }, () => deliveryTo(target, { wire }));
    const first = batch();
    await engine.kept.accept(first);
    const before = rssMib();
    let lag = 0, last = performance.now();
    const watch = setInterval(() => {
      lag = Math.max(lag, performance.now() - last - 5);
      last = performance.now();
    }, 5);
    for (let i = 0; i < 199; i++) await engine.kept.accept(batch());
    assert.equal(await waitingAt(engine, target), 100_000);
    const grown = Math.round((rssMib() - before) / 1024);
    assert.ok(grown < 60, `grew by ${grown} MiB`);
    for (const { id } of first) {
      const one = engine.take(target.key)!;
      assert.equal(one.id, id);
      engine.settle(one, { kind: "done" });
    }
    clearInterval(watch);
    assert.ok(lag < 1_000, `the loop stood still for ${Math.round(lag)} ms`);
  });
});

test("rows of 1 MB do not fill the memory", async () => {
  await withHome(async (home) => {
    const targets = [1, 2, 3, 4].map(() => targetAt(URL));
    const engine = await home.engine(targets);
    for (const { key } of targets) assert.equal(engine.take(key), undefined);
    const before = rssMib();
    for (let i = 0; i < 15; i++) {
      await engine.kept.accept(
        targets.map((target) =>
          deliveryTo(target, { wire: `{"n":${i},"x":"${"y".repeat(1e6)}"}` })
        ),
      );
    }
    const grown = Math.round((rssMib() - before) / 1024);
    assert.ok(grown < 100, `grew by ${grown} MiB with 60 MB waiting`);
    const one = engine.take(targets[0]!.key)!;
    assert.equal(one.wire.length, 1e6 + 14);
  });
});
