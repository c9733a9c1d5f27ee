import assert from "node:assert/strict";
import { type ChildProcess, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { NotAccepted } from "../lib/outbound/engine.ts";
import { SentElsewhere } from "../lib/outbound/queue.ts";
import { lockOf } from "../lib/outbound/sqlite/turn.ts";
import { deliveryTo, eventually, idsAt, steps, targetAt } from "./programs/kept_queue_contract.ts";
import { outboxOf } from "./programs/outbound_outbox.ts";
import { receive } from "./programs/outbound_receiver.ts";
import {
  programTarget,
  SqliteHome,
  startProgram,
  takeAll,
  withHome,
} from "./programs/sqlite_process.ts";

/** The whole lines that a program has printed so far. */
function linesOf(child: ChildProcess): () => string[] {
  let text = "";
  child.stdout!.on("data", (chunk) => text += chunk);
  return () => text.split("\n").slice(0, -1);
}

const ended = (child: ChildProcess) =>
  new Promise<void>((resolve) => child.once("close", () => resolve()));

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = ended(child);
  child.kill("SIGKILL");
  await end;
}

test("every id that was accepted before kill -9 is in the file", async () => {
  await withHome(async (home) => {
    const accepted: string[] = [];
    for (const enough of [1, 40, 150]) {
      const child = startProgram(["accept", home.folder]);
      const lines = linesOf(child);
      await eventually(() => lines().length >= enough, "some were accepted");
      await killed(child);
      accepted.push(...lines());
    }
    const { kept } = await home.beside([]);
    const fates = await kept.fates(accepted);
    assert.deepEqual(accepted.filter((id) => fates.get(id) !== "pending"), []);
    assert.deepEqual(home.lines, []);
  });
});

test("two processes write while one sends: each delivery arrives once", async () => {
  const receiver = await receive(() => 200);
  await withHome(async (home) => {
    const target = programTarget(receiver.url);
    const engine = await home.engine([target]);
    const { outbox } = outboxOf([target], { engine, policy: steps() });
    const writers = [1, 2].map(() => startProgram(["accept", home.folder, receiver.url, "150"]));
    const lines = writers.map(linesOf);
    await Promise.all(writers.map(ended));
    const accepted = lines.flatMap((each) => each());
    assert.equal(accepted.length, 300);
    await eventually(async () => (await engine.kept.fates(accepted)).size === 0, "all delivered");
    assert.deepEqual(idsAt(receiver).sort(), accepted.sort());
    await outbox.close();
  });
  await receiver.close();
});

test("what a killed sender had under way the next one sends, and nothing is lost", async () => {
  const receiver = await receive(() => 200);
  await withHome(async (home) => {
    const writer = startProgram(["accept", home.folder, receiver.url, "400"]);
    const lines = linesOf(writer);
    let wrote = false;
    const writing = ended(writer).then(() => wrote = true);
    for (let round = 0; round < 3; round++) {
      const sender = startProgram(["send", home.folder, receiver.url]);
      const before = receiver.posts.length;
      await eventually(() => receiver.posts.length > before + 5 || wrote, "it sends");
      await killed(sender);
    }
    await writing;
    const target = programTarget(receiver.url);
    const engine = await home.engine([target]);
    const { outbox } = outboxOf([target], { engine, policy: steps() });
    await eventually(async () => (await engine.kept.fates(lines())).size === 0, "all delivered");
    await outbox.close();
    const arrived = new Set(idsAt(receiver));
    assert.deepEqual(lines().filter((id) => !arrived.has(id)), []);
    assert.equal(lines().length, 400);
  });
  await receiver.close();
});

test("one process sends at a time; the next one begins when it has ended, however it ends", async () => {
  await withHome(async (home) => {
    const target = targetAt("http://127.0.0.1:1/");
    const first = await home.engine([target]);
    await assert.rejects(
      home.engine([target], { onlyIfFree: true, role: "sender" }),
      (error) => error instanceof SentElsewhere && error.role === "listener",
    );
    const second = await home.engine([target], { role: "sender" });
    await second.kept.accept([deliveryTo(target)]);
    assert.equal(second.take(target.key), undefined);
    assert.equal(await (await home.beside([target])).sending(), "listener");
    await eventually(() => {
      const taken = first.take(target.key);
      if (taken) first.settle(taken, { kind: "untried" });
      return taken !== undefined;
    }, "the first one has it");
    await first.drain(100);
    await first.close();
    await eventually(async () => (await takeAll(second, target)).length === 1, "the second one");
    assert.equal(await (await home.beside([target])).sending(), "sender");
    await second.close();
    assert.equal(await (await home.beside([target])).sending(), "nobody");
  });
});

