/** The queue on `outbound.db`: what is accepted is kept, whatever happens (rule 10.6). */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { LIFTED, NotAccepted } from "../lib/outbound/engine.ts";
import { SentElsewhere } from "../lib/outbound/queue.ts";
import type { SqliteEngine } from "../lib/outbound/sqlite/engine.ts";
import { delivery, QueueHome, sleep } from "./programs/sqlite_home.ts";

/** Takes all that is due now. */
function takeAll(engine: SqliteEngine, target = "a") {
  const taken = [];
  for (let one = engine.take(target); one; one = engine.take(target)) taken.push(one);
  return taken;
}

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

test("what was accepted comes out in order, in this process and after a restart", async () => {
  const home = new QueueHome();
  const list = Array.from({ length: 700 }, (_, i) => delivery(i % 7 ? "a" : "b"));
  const first = await home.engine();
  for (const item of list) await first.kept.accept([item]);
  const wanted = idsOf(list.filter(({ target }) => target === "a"));
  assert.deepEqual(idsOf(takeAll(first)), wanted);
  assert.deepEqual(takeAll(first, "c"), []);
  const { waiting, inFlight } = (await first.counts()).get("a")!;
  assert.deepEqual([waiting, inFlight], [0, 600]);
  // Taken and never settled: it is still there.
  await first.close();
  const second = await home.engine();
  const again = takeAll(second);
  assert.deepEqual(idsOf(again), wanted);
  assert.equal(again[0]!.wire, list[1]!.wire);
  assert.equal(again[0]!.occurredAt, list[1]!.occurredAt);
  for (const one of again) second.settle(one, { kind: "done" });
  await second.close();
  const third = await home.engine();
  assert.deepEqual(takeAll(third), []);
  assert.equal(takeAll(third, "b").length, 100);
  await third.close();
  home.remove();
});

test("the file and what goes with it can be read by nobody else", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  await engine.kept.accept([delivery("a")]);
  for (const name of fs.readdirSync(home.folder).filter((each) => each.startsWith("outbound.db"))) {
    assert.equal(fs.statSync(path.join(home.folder, name)).mode & 0o077, 0, name);
  }
  await engine.close();
  home.remove();
});

test("a retry waits until it is due, a dead letter stays, and both say why", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  const ready: string[] = [];
  engine.onReady((target) => ready.push(target));
  const [later, never] = [delivery("a"), delivery("a")];
  await engine.kept.accept([later, never]);
  const [one, two] = takeAll(engine);
  engine.settle(one!, { kind: "retry", afterMs: 120, why: { error: "answered 503", status: 503 } });
  engine.settle(two!, { kind: "dead", why: { error: "answered 404", status: 404 } });
  assert.deepEqual(takeAll(engine), []);
  const kept = await engine.kept.find({});
  assert.deepEqual(kept.map(({ id, state, attempts, why }) => [id, state, attempts, why?.status]), [
    [later.id, "retrying", 1, 503],
    [never.id, "dead", 1, 404],
  ]);
  const due = await engine.kept.dueIn(["a"]);
  assert.ok(due !== undefined && due > 0 && due <= 120, String(due));
  ready.length = 0;
  await sleep(200);
  assert.ok(ready.includes("a"));
  const [back] = takeAll(engine);
  assert.deepEqual([back!.id, back!.attempts], [later.id, 1]);
  engine.settle(back!, { kind: "done" });
  assert.deepEqual([...await engine.kept.fates([later.id, never.id])], [[never.id, "dead"]]);
  assert.equal((await engine.counts()).get("a")!.dead, 1);
  assert.equal(await engine.kept.dueIn(["a"]), undefined);
  await engine.close();
  home.remove();
});

test("what was not attempted is as it was", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  await engine.kept.accept([delivery("a")]);
  const [one] = takeAll(engine);
  engine.settle(one!, { kind: "untried" });
  const [again] = takeAll(engine);
  assert.deepEqual([again!.id, again!.attempts], [one!.id, 0]);
  await engine.close();
  home.remove();
});

