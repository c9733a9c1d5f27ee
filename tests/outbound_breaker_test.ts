import assert from "node:assert/strict";
import test from "node:test";
import { Breaker, type Mark } from "../lib/outbound/breaker.ts";

const SECOND = 1_000, MINUTE = 60 * SECOND;

/** A breaker on a clock of its own: attempts take 10 ms, one each second. */
function breakerAt(start = 1_000_000) {
  const breaker = new Breaker();
  const clock = { now: start };
  const note = (mark: Mark, took = 10) => {
    clock.now += SECOND;
    return breaker.note(mark, clock.now - took, clock.now);
  };
  const fail = (times: number) => Array.from({ length: times }, () => note("failure"));
  return { breaker, clock, note, fail };
}

test("it opens at the tenth failure in a row, and not at the ninth", () => {
  const { breaker, fail } = breakerAt();
  assert.deepEqual(fail(9), Array(9).fill(undefined));
  assert.equal(breaker.isOpen, false);
  assert.deepEqual(fail(1), [30 * SECOND]);
  assert.equal(breaker.isOpen, true);
});

test("a success begins the row anew, and what was not dialled counts for nothing", () => {
  const { breaker, note, fail } = breakerAt();
  for (let i = 0; i < 20; i++) note("success");
  fail(9);
  note("success");
  fail(5);
  for (let i = 0; i < 50; i++) assert.equal(note("neither"), undefined);
  fail(4);
  assert.equal(breaker.isOpen, false);
  assert.deepEqual(fail(1), [30 * SECOND]);
});

test("7 failures of 10 within 5 minutes open it too, and 6 of 10 do not", () => {
  const open = (pattern: string) => {
    const { breaker, note } = breakerAt();
    for (const each of pattern) note(each === "x" ? "failure" : "success");
    return breaker.isOpen;
  };
  assert.equal(open("xx.xx.xx.x"), true);
  assert.equal(open("xx.xx.x.x."), false);
  // Fewer than 10 say nothing of a share.
  assert.equal(open("xx.xx.xxx"), false);
});

test("what is older than 5 minutes does not count for the share", () => {
  const { breaker, clock, note, fail } = breakerAt();
  for (const each of "xx.xx.x.x.") note(each === "x" ? "failure" : "success");
  clock.now += 5 * MINUTE;
  fail(8);
  assert.equal(breaker.isOpen, false);
  const recent = breakerAt();
  for (const each of "xx.xx.x.x.") recent.note(each === "x" ? "failure" : "success");
  recent.fail(8);
  assert.equal(recent.breaker.isOpen, true);
});

test("each failed probe doubles the pause, up to 5 minutes; one success closes it", () => {
  const { breaker, note, fail } = breakerAt();
  fail(10);
  const pauses = Array.from({ length: 6 }, () => note("failure"));
  assert.deepEqual(pauses, [60, 120, 240, 300, 300, 300].map((s) => s * SECOND));
  assert.equal(note("neither"), undefined);
  assert.equal(breaker.isOpen, true);
  assert.equal(note("success"), "closed");
  assert.equal(breaker.isOpen, false);
  // Nothing of before counts any more.
  assert.deepEqual(fail(10), [...Array(9).fill(undefined), 30 * SECOND]);
});

test("attempts under way when it opened are no probes, however they end", () => {
  const { breaker, note, fail } = breakerAt();
  fail(10);
  assert.equal(note("failure", 10 * SECOND), undefined);
  assert.equal(note("success", 10 * SECOND), undefined);
  assert.equal(breaker.isOpen, true);
  assert.equal(note("failure"), MINUTE);
});

test("one that was open before a restart takes the next attempt for a probe", () => {
  const failing = breakerAt();
  failing.breaker.restore();
  assert.equal(failing.breaker.isOpen, true);
  assert.deepEqual(failing.fail(1), [MINUTE]);
  const well = breakerAt();
  well.breaker.restore();
  assert.equal(well.note("success"), "closed");
});

test("what it remembers is bounded, and the newest attempts decide", () => {
  const breaker = new Breaker();
  for (let i = 0; i < 100_000; i++) breaker.note("success", i, i);
  let at = 100_000, opened = 0;
  // 3 of 4 fail: never ten in a row.
  for (; !opened && at < 101_000; at++) {
    if (breaker.note(at % 4 ? "failure" : "success", at, at)) opened = at;
  }
  assert.ok(opened > 100_100 && opened < 100_300, String(opened));
});
