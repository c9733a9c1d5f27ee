import assert from "node:assert/strict";
import test from "node:test";
import { driftOf } from "../lib/consent/drift.ts";
import { instantMs, utcText } from "../lib/consent/instant.ts";

const MTIME = 1_700_000_000_000;
const drifted = (scriptMtime: string | undefined, present: number | undefined) =>
  driftOf(
    { event: "a", command: "b", ...(scriptMtime === undefined ? {} : { scriptMtime }) },
    present,
  )
    .drifted;

test("the same instant in any spelling is no drift", () => {
  for (
    const text of [
      "2023-11-14T22:13:20Z",
      "2023-11-14T22:13:20.000000Z",
      "2023-11-14T22:13:20.000000000+00:00",
      "2023-11-14 22:13:20",
      "2023-11-15T00:13:20+02:00",
      "2023-11-14T16:43:20-0530",
    ]
  ) {
    assert.equal(instantMs(text), MTIME, text);
    assert.equal(drifted(text, MTIME), false, text);
  }
});

test("less than a second and an older script are quiet, a second and more is drift", () => {
  assert.equal(drifted("2023-11-14T22:13:20Z", MTIME + 999), false);
  assert.equal(drifted("2023-11-14T22:13:20Z", MTIME - 86_400_000), false);
  assert.equal(drifted("2023-11-14T22:13:20Z", MTIME + 1000), true);
});

test("a time that is missing, broken or unknown is no drift", () => {
  assert.equal(drifted(undefined, MTIME), false);
  assert.equal(drifted("yesterday", MTIME), false);
  assert.equal(drifted("2023-13-45T99:99:99Z", MTIME), false);
  assert.equal(drifted("2023-11-14T22:13:20Z", undefined), false);
});

test("both times are given in UTC", () => {
  const approval = { event: "a", command: "b", scriptMtime: "2023-11-15T00:13:20+02:00" };
  assert.deepEqual(driftOf(approval, MTIME + 5250.5), {
    drifted: true,
    from: "2023-11-14T22:13:20Z",
    to: "2023-11-14T22:13:25.250500Z",
  });
});

test("times are written with six digits of a second, or none, also before 1970", () => {
  assert.equal(utcText(1_700_000_000_123_456_789n), "2023-11-14T22:13:20.123456Z");
  assert.equal(utcText(1_700_000_000_000_000_000n), "2023-11-14T22:13:20Z");
  assert.equal(utcText(-500_000_000n), "1969-12-31T23:59:59.500000Z");
});
