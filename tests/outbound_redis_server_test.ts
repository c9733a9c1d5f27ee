import assert from "node:assert/strict";
import test from "node:test";
import { isRedisUrl, readRedisUrl } from "../lib/config/redis_url.ts";
import { redisFailure } from "../lib/outbound/redis/failure.ts";
import { probeRedis } from "../lib/outbound/redis/probe.ts";
import { closedPort } from "./programs/outbound_receiver.ts";
import {
  addressOf,
  delivery,
  engineOn,
  receiverTarget,
  refusalOf,
  withRedis,
} from "./programs/redis_outbox.ts";
import { NO_REDIS } from "./programs/redis_server.ts";

const options = { skip: NO_REDIS };

test("a password that is wrong or missing is told of, and never shown", options, async () => {
  await withRedis(async (redis) => {
    const [target] = receiverTarget("http://127.0.0.1:1/");
    for (const who of [":wr0ng-Word@", "me:wr0ng-Word@", ""]) {
      const { engine, lines } = engineOn(`redis://${who}127.0.0.1:${redis.port}`, [target!]);
      const said = await refusalOf(engine.kept.accept([delivery(target!)]));
      assert.equal(
        said,
        `redis at "127.0.0.1:${redis.port}" refuses the user or the password of the URL`,
      );
      await engine.close();
      assert.ok(![said, ...lines].join("\n").includes("wr0ng-Word"), lines.join("\n"));
    }
    const { engine } = engineOn(redis.url, [target!]);
    assert.deepEqual(await engine.kept.accept([delivery(target!)]), ["queued"]);
    await engine.close();
  }, { password: "p@ss:w/rd%" });
});

test("a URL is read in all its parts, and what is wrong is said without repeating it", () => {
  assert.deepEqual(readRedisUrl("rediss://me:p%40ss@[::1]:6400/3"), {
    host: "::1",
    port: 6400,
    tls: true,
    username: "me",
    password: "p@ss",
    db: 3,
    shown: "[::1]:6400",
  });
  assert.deepEqual(readRedisUrl("redis://cache"), {
    host: "cache",
    port: 6379,
    tls: false,
    db: 0,
    shown: "cache:6379",
  });
  const wrong = [
    "redis://",
    "redis:6379",
    "http://cache",
    "redis://:s3cret@cache/0?timeout=1",
    "redis://:s3cret@cache/#x",
    "redis://:s3cret@cache/first",
    "redis://:s3cret%zz@cache",
    "redis://s3cret@cache",
    "redis://:s3cret@cache:99999",
  ];
  for (const url of wrong) {
    const said = readRedisUrl(url);
    assert.equal(typeof said, "string", url);
    assert.ok(!String(said).includes("s3cret"));
  }
  assert.ok(isRedisUrl("REDISS://x") && !isRedisUrl("sqlite"));
});

test("a failure never shows the password, wherever it comes from", () => {
  const address = addressOf("redis://:s3cret@cache");
  const said = redisFailure(address, new Error("ERR unknown command AUTH s3cret"));
  assert.equal(said, 'redis at "cache:6379" failed: ERR unknown command AUTH ***');
});

test(
  "the probe finds a Redis that evicts or forgets, and says what it cannot see",
  options,
  async () => {
    await withRedis(async (redis) => {
      const good = await probeRedis(redis.url);
      assert.deepEqual([good.isReached, good.problems.length], [true, 0]);
      assert.match(good.server ?? "", /^(?:redis|valkey) [0-9]/);
      assert.match(good.notes.join("\n"), /once a second/);
    });
    const bad = ["--maxmemory-policy", "allkeys-lru", "--appendonly", "no"];
    await withRedis(async (redis) => {
      const { problems } = await probeRedis(redis.url);
      assert.match(problems.join("\n"), /allkeys-lru.*\n.*appendonly no/);
    }, { options: bad });
    await withRedis(async (redis) => {
      const { problems, notes } = await probeRedis(redis.url);
      assert.match(problems.join("\n"), /allkeys-lru.*\n.*appendonly no/);
      assert.match(notes.join("\n"), /does not tell maxmemory-policy, appendonly, appendfsync/);
    }, { options: [...bad, "--rename-command", "CONFIG", ""] });
    const port = await closedPort();
    const none = await probeRedis(`redis://127.0.0.1:${port}`);
    assert.deepEqual(none.problems, [
      `redis at "127.0.0.1:${port}" cannot be reached: connection refused`,
    ]);
  },
);
