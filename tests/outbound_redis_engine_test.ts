import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test, { after, before } from "node:test";
import { type Delivery, LIFTED, NotAccepted } from "../lib/outbound/engine.ts";
import type { RedisEngine } from "../lib/outbound/redis/engine.ts";
import type { Target } from "../lib/outbound/target.ts";
import type { Policy } from "../lib/outbound/work.ts";
import { targetsOf } from "./programs/outbound_outbox.ts";
import { receive, type Script, until } from "./programs/outbound_receiver.ts";
import { again, dead, engineOn, outboxOn, steps } from "./programs/redis_outbox.ts";
import { NO_REDIS, type RedisServer, startRedis } from "./programs/redis_server.ts";

let redis: RedisServer | undefined;
before(async () => {
  redis = await startRedis();
});
after(async () => await redis?.close());
const options = { skip: NO_REDIS };
const event = "on_session_end";
let made = 0;

/** A target nobody else has: every test has a queue of its own. */
function targetAt(url: string, more = ""): Target {
  const name = `target ${++made}`;
  return targetsOf(`- {name: ${name}, url: "${url}", events: [${event}]${more}}`).targets[0]!;
}

function withOptions(target: Target, more: Partial<Target["options"]>): Target {
  Object.assign(target.options, more);
  return target;
}

function delivery({ key }: Target, more: Partial<Delivery> = {}): Delivery {
  return {
    id: randomBytes(16).toString("hex"),
    target: key,
    event,
    wire: `{"n":${++made}}`,
    occurredAt: new Date(1_700_000_000_000 + made * 1000).toISOString(),
    attempts: 0,
    ...more,
  };
}

async function withEngine(
  targets: readonly Target[],
  body: (engine: RedisEngine, lines: string[]) => Promise<void>,
  more: Parameters<typeof engineOn>[2] = {},
): Promise<void> {
  const { engine, lines } = engineOn(redis!.url, targets, more);
  try {
    await body(engine, lines);
  } finally {
    await engine.close();
  }
}

/** A receiver, a target at it and an outbox that sends to it by this policy. */
async function sending(
  script: Script,
  policy: Policy,
  body: (
    given: { engine: RedisEngine; target: Target; posts: { id: string; attempt: number }[] },
  ) => Promise<void>,
  more = "",
): Promise<void> {
  const receiver = await receive(script);
  const target = targetAt(receiver.url, more);
  const { engine } = engineOn(redis!.url, [target]);
  const outbox = outboxOn(engine, [target], policy);
  const posts = () =>
    receiver.posts.map(({ headers, body }) => ({
      id: headers.get("x-hermes-delivery") ?? "",
      attempt: Number(JSON.parse(String(body)).attempt),
    }));
  try {
    await body({
      engine,
      target,
      get posts() {
        return posts();
      },
    });
  } finally {
    await outbox.close();
    await receiver.close();
  }
}

test(
  "what was accepted is found by another process, and delivered once by one",
  options,
  async () => {
    const receiver = await receive(() => 200);
    const target = targetAt(receiver.url);
    const given = [delivery(target, { session: "s1" }), delivery(target), delivery(target)];
    await withEngine([target], async ({ kept }) => {
      assert.deepEqual(await kept.accept(given), ["queued", "queued", "queued"]);
      assert.deepEqual(await kept.accept(given.slice(0, 1)), ["queued"]);
    });
    await withEngine([target], async (engine) => {
      const filter = { targets: [target.key] };
      const found = await engine.kept.find(filter);
      assert.deepEqual(found.map(({ dueAt: _, ...rest }) => rest), [
        { ...given[0], state: "waiting" },
        { ...given[1], state: "waiting" },
        { ...given[2], state: "waiting" },
      ]);
      assert.equal((await engine.counts()).get(target.key)?.waiting, 3);
      outboxOn(engine, [target], steps(dead));
      await until(() => receiver.posts.length >= 3);
      await engine.drain(1_000);
    });
    assert.deepEqual(
      receiver.posts.map(({ headers }) => headers.get("x-hermes-delivery")),
      given.map(({ id }) => id),
    );
    await receiver.close();
  },
);

