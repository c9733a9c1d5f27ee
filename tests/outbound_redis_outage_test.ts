import assert from "node:assert/strict";
import test from "node:test";
import { NotAccepted } from "../lib/outbound/engine.ts";
import { closedPort, receive, until } from "./programs/outbound_receiver.ts";
import {
  again,
  delivery,
  engineOn,
  idsOf,
  lostOf,
  outboxOn,
  receiverTarget,
  refusalOf,
  steps,
  withRedis,
} from "./programs/redis_outbox.ts";
import { NO_REDIS } from "./programs/redis_server.ts";

const options = { skip: NO_REDIS };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a Redis that is not there is told of in time, and at once the next time", async () => {
  const [target] = receiverTarget("http://127.0.0.1:1/");
  const port = await closedPort();
  const { engine, lines } = engineOn(`redis://:s3cret@127.0.0.1:${port}/0`, [target!]);
  const began = performance.now();
  const said = await refusalOf(engine.kept.accept([delivery(target!)]));
  assert.equal(said, `redis at "127.0.0.1:${port}" cannot be reached: connection refused`);
  assert.ok(performance.now() - began < 3_200);
  const next = performance.now();
  await refusalOf(engine.kept.accept([delivery(target!)]));
  await refusalOf(engine.kept.find({}));
  await refusalOf(engine.counts() as Promise<unknown>);
  assert.ok(performance.now() - next < 500);
  await engine.close();
  assert.deepEqual(lines, [`warning: outbound queue: ${said}; trying again until it can`]);
});

test(
  "a Redis that hangs is not waited for, and what it takes later is sent once",
  options,
  async () => {
    await withRedis(async (redis) => {
      const receiver = await receive(() => 200);
      const targets = receiverTarget(receiver.url);
      const { engine } = engineOn(redis.url, targets);
      const outbox = outboxOn(engine, targets, steps(again(50)));
      await engine.kept.accept([delivery(targets[0]!)]);
      await until(() => receiver.posts.length === 1);
      redis.signal("SIGSTOP");
      const began = performance.now();
      const said = await refusalOf(engine.kept.accept([delivery(targets[0]!)]));
      assert.match(said, /cannot be reached: no answer$/);
      assert.ok(performance.now() - began < 3_500, String(performance.now() - began));
      redis.signal("SIGCONT");
      const later = delivery(targets[0]!);
      assert.deepEqual(await engine.kept.accept([later]), ["queued"]);
      await until(() => idsOf(receiver).includes(later.id));
      await outbox.close();
      await receiver.close();
    });
  },
);

test("a Redis that is full takes nothing of an event, and says so", options, async () => {
  await withRedis(async (redis) => {
    const targets = receiverTarget("http://127.0.0.1:1/");
    const { engine } = engineOn(redis.url, targets);
    const wire = JSON.stringify({ note: "x".repeat(200_000) });
    const accepted: string[] = [];
    let said: string | undefined;
    while (said === undefined && accepted.length < 100) {
      const pair = [delivery(targets[0]!), { ...delivery(targets[0]!), wire }];
      try {
        await engine.kept.accept(pair);
        accepted.push(...pair.map(({ id }) => id));
      } catch (error) {
        said = (error as Error).message;
        assert.deepEqual([...await engine.kept.fates(pair.map(({ id }) => id))], []);
      }
    }
    assert.match(said ?? "", /is full: raise its maxmemory/);
    assert.equal((await engine.kept.fates(accepted)).size, accepted.length);
    await engine.close();
  }, { options: ["--maxmemory", "4mb"] });
});

test("Redis stopped under load and started again: nothing accepted is lost", options, async () => {
  await withRedis(async (redis) => {
    const receiver = await receive(() => 200);
    const targets = receiverTarget(receiver.url);
    // A job whose reply was lost with the connection is taken up when its lock is over.
    const { engine, lines } = engineOn(redis.url, targets, { lockMs: 900 });
    const outbox = outboxOn(engine, targets, steps(again(50)));
    const accepted: string[] = [];
    let refused = 0, isLoading = true;
    const load = (async () => {
      while (isLoading) {
        const one = delivery(targets[0]!);
        await engine.kept.accept([one]).then(() => accepted.push(one.id), (error) => {
          assert.ok(error instanceof NotAccepted, String(error));
          refused++;
        });
        await sleep(2);
      }
    })();
    await until(() => receiver.posts.length > 100);
    await redis.stop();
    const before = accepted.length;
    await until(() => refused > 0);
    assert.equal(accepted.length, before);
    await redis.start();
    await until(() => accepted.length > before + 100);
    isLoading = false;
    await load;
    await until(() => lostOf(accepted, receiver).length === 0, 8_000);
    const duplicates = idsOf(receiver).length - new Set(idsOf(receiver)).size;
    assert.ok(duplicates <= 8, String(duplicates));
    assert.match(lines.join("\n"), /cannot be reached.*\n.*is reached again/);
    assert.equal((await engine.kept.find({})).length, 0);
    await outbox.close();
    await receiver.close();
  });
});

test("who drives a Redis that is not there ends when asked to", async () => {
  const targets = receiverTarget("http://127.0.0.1:1/");
  const { engine } = engineOn(`redis://127.0.0.1:${await closedPort()}`, targets);
  const outbox = outboxOn(engine, targets, steps(again(50)));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const began = performance.now();
  assert.deepEqual(await outbox.drain(5_000), { dropped: 0 });
  await outbox.close();
  assert.ok(performance.now() - began < 1_000, String(performance.now() - began));
});
