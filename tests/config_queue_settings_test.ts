import assert from "node:assert/strict";
import test from "node:test";
import { durationText, readDuration, roughText } from "../lib/config/duration.ts";
import { queueAsked } from "../lib/config/queue_asked.ts";
import { readQueueSettings } from "../lib/config/queue_settings.ts";
import { readYaml } from "../lib/config/yaml.ts";

const DAY = 86_400_000;

/** Reads what stands under `hermes_hooks.outbound:`, given as YAML. */
function read(block: string) {
  const { root } = readYaml(`hermes_hooks:\n  outbound: ${block}\n`, "config.yaml");
  const { settings, problems } = readQueueSettings(root, "config.yaml");
  return {
    settings,
    asked: queueAsked(root),
    problems: problems.map((p) => `${p.severity} ${p.path}:${p.line} ${p.message}`),
  };
}

test("where nothing is said the queue is memory, and dead letters would be kept for a week", () => {
  const defaults = { settings: { queue: { kind: "memory" }, retainMs: 7 * DAY }, problems: [] };
  assert.deepEqual(readQueueSettings(undefined, "config.yaml"), defaults);
  for (const block of ["", "{}", "{queue: , retain: }", "{queue: memory}", "{queue: ' memory '}"]) {
    assert.deepEqual(read(block), { ...defaults, asked: "memory" }, block);
  }
});

test("each queue can be asked for, and both ways to ask see the same", () => {
  assert.deepEqual(read("{queue: sqlite, retain: 12h}"), {
    settings: { queue: { kind: "sqlite" }, retainMs: DAY / 2 },
    asked: "sqlite",
    problems: [],
  });
  for (const url of ["redis://127.0.0.1:6379/0", "rediss://u:p@cache.example/2"]) {
    const { settings, asked, problems } = read(`{queue: "${url}"}`);
    assert.deepEqual([settings.queue, asked, problems], [{ kind: "redis", url }, "redis", []]);
  }
});

test("a queue that cannot be understood is an error at its line, and never taken for memory", () => {
  const expected = "expected memory, sqlite, or a URL such as redis://127.0.0.1:6379/0";
  const bad = ["sqlit", "SQLite", "''", "3", "true", "[sqlite]", "{kind: sqlite}", "${QUEUE}"];
  for (const value of [...bad, "http://h/", "valkey://h/"]) {
    const { asked, problems } = read(`\n    retain: 1d\n    queue: ${value}`);
    assert.deepEqual(problems, [`error hermes_hooks.outbound.queue:4 ${expected}`], value);
    assert.equal(asked, "unknown", value);
  }
  for (const block of ["sqlite", "[sqlite]", "true"]) {
    const { asked, problems } = read(block);
    assert.deepEqual(problems, ["error hermes_hooks.outbound:2 expected a mapping"], block);
    assert.equal(asked, "unknown", block);
  }
});

test("what is wrong with a redis URL is told without its password", () => {
  const urls = [
    "redis://:hunter2@/0",
    "redis://u:hunter2@host/zero",
    "rediss://u:hunter2@host:99999/",
    "redis://u:hunter2%@host/0",
    "redis://hunter2@host/0",
    "redis://u:hunter2@host/0?family=6",
    " REDIS:hunter2 ",
  ];
  for (const url of urls) {
    const { problems, asked } = read(`{queue: "${url}"}`);
    assert.equal(problems.length, 1, url);
    assert.match(problems[0]!, /^error hermes_hooks\.outbound\.queue:2 the URL /, url);
    assert.doesNotMatch(problems[0]!, /hunter/, url);
    // Nothing but a queue that is kept may come of it.
    assert.equal(asked, "redis", url);
  }
});

test("a bad retain falls back alone with a warning, and an unknown key is met with the nearest", () => {
  for (const value of ["0", "59", "366d", "-1d", "1w", "1.5", "soon", "'1:30'", "[7d]", "true"]) {
    const { settings, problems } = read(`{queue: sqlite, retain: ${value}}`);
    assert.deepEqual(settings, { queue: { kind: "sqlite" }, retainMs: 7 * DAY }, value);
    assert.deepEqual(problems, [
      "warning hermes_hooks.outbound.retain:2 expected how long dead letters are kept: 1m to " +
      "365d, such as 7d; using 7d",
    ], value);
  }
  assert.deepEqual(read("{quue: sqlite, constructor: 1}").problems, [
    'warning hermes_hooks.outbound.quue:2 unknown key "quue", ignored: did you mean "queue"?',
    'warning hermes_hooks.outbound.constructor:2 unknown key "constructor", ignored: known are ' +
    "queue, retain",
  ]);
});

test("a duration is a number of seconds, or text with one unit; anything else is none", () => {
  const good: [unknown, number][] = [
    [0, 0],
    [90n, 90_000],
    [1.5, 1_500],
    [0.0004, 0],
    ["5", 5_000],
    ["5s", 5_000],
    ["5m", 300_000],
    [" 72 h ", 72 * 3_600_000],
    ["7d", 7 * DAY],
    ["1.5h", 5_400_000],
  ];
  for (const [value, ms] of good) assert.equal(readDuration(value), ms, String(value));
  const bad = ["", "s", "5 S", "5M", "5ms", "5min", "1h30m", "-5s", "+5s", "1:30", "1e3", "٣s"];
  for (const value of [...bad, "5  s", "1_000", ".5s", NaN, Infinity, -1, true, null, undefined]) {
    assert.equal(readDuration(value), undefined, String(value));
  }
});

test("in YAML as it is read here 1:30 is 90 seconds, and 5m is text", () => {
  assert.equal(read("{retain: 1:30}").settings.retainMs, 90_000);
  assert.equal(read("{retain: 168:00:00}").settings.retainMs, 7 * DAY);
  assert.equal(read("{retain: 5m}").settings.retainMs, 300_000);
});

test("a span is shown exactly for settings, and about for waits", () => {
  assert.deepEqual([0, 1_500, 90_000, 3_600_000, 72 * 3_600_000].map(durationText), [
    "0s",
    "1.5s",
    "90s",
    "1h",
    "3d",
  ]);
  assert.deepEqual([4_321, 312_345, 7_300_000, 36_000_000, 200_000_000].map(roughText), [
    "4s",
    "5m",
    "2h",
    "10h",
    "2d",
  ]);
});