test("a failed attempt is made again when its time has come, counted from 1", options, async () => {
  const times: number[] = [];
  const script: Script = (post) => {
    times.push(post.at);
    return times.length < 3 ? 503 : 200;
  };
  await sending(script, steps(again(80), again(150)), async (given) => {
    const { engine, target } = given;
    const one = delivery(target);
    await engine.kept.accept([one]);
    await until(() => times.length === 3);
    assert.ok(times[1]! - times[0]! >= 79, `${times[1]! - times[0]!}`);
    assert.ok(times[2]! - times[1]! >= 149, `${times[2]! - times[1]!}`);
    assert.deepEqual(given.posts.map(({ attempt }) => attempt), [1, 2, 3]);
    while ((await engine.kept.fates([one.id])).size > 0);
  });
});

test(
  "a delivery being retried says why, and redeliver makes it due with all attempts",
  options,
  async () => {
    let status = 503;
    await sending(() => status, steps(again(60_000)), async (given) => {
      const { engine: { kept }, target } = given;
      const one = delivery(target);
      await kept.accept([one]);
      const filter = { targets: [target.key], states: ["retrying" as const] };
      while ((await kept.find(filter)).length === 0);
      const [found] = await kept.find(filter);
      assert.equal(found?.attempts, 1);
      assert.deepEqual(found?.why, { error: "answered 503", status: 503 });
      const inMs = Date.parse(found?.dueAt ?? "") - Date.now();
      assert.ok(inMs > 50_000 && inMs <= 60_000, String(inMs));
      const due = await kept.dueIn([target.key]);
      assert.ok(due !== undefined && due > 50_000 && due <= 60_000, String(due));
      status = 200;
      assert.equal(await kept.redeliver({ ids: [one.id] }), 1);
      while ((await kept.fates([one.id])).size > 0);
      assert.deepEqual(given.posts.map(({ attempt }) => attempt), [1, 1]);
      assert.equal(await kept.dueIn([target.key]), undefined);
    });
  },
);

test(
  "a dead letter stays with its reason, comes back on redeliver, and goes on purge",
  options,
  async () => {
    let status = 404;
    await sending(() => status, steps(dead), async (given) => {
      const { engine, target } = given;
      const { kept } = engine;
      const list = [delivery(target), delivery(target)];
      await kept.accept(list);
      const ids = list.map(({ id }) => id);
      while ([...(await kept.fates(ids)).values()].includes("pending"));
      const found = await kept.find({ targets: [target.key], states: ["dead"] });
      assert.deepEqual(
        found.map(({ id, state, why, attempts }) => ({ id, state, why, attempts })),
        [
          { id: ids[0], state: "dead", why: { error: "answered 404", status: 404 }, attempts: 1 },
          { id: ids[1], state: "dead", why: { error: "answered 404", status: 404 }, attempts: 1 },
        ],
      );
      assert.ok(Math.abs(Date.parse(found[0]!.endedAt!) - Date.now()) < 5_000);
      assert.equal((await engine.counts()).get(target.key)?.dead, 2);
      status = 200;
      assert.equal(await kept.redeliver({ ids: [ids[1]!] }), 1);
      while ((await kept.fates([ids[1]!])).size > 0);
      assert.deepEqual(given.posts.at(-1), { id: ids[1], attempt: 1 });
      assert.equal(await kept.purge({ targets: [target.key], states: ["dead"] }), 1);
      assert.deepEqual(await kept.find({ targets: [target.key] }), []);
      assert.equal(await kept.redeliver({ ids }), 0);
    });
  },
);

test(
  "find goes by state, event, time and id, the oldest first, a page at a time",
  options,
  async () => {
    const target = targetAt("http://127.0.0.1:1/");
    const list = Array.from(
      { length: 450 },
      (_, i) => delivery(target, { event: i % 2 ? "on_session_end" : "on_session_start" }),
    );
    await withEngine([withOptions(target, { maxQueue: 1_000 })], async ({ kept }) => {
      await kept.accept(list);
      const targets = [target.key];
      const ids = async (...words: Parameters<typeof kept.find>) =>
        (await kept.find(...words)).map(({ id }) => id);
      const all = list.map(({ id }) => id);
      assert.deepEqual(await ids({ targets }), all.slice(0, 100));
      assert.deepEqual(await ids({ targets }, { limit: 120, offset: 300 }), all.slice(300, 420));
      const [before, after] = [new Date(list[9]!.occurredAt), new Date(list[5]!.occurredAt)];
      assert.deepEqual(await ids({ targets, before, after }), all.slice(5, 9));
      assert.deepEqual(
        await ids({ targets, before, event: "on_session_end" }),
        [1, 3, 5, 7].map((i) => all[i]),
      );
      assert.deepEqual(await ids({ ids: [all[7]!, all[3]!, "0".repeat(32)] }), [all[3], all[7]]);
      assert.deepEqual(await ids({ targets, states: ["dead", "sending", "retrying"] }), []);
      assert.equal(await kept.purge({ targets, before }), 9);
      assert.equal(await kept.purge({ targets }), 441);
    });
  },
);

