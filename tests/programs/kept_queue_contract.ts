/**
 * What every engine that keeps deliveries promises, as tests that know nothing of any one engine.
 * Call {@link testKeptQueue} from a test file with a way to make a store of that engine.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import {
  type Delivery,
  type KeptFilter,
  type KeptQueue,
  LIFTED,
  NotAccepted,
  type QueueEngine,
} from "../../lib/outbound/engine.ts";
import type { Outbox } from "../../lib/outbound/outbox.ts";
import type { Target, TargetOptions } from "../../lib/outbound/target/shape.ts";
import type { Policy, Step } from "../../lib/outbound/work.ts";
import { outboxOf, targetsOf } from "./outbound_outbox.ts";
import { receive, type Receiver, type Script } from "./outbound_receiver.ts";

/** How an engine is opened beyond its targets. */
export interface OpenOptions {
  readonly onDropped?: (target: string, count: number) => void;
}

/** What outlives its engines: a file, or a server. */
export interface KeptStore {
  /** Opens an engine on it, as a process does when it starts; the one before was closed. */
  open(targets: readonly Target[], options?: OpenOptions): Promise<QueueEngine>;
  remove(): Promise<void>;
}

/** What a contract is run with. */
export interface ContractOptions {
  /** Names of what is under test, for the tests' names. */
  readonly engine: string;
  /** A store that nobody else has. */
  readonly store: () => Promise<KeptStore>;
  /** Why none can be had here; undefined: run. */
  readonly skip?: string | boolean;
}

const EVENT = "on_session_end";
let made = 0;

/** A target at a URL, with options that no config said. */
export function targetAt(url: string, more: Partial<TargetOptions> = {}): Target {
  const entry = `- {name: target ${++made}, url: "${url}", events: [${EVENT}]}`;
  const target = targetsOf(entry, {}, "sqlite").targets[0]!;
  Object.assign(target.options, more);
  return target;
}

/** A delivery made up; each is a second younger than the one before. */
export function deliveryTo({ key }: Target, more: Partial<Delivery> = {}): Delivery {
  return {
    id: randomBytes(16).toString("hex"),
    target: key,
    event: EVENT,
    wire: `{"n":${++made}}`,
    occurredAt: new Date(Math.floor(Date.now() / 1000) * 1000 - 1_000_000 + made * 1000)
      .toISOString(),
    attempts: 0,
    ...more,
  };
}

/** So many deliveries made up. */
export function deliveriesTo(target: Target, count: number): Delivery[] {
  return Array.from({ length: count }, () => deliveryTo(target));
}

/** After each failed attempt the next of these steps; the last one repeats. */
export function steps(...list: readonly Step[]): Policy {
  return {
    after: (_target, _delivery, { outcome }, attempts) =>
      outcome === "delivered"
        ? { settlement: { kind: "done" } }
        : list[Math.min(attempts, list.length) - 1]!,
  };
}

const WHY = { error: "answered 503", status: 503 } as const;
/** Tried again after so many ms. */
export const again = (afterMs: number): Step => ({
  settlement: { kind: "retry", afterMs, why: WHY },
});
/** Given up. */
export const dead: Step = { settlement: { kind: "dead", why: WHY } };