test("the turn is free at once after kill -9, though a child of its holder lives on", async () => {
  await withHome(async (home) => {
    const child = startProgram(["hold", home.folder]);
    const lines = linesOf(child);
    await eventually(() => lines().length > 0, "it has the turn");
    const { sending } = await home.beside([]);
    assert.equal(await sending(), "listener");
    const sleeper = Number(lines()[0]);
    child.stdout!.destroy();
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    try {
      process.kill(sleeper, 0);
      assert.equal(await sending(), "nobody");
      const engine = await home.engine([], { role: "sender", onlyIfFree: true });
      assert.equal(await sending(), "sender");
      await engine.close();
    } finally {
      process.kill(sleeper, "SIGKILL");
    }
  });
});

test("who only looks whose turn it is takes it from nobody", async () => {
  await withHome(async (home) => {
    const target = targetAt("http://127.0.0.1:1/");
    const { sending } = await home.beside([target]);
    // What a listener that was killed has left behind.
    fs.writeFileSync(lockOf(home.file), "listener 2147483646\n");
    assert.equal(await sending(), "nobody");
    for (let round = 0; round < 40; round++) {
      const [engine] = await Promise.all([
        home.engine([target], { role: "sender", onlyIfFree: true }),
        ...Array.from({ length: 4 }, () => sending()),
      ]);
      await engine.close();
    }
  });
});

const mount = (...words: string[]) => spawnSync("mount", words).status === 0;

/** A disk of 1 MiB; undefined when none can be mounted here. */
function mountSmall(): string | undefined {
  const folder = fs.mkdtempSync("/tmp/hermes-small-");
  if (mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", folder)) return folder;
  fs.rmdirSync(folder);
  return undefined;
}

function unmount(folder: string): void {
  spawnSync("umount", ["-l", folder]);
  fs.rmdirSync(folder);
}

/** Tried beforehand: a test that finds out by itself is not shown as skipped everywhere. */
function canMount(): boolean {
  const folder = process.platform === "linux" ? mountSmall() : undefined;
  if (folder) unmount(folder);
  return folder !== undefined;
}

test(
  "on a full disk nothing is accepted, what was stays, and what was made is noted when there is room",
  { skip: canMount() ? false : "no tmpfs can be mounted here" },
  async () => {
    const folder = mountSmall()!;
    const home = new SqliteHome(path.join(folder, "home"));
    fs.mkdirSync(home.folder);
    const target = targetAt("http://127.0.0.1:1/", { maxQueue: 1_000_000 });
    try {
      let engine = await home.engine([target]);
      const wire = JSON.stringify({ note: "x".repeat(20_000) });
      const accepted: string[] = [];
      let said: unknown;
      for (let n = 0; n < 200 && !said; n++) {
        const one = deliveryTo(target, { wire });
        await engine.kept.accept([one]).then(() => accepted.push(one.id), (error) => said = error);
      }
      assert.ok(said instanceof NotAccepted);
      assert.equal(said.reason, "unavailable");
      assert.match(said.message, /outbound\.db.*disk is full/);
      assert.ok(accepted.length > 5);
      assert.equal((await engine.counts()).get(target.key)?.waiting, accepted.length);
      // Not even room for a note.
      fs.writeFileSync(`${folder}/fill`, "");
      try {
        for (;;) fs.appendFileSync(`${folder}/fill`, "x".repeat(512));
      } catch {
        // Full.
      }
      const first = engine.take(target.key)!;
      engine.settle(first, { kind: "done" });
      const second = engine.take(target.key)!;
      engine.settle(second, { kind: "done" });
      await new Promise((resolve) => setTimeout(resolve, 200));
      assert.equal(engine.take(target.key)!.id, accepted[2], "what was made is not made again");
      assert.ok(mount("-o", "remount,size=64m", folder));
      await eventually(
        async () => (await engine.kept.fates([first.id, second.id])).size === 0,
        "noted at last",
      );
      await engine.kept.accept([deliveryTo(target, { wire })]);
      await engine.close();
      engine = await home.engine([target]);
      const rest = accepted.slice(2);
      assert.equal((await engine.kept.fates(rest)).size, rest.length);
      assert.deepEqual(home.lines.filter((line) => line.includes("set aside")), []);
    } finally {
      await home.remove();
      unmount(folder);
    }
  },
);