test("deliveries are found, sent again and removed by what is said of them", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  const old = delivery("a", { occurredAt: "2020-01-01T00:00:00.000Z", event: "on_session_start" });
  const list = [old, delivery("a"), delivery("b"), delivery("b")];
  await engine.kept.accept(list);
  const [, , , last] = list;
  const find = async (filter: Parameters<typeof engine.kept.find>[0]) =>
    idsOf(await engine.kept.find(filter));
  const year = new Date("2021-01-01");
  assert.deepEqual(await find({ targets: ["b"] }), idsOf(list.slice(2)));
  assert.deepEqual(await find({ before: year }), [old.id]);
  assert.deepEqual(await find({ after: year }), idsOf(list.slice(1)));
  assert.deepEqual(await find({ event: "on_session_start" }), [old.id]);
  assert.deepEqual(await find({ ids: [last!.id], targets: ["a"] }), []);
  assert.deepEqual(await find({ targets: ["unheard of"] }), []);
  assert.deepEqual(
    idsOf(await engine.kept.find({}, { limit: 2, offset: 1 })),
    idsOf(list.slice(1, 3)),
  );
  const taken = engine.take("b")!;
  assert.deepEqual(await find({ states: ["sending"] }), [taken.id]);
  // What is being sent is left alone.
  assert.equal(await engine.kept.purge({ targets: ["b"] }), 1);
  engine.settle(taken, { kind: "dead", why: { error: "no" } });
  assert.equal(await engine.kept.redeliver({ states: ["dead"] }), 1);
  const again = engine.take("b")!;
  assert.deepEqual([again.id, again.attempts], [taken.id, 0]);
  engine.settle(again, { kind: "done" });
  assert.equal(await engine.kept.purge({}), 2);
  const counts = [...(await engine.counts()).values()];
  assert.deepEqual(counts.map(({ waiting, dead }) => [waiting, dead]), [[0, 0], [0, 0]]);
  await engine.close();
  home.remove();
});

test("a thousand are changed at once, and counted right", async () => {
  const home = new QueueHome({ maxQueue: 10_000 });
  const engine = await home.engine();
  await engine.kept.accept(Array.from({ length: 1_500 }, () => delivery("a")));
  for (const one of takeAll(engine)) engine.settle(one, { kind: "dead", why: { error: "no" } });
  assert.equal(await engine.kept.redeliver({ states: ["dead"] }), 1_500);
  assert.equal((await engine.counts()).get("a")!.waiting, 1_500);
  assert.equal(takeAll(engine).length, 1_500);
  await engine.close();
  home.remove();
});

test("a full queue drops what is new, or what is old, or refuses all of an event", async () => {
  for (const whenFull of ["drop_new", "drop_old"] as const) {
    const home = new QueueHome({ maxQueue: 3, whenFull });
    const engine = await home.engine();
    const list = Array.from({ length: 5 }, () => delivery("a"));
    const became = await engine.kept.accept(list);
    assert.equal(became.filter((one) => one === "queued").length, whenFull === "drop_new" ? 3 : 5);
    const left = whenFull === "drop_new" ? list.slice(0, 3) : list.slice(2);
    assert.deepEqual(idsOf(await engine.kept.find({})), idsOf(left), whenFull);
    assert.equal((await engine.counts()).get("a")!.dropped, 2);
    await engine.close();
    assert.deepEqual(home.dropped, [["a", 2]]);
    home.remove();
  }
  const home = new QueueHome({ maxQueue: 3, whenFull: "refuse" });
  const engine = await home.engine();
  await engine.kept.accept([delivery("a"), delivery("a"), delivery("a")]);
  await assert.rejects(
    engine.kept.accept([delivery("b"), delivery("a")]),
    (error) =>
      error instanceof NotAccepted && error.reason === "full" && /full/.test(error.message),
  );
  assert.equal((await engine.kept.find({})).length, 3);
  // Others handed in with it are not concerned.
  const [refused, taken] = await Promise.allSettled([
    engine.kept.accept([delivery("a")]),
    engine.kept.accept([delivery("b")]),
  ]);
  assert.deepEqual([refused!.status, taken!.status], ["rejected", "fulfilled"]);
  await engine.close();
  home.remove();
});