/** Waits until `is` says yes, at most 5 s. */
export async function eventually(is: () => boolean | Promise<boolean>, what: string) {
  for (const end = performance.now() + 5_000; !await is();) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The ids of what a receiver got, in order. */
export const idsAt = ({ posts }: Receiver) =>
  posts.map(({ headers }) => headers.get("x-hermes-delivery"));

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
const goneFrom = (kept: KeptQueue, list: readonly Delivery[]) => async () =>
  (await kept.fates(idsOf(list))).size === 0;

interface Place {
  readonly store: KeptStore;
  readonly receiver: Receiver;
  readonly target: Target;
}

/** A store, a receiver that answers as told, and a target at it. */
async function withPlace(
  { store: make }: ContractOptions,
  script: Script,
  body: (place: Place) => Promise<void>,
  more: Partial<TargetOptions> = {},
): Promise<void> {
  const [store, receiver] = await Promise.all([make(), receive(script)]);
  try {
    await body({ store, receiver, target: targetAt(receiver.url, more) });
  } finally {
    await receiver.close();
    await store.remove();
  }
}

async function withEngine(
  store: KeptStore,
  targets: readonly Target[],
  body: (engine: QueueEngine, kept: KeptQueue) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const engine = await store.open(targets, options);
  try {
    await body(engine, engine.kept!);
  } finally {
    await engine.close();
  }
}

async function withOutbox(
  store: KeptStore,
  targets: readonly Target[],
  policy: Policy,
  body: (kept: KeptQueue, outbox: Outbox, engine: QueueEngine) => Promise<void>,
): Promise<void> {
  const engine = await store.open(targets);
  const { outbox } = outboxOf(targets, { engine, policy });
  try {
    await body(engine.kept!, outbox, engine);
  } finally {
    await outbox.close();
  }
}

/** Registers the tests. */
export function testKeptQueue(options: ContractOptions): void {
  const claim = (text: string, body: () => Promise<void>) =>
    test(`${options.engine}: ${text}`, { skip: options.skip ?? false }, body);
  const place = (
    script: Script,
    body: (place: Place) => Promise<void>,
    more: Partial<TargetOptions> = {},
  ) =>
  () => withPlace(options, script, body, more);
  testAccepting(claim, place);
  testAttempts(claim, place);
  testLooking(claim, place);
  testStatuses(claim, place);
}

type Claim = (text: string, body: () => Promise<void>) => void;
type InPlace = (
  script: Script,
  body: (place: Place) => Promise<void>,
  more?: Partial<TargetOptions>,
) => () => Promise<void>;

function testAccepting(claim: Claim, place: InPlace): void {
  claim(
    "what one process accepted the next one finds, and delivers once and in order",
    place(() => 200, async ({ store, receiver, target }) => {
      const list = [deliveryTo(target, { session: "s1" }), ...deliveriesTo(target, 4)];
      await withEngine(store, [target], async (_engine, kept) => {
        assert.deepEqual(await kept.accept(list), list.map(() => "queued"));
      });
      await withEngine(store, [target], async (engine, kept) => {
        const found = await kept.find({ targets: [target.key] });
        assert.deepEqual(
          found.map(({ dueAt: _due, agesFrom: _from, ...rest }) => rest),
          list.map((each) => ({ ...each, state: "waiting" })),
        );
        assert.equal((await engine.counts()).get(target.key)?.waiting, 5);
      });
      await withOutbox(store, [target], steps(dead), async (kept) => {
        await eventually(goneFrom(kept, list), "all delivered");
      });
      assert.deepEqual(idsAt(receiver), idsOf(list));
      assert.deepEqual(
        receiver.posts.map(({ body }) => JSON.parse(String(body)).n),
        list.map(({ wire }) => JSON.parse(wire).n),
      );
    }),
  );

  claim(
    "one that is handed in again is kept once",
    place(() => 200, async ({ store, target }) => {
      await withEngine(store, [target], async (engine, kept) => {
        const one = deliveryTo(target);
        await kept.accept([one]);
        assert.deepEqual(await kept.accept([one]), ["queued"]);
        assert.deepEqual(idsOf(await kept.find({})), [one.id]);
        assert.equal((await engine.counts()).get(target.key)?.waiting, 1);
      });
    }),
  );

  claim(
    "a full queue drops what is new, and says how many",
    place(() => 200, async ({ store, target }) => {
      const told: [string, number][] = [];
      const onDropped = (key: string, count: number) => void told.push([key, count]);
      await withEngine(store, [target], async (engine, kept) => {
        const list = deliveriesTo(target, 5);
        const became: string[] = [];
        for (const one of list) became.push(...await kept.accept([one]));
        assert.deepEqual(became, ["queued", "queued", "queued", "dropped", "dropped"]);
        assert.deepEqual(idsOf(await kept.find({})), idsOf(list.slice(0, 3)));
        const { waiting, dropped } = (await engine.counts()).get(target.key)!;
        assert.deepEqual([waiting, dropped], [3, 2]);
      }, { onDropped });
      assert.deepEqual(told, [[target.key, 2]]);
    }, { maxQueue: 3 }),
  );

  claim(
    "a full queue that drops what is oldest has the newest, and its bound is kept",
    place(() => 200, async ({ store, target }) => {
      await withEngine(store, [target], async (engine, kept) => {
        const list = deliveriesTo(target, 5);
        for (const one of list) assert.deepEqual(await kept.accept([one]), ["queued"]);
        assert.deepEqual(idsOf(await kept.find({})), idsOf(list.slice(2)));
        const { waiting, dropped } = (await engine.counts()).get(target.key)!;
        assert.deepEqual([waiting, dropped], [3, 2]);
      });
    }, { maxQueue: 3, whenFull: "drop_old" }),
  );

  claim(
    "a full queue that refuses takes nothing of the event, for no target",
    place(() => 200, async ({ store, target }) => {
      const other = targetAt("http://127.0.0.1:1/");
      await withEngine(store, [target, other], async (_engine, kept) => {
        await kept.accept(deliveriesTo(target, 1));
        await kept.accept(deliveriesTo(target, 1));
        await assert.rejects(
          kept.accept([deliveryTo(other), deliveryTo(target)]),
          (error) =>
            error instanceof NotAccepted && error.reason === "full" &&
            error.message.includes("max_queue 2"),
        );
        assert.deepEqual(await kept.find({ targets: [other.key] }), []);
        assert.equal((await kept.find({})).length, 2);
      });
    }, { maxQueue: 2, whenFull: "refuse" }),
  );
}

function testAttempts(claim: Claim, place: InPlace): void {
  let times = 0;
  claim(
    "a failed attempt is made again when its time has come, and counted",
    place(() => ++times < 3 ? 503 : 200, async ({ store, receiver, target }) => {
      await withOutbox(store, [target], steps(again(80), again(150)), async (kept) => {
        const one = deliveryTo(target);
        await kept.accept([one]);
        await eventually(goneFrom(kept, [one]), "delivered");
        const at = receiver.posts.map((post) => post.at);
        assert.ok(at[1]! - at[0]! >= 79, `${at[1]! - at[0]!} ms`);
        assert.ok(at[2]! - at[1]! >= 149, `${at[2]! - at[1]!} ms`);
        assert.deepEqual(
          receiver.posts.map(({ body }) => JSON.parse(String(body)).attempt),
          [1, 2, 3],
        );
      });
    }),
  );

  claim(
    "a delivery between two attempts says why, and holds up no other",
    place(({ body }) => String(body).includes(`"bad":1`) ? 503 : 200, async ({ store, target }) => {
      const [bad, good] = [deliveryTo(target, { wire: `{"bad":1}` }), deliveryTo(target)];
      await withOutbox(store, [target], steps(again(60_000)), async (kept) => {
        await kept.accept([bad, good]);
        await eventually(goneFrom(kept, [good]), "the other one");
        const [found] = await kept.find({ states: ["retrying"] });
        assert.deepEqual(found?.why, WHY);
        assert.deepEqual([found?.id, found?.attempts], [bad.id, 1]);
        const due = await kept.dueIn([target.key]);
        assert.ok(due! > 50_000 && due! <= 60_000, `due in ${due} ms`);
      });
      // Its time is kept over a restart, and so are its attempts.
      await withEngine(store, [target], async (_engine, kept) => {
        const [found] = await kept.find({});
        assert.deepEqual([found?.state, found?.attempts, found?.why], ["retrying", 1, WHY]);
        assert.ok(Date.parse(found!.dueAt!) - Date.now() > 50_000);
      });
    }),
  );

  let status = 503;
  claim(
    "a dead letter stays with its reason, and comes back with all its attempts",
    place(() => status, async ({ store, receiver, target }) => {
      await withOutbox(store, [target], steps(dead), async (kept, _outbox, engine) => {
        const list = deliveriesTo(target, 2), [first, second] = list;
        await kept.accept(list);
        await eventually(async () => (await kept.find({ states: ["dead"] })).length === 2, "dead");
        const found = await kept.find({ states: ["dead"] });
        assert.deepEqual(found.map(({ id, why, attempts }) => ({ id, why, attempts })), [
          { id: first!.id, why: WHY, attempts: 1 },
          { id: second!.id, why: WHY, attempts: 1 },
        ]);
        assert.ok(Math.abs(Date.parse(found[0]!.endedAt!) - Date.now()) < 5_000);
        assert.deepEqual(
          [...await kept.fates(idsOf(list))].sort(),
          [
            [first!.id, "dead"],
            [second!.id, "dead"],
          ].sort(),
        );
        assert.equal(await kept.dueIn([target.key]), undefined);
        const { waiting, inFlight, dead: letters } = (await engine.counts()).get(target.key)!;
        assert.deepEqual([waiting, inFlight, letters], [0, 0, 2]);
        status = 200;
        assert.equal(await kept.redeliver({ ids: [second!.id] }), 1);
        await eventually(goneFrom(kept, [second!]), "delivered after all");
        assert.equal(JSON.parse(String(receiver.posts.at(-1)!.body)).attempt, 1);
        assert.equal(await kept.purge({ states: ["dead"] }), 1);
        assert.equal((await engine.counts()).get(target.key)?.dead ?? 0, 0);
        assert.equal(await kept.redeliver({ ids: idsOf(list) }), 0);
      });
    }),
  );

  let answerAfter = 100;
  claim(
    "draining lets an attempt end that does so in time, and keeps what did not",
    place((_post, socket) => {
      setTimeout(() => socket.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n"), answerAfter);
    }, async ({ store, receiver, target }) => {
      const list = deliveriesTo(target, 3);
      await withOutbox(store, [target], steps(again(10)), async (kept, outbox) => {
        await kept.accept(list);
        await eventually(() => receiver.posts.length === 1, "the first attempt");
        assert.deepEqual(await outbox.drain(2_000), { dropped: 0 });
      });
      answerAfter = 3_000;
      await withOutbox(store, [target], steps(again(10)), async (kept, outbox) => {
        assert.deepEqual(idsOf(await kept.find({})), idsOf(list.slice(1)));
        await eventually(() => receiver.posts.length === 2, "the second attempt");
        const began = performance.now();
        await outbox.drain(100);
        assert.ok(performance.now() - began < 1_500);
      });
      await withEngine(store, [target], async (_engine, kept) => {
        const found = await kept.find({});
        assert.deepEqual(
          found.map(({ id, attempts }) => [id, attempts]).sort(),
          list.slice(1).map(({ id }) => [id, 0]).sort(),
        );
      });
    }),
  );
}

function testLooking(claim: Claim, place: InPlace): void {
  claim(
    "find goes by state, event, time and id, the oldest first, a page at a time",
    place(() => 200, async ({ store, target }) => {
      const list = Array.from(
        { length: 450 },
        (_, i) => deliveryTo(target, { event: i % 2 ? "odd" : "even" }),
      );
      await withEngine(store, [target], async (_engine, kept) => {
        await kept.accept(list);
        const all = idsOf(list), targets = [target.key];
        const ids = async (filter: KeptFilter, page?: { limit: number; offset: number }) =>
          idsOf(await kept.find(filter, page));
        assert.deepEqual(await ids({ targets }), all.slice(0, 100));
        assert.deepEqual(await ids({}, { limit: 120, offset: 300 }), all.slice(300, 420));
        const [before, after] = [new Date(list[9]!.occurredAt), new Date(list[5]!.occurredAt)];
        assert.deepEqual(await ids({ before, after }), all.slice(5, 9));
        assert.deepEqual(
          await ids({ before, event: "odd" }, { limit: 2, offset: 1 }),
          [all[3], all[5]],
        );
        assert.deepEqual(await ids({ ids: [all[7]!, all[3]!, "0".repeat(32)] }), [all[3], all[7]]);
        assert.deepEqual(await ids({ states: ["dead", "sending", "retrying"] }), []);
        assert.deepEqual(await ids({ targets: ["nobody"] }), []);
        assert.deepEqual(
          await ids({ states: ["waiting"], event: "even" }),
          [
            ...all.filter((_, i) => i % 2 === 0),
          ].slice(0, 100),
        );
      });
    }),
  );

  claim(
    "purge removes what matches and leaves the rest",
    place(() => 200, async ({ store, target }) => {
      const other = targetAt("http://127.0.0.1:1/");
      await withEngine(store, [target, other], async (engine, kept) => {
        const list = deliveriesTo(target, 600), others = deliveriesTo(other, 3);
        await kept.accept([...list, ...others]);
        const before = new Date(list[520]!.occurredAt);
        assert.equal(await kept.purge({ targets: [target.key], before }), 520);
        assert.equal(await kept.purge({ ids: [others[1]!.id] }), 1);
        assert.deepEqual(
          idsOf(await kept.find({ targets: [other.key] })),
          [others[0]!.id, others[2]!.id],
        );
        assert.equal(await kept.purge({ targets: [target.key] }), 80);
        const counts = await engine.counts();
        assert.equal(counts.get(target.key)?.waiting ?? 0, 0);
        assert.equal(counts.get(other.key)?.waiting, 2);
        assert.equal((await kept.fates(idsOf(list))).size, 0);
      });
    }),
  );

  claim(
    "what was purged is not sent, also when it was about to be",
    place((_post, socket) => {
      setTimeout(() => socket.write("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n"), 200);
    }, async ({ store, receiver, target }) => {
      await withOutbox(store, [target], steps(dead), async (kept, _outbox, engine) => {
        const list = deliveriesTo(target, 50);
        await kept.accept(list.slice(0, 1));
        await eventually(() => receiver.posts.length === 1, "the first attempt");
        for (const one of list.slice(1)) await kept.accept([one]);
        assert.equal(await kept.purge({}), 49);
        await eventually(goneFrom(kept, list), "the one under way");
        await new Promise((resolve) => setTimeout(resolve, 300));
        assert.deepEqual(idsAt(receiver), [list[0]!.id]);
        assert.equal((await engine.counts()).get(target.key)?.waiting ?? 0, 0);
      });
    }),
  );
}

function testStatuses(claim: Claim, place: InPlace): void {
  let status = 410;
  claim(
    "a disabled target gets nothing until it is lifted, after a restart too, and loses nothing",
    place(() => status, async ({ store, receiver, target }) => {
      const policy = steps({ settlement: { kind: "untried" }, disable: "answered 410" });
      const list = deliveriesTo(target, 3);
      await withOutbox(store, [target], policy, async (kept) => {
        await kept.accept(list.slice(0, 2));
        await eventually(
          async () => (await kept.statuses()).get(target.key)?.disabled !== undefined,
          "disabled",
        );
        assert.equal((await kept.statuses()).get(target.key)!.disabled!.reason, "answered 410");
        await kept.accept(list.slice(2));
        await new Promise((resolve) => setTimeout(resolve, 200));
        assert.equal(receiver.posts.length, 1);
        assert.equal(await kept.dueIn([target.key]), undefined);
      });
      status = 200;
      await withOutbox(store, [target], policy, async (kept) => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        assert.equal(receiver.posts.length, 1);
        const found = await kept.find({});
        assert.deepEqual(
          found.map(({ id, attempts }) => [id, attempts]),
          list.map(({ id }) => [id, 0]),
        );
        await kept.setStatus(target.key, LIFTED);
        await eventually(goneFrom(kept, list), "all delivered");
        assert.deepEqual(idsAt(receiver).slice(1), idsOf(list));
        assert.equal((await kept.statuses()).get(target.key), undefined);
      });
    }),
  );

  claim(
    "what a status does not name stays as it was",
    place(() => 200, async ({ store, target }) => {
      const disabled = { since: "2026-01-02T03:04:05.000Z", reason: "gone" };
      const paused = {
        until: new Date(Date.now() + 60_000).toISOString(),
        reason: "failed for long",
      };
      await withEngine(store, [target], async (_engine, kept) => {
        await kept.setStatus(target.key, { disabled });
        await kept.setStatus(target.key, { paused });
        assert.deepEqual((await kept.statuses()).get(target.key), { disabled, paused });
        await kept.setStatus(target.key, { disabled: null });
      });
      await withEngine(store, [target], async (_engine, kept) => {
        assert.deepEqual([...await kept.statuses()], [[target.key, { paused }]]);
      });
    }),
  );
}
