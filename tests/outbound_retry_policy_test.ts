import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { AnswerReader } from "../lib/outbound/answer.ts";
import type { Delivery } from "../lib/outbound/engine.ts";
import { readRetryAfter } from "../lib/outbound/retry_after.ts";
import { KeptPolicy, waitMs } from "../lib/outbound/retry_policy.ts";
import type { AttemptResult } from "../lib/outbound/send.ts";
import { DEFAULT_RETRY } from "../lib/outbound/target/retry.ts";
import { ONE_RETRY, type Step, Work } from "../lib/outbound/work.ts";
import { targetsOf } from "./programs/outbound_outbox.ts";

const SECOND = 1_000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;
const FIRED = Date.parse("2026-01-01T00:00:00.000Z");

const delivery: Delivery = {
  id: "1".padStart(32, "0"),
  target: "t",
  event: "on_session_end",
  wire: "{}",
  occurredAt: new Date(FIRED).toISOString(),
  attempts: 0,
};

const targetWith = (options = "") =>
  targetsOf(
    `- {name: t, url: "https://a.example/", events: [on_session_end]${options}}`,
    {},
    "sqlite",
  ).targets[0]!;

/** An attempt's result, from a status or an outcome. */
function result(what: number | AttemptResult["outcome"], retryAfterMs?: number): AttemptResult {
  const waits = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (typeof what === "string") {
    const error = what === "delivered" ? {} : { error: what };
    return { outcome: what, ...error, durationMs: 1 };
  }
  const outcome = what < 300
    ? "delivered"
    : what < 400
    ? "redirect"
    : what < 500
    ? "rejected"
    : "server_error";
  return { outcome, status: what, error: `answered ${what}`, ...waits, durationMs: 1 };
}

/** A policy whose clocks stand still until moved; no jitter. */
function policyAt() {
  const lines: string[] = [];
  const time = { now: FIRED, clock: 1_000_000 };
  const policy = new KeptPolicy({
    now: () => new Date(time.now),
    clock: () => time.clock,
    random: () => 0.5,
    log: (level, line) => void lines.push(`${level}: ${line}`),
  });
  return { policy, lines, time };
}

test("a delivery that arrived is done", () => {
  const step = policyAt().policy.after(targetWith(), delivery, result(204), 1);
  assert.deepEqual(step, { settlement: { kind: "done" } });
});

test("no answer, 5xx, 408, 425 and 429 are tried again by the schedule; its last step repeats", () => {
  const target = targetWith(", retry: {attempts: 9, schedule: [5s, 5m]}");
  for (const what of ["unreachable", 500, 503, 599, 408, 425, 429] as const) {
    const waits = [1, 2, 3, 8].map((made) => {
      const { settlement } = policyAt().policy.after(target, delivery, result(what), made);
      return settlement.kind === "retry" ? settlement.afterMs : settlement.kind;
    });
    assert.deepEqual(waits, [5 * SECOND, 5 * MINUTE, 5 * MINUTE, 5 * MINUTE], String(what));
  }
});

test("what a receiver refuses for good, a redirect, and what is not dialled are dead at once", () => {
  for (const what of [400, 401, 403, 404, 409, 413, 422, 451, 301, 308, "refused"] as const) {
    const { settlement, disable } = policyAt().policy.after(
      targetWith(),
      delivery,
      result(what),
      1,
    );
    assert.equal(settlement.kind, "dead", String(what));
    assert.equal(disable, undefined);
    const status = typeof what === "number" ? { status: what } : {};
    const error = typeof what === "number" ? `answered ${what}` : what;
    assert.deepEqual(settlement.kind === "dead" && settlement.why, { error, ...status });
  }
});

test("the schedule is 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 10 h and so on, 20 % more or less", () => {
  const steps = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 36_000, 36_000];
  for (const [at, seconds] of steps.entries()) {
    const wait = (random: number) =>
      waitMs(DEFAULT_RETRY.scheduleMs, at + 1, undefined, random) / SECOND;
    assert.equal(wait(0.5), seconds);
    assert.equal(wait(0), seconds * 0.8);
    assert.ok(Math.abs(wait(0.999999) - seconds * 1.2) < seconds / 1_000);
  }
});