test("with ordering a session waits for its own, and others do not wait for it", async () => {
  const home = new QueueHome({ ordering: "session" });
  const engine = await home.engine();
  const [a1, a2, b1, a3] = ["s", "s", "t", "s"].map((session) => delivery("a", { session }));
  await engine.kept.accept([a1!, a2!, b1!, a3!]);
  const first = takeAll(engine);
  assert.deepEqual(idsOf(first), [a1!.id, b1!.id]);
  engine.settle(first[0]!, { kind: "retry", afterMs: 60 });
  await sleep(30);
  assert.deepEqual(takeAll(engine), []);
  await sleep(100);
  const again = takeAll(engine);
  assert.deepEqual(idsOf(again), [a1!.id]);
  engine.settle(again[0]!, { kind: "done" });
  await engine.kept.fates([]);
  const second = takeAll(engine);
  assert.deepEqual(idsOf(second), [a2!.id]);
  engine.settle(second[0]!, { kind: "dead", why: { error: "no" } });
  await engine.close();
  const later = await home.engine();
  assert.deepEqual(idsOf(takeAll(later)), [b1!.id, a3!.id]);
  await later.close();
  home.remove();
});

test("a disabled target is left alone until it is lifted, also by another process", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  await engine.kept.accept([delivery("a")]);
  const disabled = { since: "2026-01-01T00:00:00.000Z", reason: "it answered 410" };
  await engine.kept.setStatus("a", { disabled });
  assert.deepEqual(takeAll(engine), []);
  assert.equal(await engine.kept.dueIn(["a"]), undefined);
  const paused = { until: "2026-01-01T00:00:01.000Z", reason: "fails" };
  await engine.kept.setStatus("a", { paused });
  assert.deepEqual((await engine.kept.statuses()).get("a"), { disabled, paused });
  const other = await home.look();
  await other.kept.setStatus("a", LIFTED);
  await other.close();
  await sleep(250);
  assert.equal(takeAll(engine).length, 1);
  assert.equal((await engine.kept.statuses()).size, 0);
  await engine.close();
  home.remove();
});

test("one process sends at a time; others hand in, and what they hand in is noticed", async () => {
  const home = new QueueHome();
  const sender = await home.engine({ role: "sender" });
  await assert.rejects(
    home.engine({ onlyIfFree: true }),
    (error) => error instanceof SentElsewhere && error.role === "sender",
  );
  const listener = await home.engine();
  const [one] = await listener.kept.accept([delivery("a")]);
  assert.equal(one, "queued");
  assert.deepEqual(takeAll(listener), []);
  await sleep(250);
  assert.equal(takeAll(sender).length, 1);
  const look = await home.look();
  assert.equal(await look.sending(), "sender");
  await sender.close();
  await sleep(500);
  assert.equal(await look.sending(), "listener");
  assert.equal(takeAll(listener).length, 1);
  await listener.close();
  assert.equal(await look.sending(), "nobody");
  await look.close();
  home.remove();
});

test("what is too old becomes a dead letter without an attempt, and then goes", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  const old = delivery("a", { occurredAt: new Date(Date.now() - 80 * 3_600_000).toISOString() });
  await engine.kept.accept([old, delivery("a")]);
  assert.equal(takeAll(engine).length, 1);
  const [dead] = await engine.kept.find({ states: ["dead"] });
  assert.equal(dead!.id, old.id);
  assert.match(dead!.why!.error, /expired after 72 h/);
  // Sent again, it is as young as if it were fired now.
  assert.equal(await engine.kept.redeliver({ ids: [old.id] }), 1);
  const [again] = takeAll(engine);
  assert.equal(again?.id, old.id);
  engine.settle(again!, { kind: "dead", why: { error: "no" } });
  await engine.close();
  home.now = () => new Date(Date.now() + 2 * 86_400_000);
  const later = await home.engine();
  await sleep(50);
  assert.deepEqual(await later.kept.find({ states: ["dead"] }), []);
  await later.close();
  home.remove();
});

test("the same delivery handed in twice is kept once", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  const one = delivery("a");
  assert.deepEqual(await engine.kept.accept([one]), ["queued"]);
  assert.deepEqual(await engine.kept.accept([one]), ["queued"]);
  assert.equal((await engine.counts()).get("a")!.waiting, 1);
  await engine.close();
  home.remove();
});

