import assert from "node:assert/strict";
import test from "node:test";
import type { Delivery } from "../lib/outbound/engine.ts";
import { Lanes } from "../lib/outbound/lanes.ts";
import { KeptPolicy } from "../lib/outbound/retry_policy.ts";
import type { AttemptResult } from "../lib/outbound/send.ts";
import { type Policy, type Step, Work } from "../lib/outbound/work.ts";
import { TestKeptEngine } from "./programs/kept_engine.ts";
import { targetsOf } from "./programs/outbound_outbox.ts";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean, what: string): Promise<void> {
  for (const end = performance.now() + 5_000; !holds();) {
    assert.ok(performance.now() < end, `in vain: ${what}`);
    await sleep(2);
  }
}

const targets = targetsOf(
  ["a", "b"].map((name) =>
    `- {name: ${name}, url: "https://${name}.example/", events: [on_session_end], concurrency: 4}`
  ).join("\n"),
  {},
  "sqlite",
).targets;
const [A, B] = targets.map(({ key }) => key) as [string, string];

let made = 0;
const delivery = (target: string): Delivery => ({
  id: String(++made).padStart(32, "0"),
  target,
  event: "on_session_end",
  wire: "{}",
  occurredAt: new Date().toISOString(),
  attempts: 0,
});
const many = (count: number, target: string) =>
  Array.from({ length: count }, () => delivery(target));

const DONE: Step = { settlement: { kind: "done" } };
const FAILED: Step = { settlement: { kind: "retry", afterMs: 1e9 } };

/** Lanes on a kept engine, and the attempts that they make; `answer` says how each one ends. */
function drive(
  policy: Policy,
  answer: (target: string) => number | Promise<number> = () => 200,
  engine = new TestKeptEngine(),
) {
  const attempts = { [A]: 0, [B]: 0 };
  const most = { [A]: 0, [B]: 0 };
  const under = { [A]: 0, [B]: 0 };
  const faults: string[] = [];
  const work = new Work({
    policy,
    onEnd: () => {},
    send: async ({ key }): Promise<AttemptResult> => {
      attempts[key]!++;
      most[key] = Math.max(most[key]!, ++under[key]!);
      const began = performance.now();
      await sleep(1);
      const status = await answer(key);
      under[key]!--;
      return {
        outcome: status < 300 ? "delivered" : status < 500 ? "rejected" : "server_error",
        status,
        error: `answered ${status}`,
        durationMs: performance.now() - began,
      };
    },
  });
  const lanes = new Lanes({
    engine,
    work,
    onGone: () => {},
    onFault: (error) => void faults.push((error as Error).message),
  });
  return { engine, lanes, attempts, most, faults };
}

test("a backlog that nobody is told of is sent as wide as the target allows", async () => {
  const engine = new TestKeptEngine();
  await engine.kept.accept(many(40, A));
  const { lanes, most, attempts } = drive({ after: () => DONE }, () => 200, engine);
  lanes.setTargets(targets);
  await until(() => engine.settled.length === 40, "all sent");
  assert.equal(attempts[A], 40);
  assert.equal(most[A], 4);
  lanes.close();
});

test("while a target is paused no attempt is made at it, and others go on", async () => {
  const pause = { ms: 150, reason: "answered 503" };
  const policy: Policy = {
    after: ({ key }) => key === A ? { ...FAILED, pause } : DONE,
    width: ({ key }) => key === A ? 1 : Infinity,
  };
  const { engine, lanes, attempts } = drive(policy);
  lanes.setTargets(targets);
  await engine.kept.accept([...many(5, A), ...many(5, B)]);
  await until(() => engine.settled.length === 6, "one of a, five of b");
  const since = performance.now();
  assert.match(engine.statuses.get(A)!.paused!.until, /^20.*Z$/);
  assert.equal(engine.statuses.get(A)!.paused!.reason, "answered 503");
  await engine.kept.accept([...many(5, A), ...many(5, B)]);
  await until(() => attempts[B] === 10, "the others");
  await sleep(60);
  assert.equal(attempts[A], 1);
  await until(() => attempts[A] === 2, "the probe");
  assert.ok(performance.now() - since > 100);
  await sleep(60);
  assert.equal(attempts[A], 2, "the failed probe pauses again");
  assert.equal(engine.counts().get(A)!.waiting, 8);
  lanes.close();
});

test("ten failures open the breaker, and not one waiting delivery burns an attempt", async () => {
  const { engine, lanes, attempts } = drive(
    new KeptPolicy({ now: () => new Date(), log: () => {} }),
    (key) => key === A ? 503 : 200,
  );
  lanes.setTargets(targets);
  await engine.kept.accept([...many(50, A), ...many(50, B)]);
  await until(() => engine.statuses.get(A)?.paused !== undefined, "paused");
  await until(() => attempts[B] === 50, "the others");
  await sleep(80);
  // What was under way when it opened ends; nothing more begins.
  assert.ok(attempts[A]! >= 10 && attempts[A]! <= 13, String(attempts[A]));
  assert.equal(engine.counts().get(A)!.waiting, 50 - attempts[A]!);
  assert.equal(engine.counts().get(A)!.inFlight, 0);
  assert.ok(engine.settled.every(({ kind }) => kind === "retry" || kind === "done"));
  lanes.close();
});