test("Retry-After counts between once and twice the step, whatever a receiver says", () => {
  const wait = (ms: number) => waitMs([10 * SECOND], 1, ms, 0);
  const said = [0, 3, 10, 15, 20, 21, 86_400, 2_592_000].map((s) => wait(s * SECOND) / SECOND);
  assert.deepEqual(said, [10, 10, 10, 15, 20, 20, 20, 20]);
  const { settlement } = policyAt().policy.after(
    targetWith(),
    delivery,
    result(503, 7 * SECOND),
    1,
  );
  assert.equal(settlement.kind === "retry" && settlement.afterMs, 7 * SECOND);
});

test("when the attempts are used up the letter is dead and says so", () => {
  const target = targetWith(", retry: {attempts: 3}");
  const { policy } = policyAt();
  assert.equal(policy.after(target, delivery, result(503), 2).settlement.kind, "retry");
  assert.deepEqual(policy.after(target, delivery, result(503), 3).settlement, {
    kind: "dead",
    why: { error: "answered 503; given up after 3 attempts", status: 503 },
  });
  assert.deepEqual(
    policy.after(targetWith(", retry: {attempts: 1}"), delivery, result("unreachable"), 1)
      .settlement,
    { kind: "dead", why: { error: "unreachable; given up after 1 attempt" } },
  );
});

test("no attempt is planned past max_age: the letter is dead now and says so", () => {
  const target = targetWith(", retry: {max_age: 10m, schedule: [5m]}");
  const { policy, time } = policyAt();
  time.now = FIRED + 5 * MINUTE;
  assert.equal(policy.after(target, delivery, result(503), 2).settlement.kind, "retry");
  time.now += 1;
  assert.deepEqual(policy.after(target, delivery, result(503), 2).settlement, {
    kind: "dead",
    why: {
      error: "answered 503; given up, since the next attempt would be past 10m",
      status: 503,
    },
  });
});

test("with the defaults a delivery is tried ten times within three days", () => {
  const { policy, time } = policyAt();
  let made = 0;
  for (;;) {
    const { settlement } = policy.after(targetWith(), delivery, result(503), ++made);
    if (settlement.kind !== "retry") break;
    time.now += settlement.afterMs;
  }
  assert.equal(made, 10);
  assert.equal(Math.round((time.now - FIRED) / HOUR), 48);
});

test("410 disables the target with what lifts it, and the delivery waits on, its attempt counted", () => {
  const { policy, lines } = policyAt();
  const target = targetWith(", retry: {attempts: 1}");
  assert.deepEqual(policy.after(target, delivery, result(410), 1), {
    settlement: { kind: "retry", afterMs: 0, why: { error: "answered 410", status: 410 } },
    disable: "it answered 410, so it wants no more",
  });
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /^error: outbound "t": .*410.*hermes-hooks deliveries enable "t"$/);
});

test("a target that fails for long is paused, probed by one, and resumed, each with a line", () => {
  const { policy, lines, time } = policyAt();
  const target = targetWith(", concurrency: 8");
  const after = (what: number) => {
    time.clock += SECOND;
    const { pause, resume } = policy.after(target, delivery, result(what), 1);
    return pause?.ms ?? resume;
  };
  assert.equal(policy.width(target), Infinity);
  for (let i = 0; i < 9; i++) assert.equal(after(503), undefined);
  assert.equal(after(429), 30 * SECOND);
  assert.equal(policy.width(target), 1);
  assert.equal(after(500), MINUTE);
  // A refusal is an answer: the receiver is there.
  assert.equal(after(404), true);
  assert.equal(policy.width(target), Infinity);
  assert.deepEqual(lines, [
    'warning: outbound "t": fails for long (answered 429): left alone for 30s, then probed',
    'warning: outbound "t": fails for long (answered 500): left alone for 1m, then probed',
    'info: outbound "t": well again, deliveries go on',
  ]);
});

test("attempts under way when the breaker opens are no probes, however late they are noted", async () => {
  const { policy, time } = policyAt();
  const target = targetWith(", concurrency: 12");
  const ends: (() => void)[] = [];
  const work = new Work({
    policy,
    send: () => new Promise((resolve) => ends.push(() => resolve(result(503)))),
    onEnd: () => {},
  });
  const under = Array.from({ length: 12 }, () => work.attempt(() => target, delivery));
  await Promise.resolve();
  const pauses: Step["pause"][] = [];
  for (const [i, end] of ends.entries()) {
    time.clock += SECOND;
    end();
    pauses.push((await under[i]!)!.pause);
  }
  assert.deepEqual(pauses.flatMap((pause, i) => pause ? [[i, pause.ms]] : []), [[9, 30 * SECOND]]);
  const probe = work.attempt(() => target, delivery);
  ends.at(-1)!();
  assert.equal((await probe)!.pause!.ms, MINUTE);
});