test(
  "a full queue drops what is new, drops what is oldest, or refuses the whole event",
  options,
  async () => {
    const told: [string, number][] = [];
    const url = "http://127.0.0.1:1/";
    const maxQueue = 3;
    const newest = withOptions(targetAt(url), { maxQueue });
    const oldest = withOptions(targetAt(url), { maxQueue, whenFull: "drop_old" });
    const refusing = withOptions(targetAt(url), { maxQueue, whenFull: "refuse" });
    const all = [newest, oldest, refusing];
    const onDropped = (key: string, count: number) => void told.push([key, count]);
    await withEngine(all, async (engine) => {
      const { kept } = engine;
      const fives = await Promise.all(Array.from({ length: 5 }, async () => {
        const one = delivery(newest);
        return [one.id, (await kept.accept([one]))[0]] as const;
      }));
      assert.deepEqual(fives.map(([, became]) => became).sort(), [
        "dropped",
        "dropped",
        "queued",
        "queued",
        "queued",
      ]);
      const list = Array.from({ length: 5 }, () => delivery(oldest));
      for (const one of list) assert.deepEqual(await kept.accept([one]), ["queued"]);
      const left = await kept.find({ targets: [oldest.key] });
      assert.deepEqual(left.map(({ id }) => id), list.slice(2).map(({ id }) => id));
      for (let i = 0; i < 3; i++) await kept.accept([delivery(refusing)]);
      const other = withOptions(targetAt(url), {});
      await assert.rejects(
        kept.accept([delivery(other), delivery(refusing)]),
        (error) =>
          error instanceof NotAccepted && error.reason === "full" &&
          /max_queue 3/.test(error.message),
      );
      assert.deepEqual(await kept.find({ targets: [other.key] }), []);
      assert.equal((await engine.counts()).get(newest.key)?.dropped, 2);
    }, { onDropped });
    assert.deepEqual(told.sort(), [[newest.key, 2], [oldest.key, 2]].sort());
  },
);