test("a pause that somebody lifts ends with one probe at a time, and a success opens the width", async () => {
  let phase: "ill" | "healing" | "well" = "ill";
  const policy = new KeptPolicy({ now: () => new Date(), log: () => {} });
  const { engine, lanes, most, attempts } = drive(policy, async () => {
    if (phase === "ill") return 503;
    if (phase === "healing") await sleep(50);
    return 200;
  });
  lanes.setTargets(targets);
  await engine.kept.accept(many(100, A));
  await until(() => engine.statuses.get(A)?.paused !== undefined, "paused");
  await until(() => engine.counts().get(A)!.inFlight === 0, "still");
  const before = attempts[A]!;
  [phase, most[A]] = ["healing", 0];
  // Another process lifts it, and something is written.
  engine.statuses.delete(A);
  engine.nudge(A);
  await until(() => attempts[A]! > before, "the probe");
  await sleep(30);
  assert.equal(attempts[A], before + 1);
  phase = "well";
  await until(() => engine.counts().get(A)!.waiting === 0, "the rest");
  assert.equal(most[A], 4);
  assert.deepEqual(engine.changes.at(-1), [A, { paused: null }]);
  lanes.close();
});

test("a target that disables itself is noted before its delivery goes back, and gets nothing more", async () => {
  const policy = new KeptPolicy({ now: () => new Date(), log: () => {} });
  let status = 410;
  const { engine, lanes, attempts } = drive(policy, (key) => key === A ? status : 200);
  lanes.setTargets(targets);
  await engine.kept.accept([delivery(A)]);
  await until(() => engine.settled.length === 1, "settled");
  await engine.kept.accept([...many(10, A), ...many(10, B)]);
  await until(() => attempts[B] === 10, "the others");
  await sleep(40);
  assert.equal(attempts[A], 1);
  assert.equal(engine.counts().get(A)!.waiting, 11);
  assert.match(engine.statuses.get(A)!.disabled!.reason, /410/);
  status = 200;
  engine.statuses.delete(A);
  engine.nudge(A);
  await until(() => attempts[A] === 12, "all of it once it is enabled");
  lanes.close();
});

test("a pause from before the start is kept, and is known before anything is taken", async () => {
  const engine = new TestKeptEngine();
  const until_ = new Date(Date.now() + 200).toISOString();
  engine.statuses.set(A, { paused: { until: until_, reason: "answered 503" } });
  await engine.kept.accept([...many(20, A), ...many(20, B)]);
  const policy = new KeptPolicy({ now: () => new Date(), log: () => {} });
  let first = true, alone = true;
  const run = drive(policy, async (key) => {
    if (key !== A || !first) return 200;
    await sleep(30);
    alone = run.attempts[A] === 1;
    first = false;
    return 200;
  }, engine);
  const { lanes, attempts } = run;
  lanes.setTargets(targets);
  await until(() => attempts[B] === 20, "the others");
  await sleep(40);
  assert.equal(attempts[A], 0);
  await until(() => attempts[A] === 20, "all, after the pause");
  assert.ok(Date.now() >= Date.parse(until_) - 2);
  assert.ok(alone, "the first was a probe");
  assert.deepEqual(engine.statuses.get(A), {});
  lanes.close();
});

test("a store that fails to note a pause is said, and the pause is kept to all the same", async () => {
  const policy = new KeptPolicy({ now: () => new Date(), log: () => {} });
  const { engine, lanes, attempts, faults } = drive(policy, () => 503);
  engine.fault = new Error("disk full");
  lanes.setTargets(targets);
  await engine.kept.accept(many(50, A));
  await until(() => faults.length > 0, "said");
  await until(() => engine.counts().get(A)!.inFlight === 0, "still");
  const before = attempts[A]!;
  engine.nudge(A);
  await sleep(60);
  assert.equal(attempts[A], before);
  assert.deepEqual(faults, ["disk full"]);
  lanes.close();
});

test("closing lets nothing more begin, and leaves no timer that would keep the process", async () => {
  const pause = { ms: 3_600_000, reason: "x" };
  const { engine, lanes, attempts } = drive({ after: () => ({ ...FAILED, pause }) });
  lanes.setTargets(targets);
  await engine.kept.accept(many(5, A));
  await until(() => attempts[A]! > 0, "begun");
  lanes.close();
  // The attempt ends after the close and asks for an hour's pause: no timer may be set for it.
  const timers: number[] = [];
  const real = globalThis.setTimeout;
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    timers.push(ms);
    return real(run, ms);
  }) as typeof setTimeout;
  try {
    await until(() => engine.counts().get(A)!.inFlight === 0, "ended");
  } finally {
    globalThis.setTimeout = real;
  }
  assert.ok(!timers.some((ms) => ms > 10_000), String(timers));
});