test("deliveries that are each refused do not pause their target, nor do ones not dialled", () => {
  for (const what of [404, 301, "refused"] as const) {
    const { policy, time } = policyAt();
    const target = targetWith();
    for (let i = 0; i < 100; i++) {
      time.clock += SECOND;
      assert.equal(policy.after(target, delivery, result(what), 1).pause, undefined, String(what));
    }
  }
});

test("one target's failures are none of another's", () => {
  const { policy } = policyAt();
  const [bad, good] = [targetWith(), targetWith(', matcher: "", name: "u"')];
  for (let i = 0; i < 10; i++) policy.after(bad, delivery, result(500), 1);
  assert.deepEqual([policy.width(bad), policy.width(good)], [1, Infinity]);
});

test("a pause from before a restart counts on, at most as long as any, and ends in a probe", () => {
  const { policy, time } = policyAt();
  const target = targetWith();
  const paused = (ms: number) => ({
    paused: { until: new Date(time.now + ms).toISOString(), reason: "answered 503" },
  });
  assert.equal(policy.restore("other", {}), 0);
  assert.equal(policy.restore("other", { disabled: { since: "", reason: "" } }), 0);
  assert.equal(policy.restore("far", paused(24 * HOUR)), 5 * MINUTE);
  assert.equal(policy.restore("torn", { paused: { until: "?", reason: "" } }), 0);
  assert.equal(policy.restore(target.key, paused(40 * SECOND)), 40 * SECOND);
  assert.equal(policy.width(target), 1);
  const over = policyAt();
  assert.equal(over.policy.restore(target.key, paused(-HOUR)), 0);
  assert.equal(over.policy.width(target), 1);
  assert.equal(over.policy.after(target, delivery, result(200), 1).resume, true);
});

test("the one retry of rule 10.4 stays as it was: 408, 425, 429 and 410 end a delivery", () => {
  for (const status of [408, 425, 429, 410]) {
    const { settlement } = ONE_RETRY.after(targetWith(), delivery, result(status, SECOND), 1);
    assert.equal(settlement.kind, "dead", String(status));
  }
  const { settlement } = ONE_RETRY.after(targetWith(), delivery, result(503, HOUR), 1);
  assert.equal(settlement.kind === "retry" && settlement.afterMs, SECOND);
});

test("Retry-After is seconds or an HTTP date, bounded; anything else is nothing", () => {
  const now = Date.parse("2026-12-01T00:00:00Z");
  const read = (text: string) => readRetryAfter(text, now);
  assert.deepEqual(["0", "120", "00120", "999999999"].map(read), [
    0,
    120 * SECOND,
    120 * SECOND,
    30 * 24 * HOUR,
  ]);
  assert.equal(read("Tue, 01 Dec 2026 00:01:00 GMT"), MINUTE);
  assert.equal(read("Mon, 30 Nov 2026 00:00:00 GMT"), 0);
  assert.equal(read("Fri, 31 Dec 9999 23:59:59 GMT"), 30 * 24 * HOUR);
  const bad = [
    "",
    "-1",
    "+1",
    "1.5",
    "1e9",
    "1234567890",
    "soon",
    "0x10",
    "120, 120",
    "2026-12-01",
  ];
  const dates = ["Tue, 99 Dec 2026 00:00:00 GMT", "Tue, 01 Dec 2026 00:00:00 PST", "Tue, 01 Xxx"];
  for (const text of [...bad, ...dates]) assert.equal(read(text), undefined, text);
});

test("an answer's Retry-After is read off its head, and an endless one is left out", () => {
  const read = (value: string) => {
    const reader = new AnswerReader();
    const head = `HTTP/1.1 503 X\r\nRETRY-AFTER: ${value} \r\nContent-Length: 0\r\n\r\n`;
    reader.push(Buffer.from(head, "latin1"));
    return reader.retryAfter;
  };
  assert.equal(read("120"), "120");
  assert.equal(read("Tue, 01 Dec 2026 00:01:00 GMT"), "Tue, 01 Dec 2026 00:01:00 GMT");
  assert.equal(read("1".repeat(65)), undefined);
});