test("a disabled target gets nothing until it is lifted, and loses nothing", options, async () => {
  let status = 410;
  const policy = steps({ settlement: { kind: "untried" }, disable: "answered 410" });
  await sending(() => status, policy, async (given) => {
    const { engine: { kept }, target } = given;
    const list = [delivery(target), delivery(target)];
    await kept.accept(list);
    while (!(await kept.statuses()).get(target.key)?.disabled);
    const { reason, since } = (await kept.statuses()).get(target.key)!.disabled!;
    assert.equal(reason, "answered 410");
    assert.ok(Math.abs(Date.parse(since) - Date.now()) < 5_000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(given.posts.length, 1);
    assert.equal(await kept.dueIn([target.key]), undefined);
    const waiting = await kept.find({ targets: [target.key] });
    assert.deepEqual(
      waiting.map(({ id, attempts }) => [id, attempts]),
      list.map(({ id }) => [id, 0]),
    );
    status = 200;
    await kept.setStatus(target.key, LIFTED);
    while ((await kept.fates(list.map(({ id }) => id))).size > 0);
    assert.deepEqual(given.posts.map(({ id }) => id), [list[0]!.id, list[0]!.id, list[1]!.id]);
    assert.deepEqual((await kept.statuses()).get(target.key), undefined);
  });
});

test(
  "a paused target is left alone for the pause, and what waits burns no attempts",
  options,
  async () => {
    let count = 0;
    const policy: Policy = {
      after: (_target, _delivery, { outcome }) =>
        outcome === "delivered"
          ? { settlement: { kind: "done" } }
          : { ...again(10), pause: { ms: 700, reason: "failed for long" } },
    };
    await sending(() => ++count === 1 ? 503 : 200, policy, async (given) => {
      const { engine: { kept }, target } = given;
      const list = [delivery(target), delivery(target), delivery(target)];
      await kept.accept(list);
      while (!(await kept.statuses()).get(target.key)?.paused);
      // The one that failed is put back only then.
      while (await kept.dueIn([target.key]) === 0);
      const began = performance.now();
      const due = await kept.dueIn([target.key]);
      assert.ok(due !== undefined && due > 300 && due <= 700, String(due));
      while ((await kept.fates(list.map(({ id }) => id))).size > 0);
      assert.ok(performance.now() - began > 400);
      assert.deepEqual(given.posts.map(({ attempt }) => attempt).sort(), [1, 1, 1, 2]);
    });
  },
);

test("a rate limit spreads attempts, and drops none", options, async () => {
  const at: number[] = [];
  await sending(
    (post) => (at.push(post.at), 200),
    steps(dead),
    async ({ engine: { kept }, target }) => {
      const list = Array.from({ length: 8 }, () => delivery(target));
      await kept.accept(list);
      await until(() => at.length === 8);
      const took = at[7]! - at[0]!;
      assert.ok(took >= 290 && took < 2_500, String(took));
    },
    ", rate_limit_per_second: 20",
  );
});

test(
  "closing lets an attempt end that does so in time, and puts back one that does not",
  options,
  async () => {
    let slow = 100;
    const receiver = await receive((_post, socket) => {
      setTimeout(() => socket.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n"), slow);
    });
    const target = targetAt(receiver.url);
    for (const [ms, left] of [[100, 0], [5_000, 1]] as const) {
      slow = ms;
      const one = delivery(target);
      const { engine } = engineOn(redis!.url, [target]);
      const outbox = outboxOn(engine, [target], steps(again(10)));
      await engine.kept.accept([one]);
      const before = receiver.posts.length;
      await until(() => receiver.posts.length > before);
      const began = performance.now();
      assert.deepEqual(await outbox.drain(400), { dropped: 0 });
      await outbox.close();
      assert.ok(performance.now() - began < 2_000);
      await withEngine([target], async ({ kept }) => {
        const found = await kept.find({ targets: [target.key] });
        assert.deepEqual(
          found.map(({ id, state, attempts }) => [id, state, attempts]),
          left ? [[one.id, "waiting", 0]] : [],
        );
      });
    }
    await receiver.close();
  },
);

test(
  "a pause is followed by one probe at a time, in a process that began later too",
  options,
  async () => {
    const under = { now: 0, most: 0 };
    let status = 503;
    const receiver = await receive((_post, socket) => {
      under.most = Math.max(under.most, ++under.now);
      const answer = `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`;
      setTimeout(() => (under.now--, socket.write(answer)), 30);
    });
    const target = targetAt(receiver.url, ", concurrency: 4");
    const restored: string[] = [];
    const policyOf = (isProbing: () => boolean): Policy => ({
      after: (_target, _delivery, { outcome }) =>
        outcome === "delivered"
          ? { settlement: { kind: "done" }, resume: true }
          : { ...again(10), pause: { ms: 2_500, reason: "fails for long" } },
      width: () => isProbing() ? 1 : Infinity,
      restore: (_key, { paused }) => (restored.push(paused!.reason), 400),
    });
    const list = Array.from({ length: 6 }, () => delivery(target));
    const first = engineOn(redis!.url, [target]).engine;
    const outbox = outboxOn(first, [target], policyOf(() => true));
    await first.kept.accept(list.slice(0, 1));
    while (!(await first.kept.statuses()).get(target.key)?.paused);
    await first.kept.accept(list.slice(1));
    await outbox.drain(1_000);
    await outbox.close();
    [status, under.most] = [200, 0];
    const second = engineOn(redis!.url, [target]).engine;
    const later = outboxOn(second, [target], policyOf(() => true));
    while ((await second.kept.fates(list.map(({ id }) => id))).size > 0);
    assert.deepEqual([restored, under.most], [["fails for long"], 1]);
    // Noted right after the delivery is gone.
    for (let tries = 0; (await second.kept.statuses()).has(target.key); tries++) {
      assert.ok(tries < 200);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await later.close();
    await receiver.close();
  },
);