test("a broken file is set aside, never deleted, and a fresh one goes on", async () => {
  const ways: Record<string, (file: string) => void> = {
    "no database": (file) => fs.writeFileSync(file, "garbage ".repeat(2000)),
    "cut short": (file) => fs.truncateSync(file, 9_000),
    "cut inside its head": (file) => fs.truncateSync(file, 60),
    empty: (file) => fs.truncateSync(file, 0),
    "another database": (file) => {
      const head = fs.readFileSync(file);
      head.writeUInt32BE(0, 60); // user_version
      fs.writeFileSync(file, head);
    },
  };
  for (const [how, damage] of Object.entries(ways)) {
    const home = new QueueHome();
    const first = await home.look();
    await first.kept.accept(Array.from({ length: 50 }, () => delivery("a")));
    await first.close();
    damage(home.file);
    const bytes = fs.readFileSync(home.file);
    const second = await home.look();
    assert.deepEqual(await second.kept.accept([delivery("a")]), ["queued"], how);
    await second.close();
    const aside = fs.readdirSync(home.folder).filter((name) => name.includes("broken"));
    assert.equal(aside.length, 1, how);
    assert.deepEqual(fs.readFileSync(path.join(home.folder, aside[0]!)), bytes, how);
    assert.match(
      home.lines.join("\n"),
      /error: .*broken.*set aside as "outbound\.db\.broken-/,
      how,
    );
    home.remove();
  }
});

test("a file of a later version is left alone", async () => {
  const home = new QueueHome();
  await (await home.look()).close();
  const head = fs.readFileSync(home.file);
  head.writeUInt32BE(99, 60);
  fs.writeFileSync(home.file, head);
  await assert.rejects(home.look(), /later version/);
  assert.deepEqual(fs.readFileSync(home.file), head);
  home.remove();
});

test("damage that shows only while reading is mended too", async () => {
  const home = new QueueHome();
  const engine = await home.engine();
  await engine.kept.accept(Array.from({ length: 200 }, () => delivery("a")));
  await engine.close();
  // Pages in the middle, behind a head that is whole.
  const bytes = fs.readFileSync(home.file);
  bytes.fill(0x5a, 4096, bytes.length);
  fs.writeFileSync(home.file, bytes);
  const again = await home.engine();
  assert.deepEqual(await again.kept.accept([delivery("a")]), ["queued"]);
  assert.equal(takeAll(again).length, 1);
  await again.close();
  assert.equal(fs.readdirSync(home.folder).filter((name) => name.includes("broken")).length, 1);
  home.remove();
});

test("a store that cannot be written says so, and nothing is taken in", async () => {
  const home = new QueueHome();
  fs.mkdirSync(path.join(home.folder, "no"));
  const missing = { ...home.options(), home: path.join(home.folder, "gone") };
  const { openSqlite } = await import("../lib/outbound/sqlite/open.ts");
  await assert.rejects(
    openSqlite(missing),
    (error) => error instanceof NotAccepted && error.reason === "unavailable",
  );
  home.remove();
});

test("everything said to be accepted is there after kill -9", async () => {
  const home = new QueueHome();
  await (await home.look()).close();
  const program = path.join(import.meta.dirname!, "programs", "sqlite_accept.ts");
  const words = process.versions.bun === undefined ? ["run", "-A", program] : [program];
  const said: string[] = [];
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, [...words, home.folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => text += chunk);
    while (!text) await sleep(5);
    await sleep(30 + 40 * round);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    said.push(...text.split("\n").slice(0, -1));
  }
  assert.ok(said.length > 20, String(said.length));
  const look = await home.look();
  const fates = await look.kept.fates(said);
  assert.equal(fates.size, said.length);
  const { waiting } = (await look.counts()).get("a")!;
  assert.equal(waiting, (await look.kept.find({}, { limit: 1_000_000 })).length);
  await look.close();
  home.remove();
});

test("a backlog is not held in memory", async () => {
  const home = new QueueHome({ maxQueue: 100_000 });
  const engine = await home.engine();
  const wire = `{"note": "${"x".repeat(20_000)}"}`;
  for (let i = 0; i < 30; i++) {
    await engine.kept.accept(Array.from({ length: 100 }, () => delivery("a", { wire })));
  }
  // 60 MB wait. A window holds 256 of them at most, and 8 Mi characters.
  const before = process.memoryUsage().rss;
  let taken = 0;
  for (let one = engine.take("a"); one; one = engine.take("a")) {
    engine.settle(one, { kind: "done" });
    if (++taken % 100 === 0) await sleep(5);
  }
  assert.equal(taken, 3_000);
  const grown = (process.memoryUsage().rss - before) / 1048576;
  assert.ok(grown < 150, `${Math.round(grown)} MiB`);
  await engine.close();
  home.remove();
});
