import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { receive, type Receiver, until } from "./programs/outbound_receiver.ts";
import {
  again,
  delivery,
  engineOn,
  lostOf,
  outboxOn,
  receiverTarget,
  steps,
  withRedis,
} from "./programs/redis_outbox.ts";
import { NO_REDIS } from "./programs/redis_server.ts";

const options = { skip: NO_REDIS };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function startSender(url: string, receiver: Receiver, lockMs: number): Promise<ChildProcess> {
  const program = new URL("./programs/redis_outbox.ts", import.meta.url).pathname;
  const run = "Deno" in globalThis ? ["run", "-A", program] : [program];
  const words = [...run, url, receiver.url, String(lockMs)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve) => child.stdout!.once("data", () => resolve(child)));
}

test(
  "of two listeners on one queue one is killed: the other takes its jobs up",
  options,
  async () => {
    await withRedis(async (redis) => {
      const receiver = await receive((_post, socket) => {
        setTimeout(() => socket.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n"), 20);
      });
      const targets = receiverTarget(receiver.url);
      const lockMs = 900;
      const senders = await Promise.all([1, 2].map(() => startSender(redis.url, receiver, lockMs)));
      const { engine } = engineOn(redis.url, targets);
      const list = Array.from({ length: 200 }, () => delivery(targets[0]!));
      await engine.kept.accept(list);
      await until(() => receiver.posts.length > 40);
      senders[0]!.kill("SIGKILL");
      await until(() => lostOf(list.map(({ id }) => id), receiver).length === 0, 8_000);
      while ((await engine.kept.fates(list.map(({ id }) => id))).size > 0) await sleep(20);
      const duplicates = receiver.posts.length - list.length;
      assert.ok(duplicates <= 4, String(duplicates));
      senders[1]!.kill("SIGKILL");
      await engine.close();
      await receiver.close();
    });
  },
);

test("an attempt longer than the lock is no stall", options, async () => {
  await withRedis(async (redis) => {
    const receiver = await receive((_post, socket) => {
      setTimeout(() => socket.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n"), 2_500);
    });
    const targets = receiverTarget(receiver.url);
    const both = [1, 2].map(() => engineOn(redis.url, targets, { lockMs: 600 }).engine);
    const outboxes = both.map((engine) => outboxOn(engine, targets, steps(again(50))));
    const one = delivery(targets[0]!);
    await both[0]!.kept.accept([one]);
    while ((await both[1]!.kept.fates([one.id])).size > 0) await sleep(20);
    assert.equal(receiver.posts.length, 1);
    for (const outbox of outboxes) await outbox.close();
    await receiver.close();
  });
});
