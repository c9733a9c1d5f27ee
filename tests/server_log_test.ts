import assert from "node:assert/strict";
import test from "node:test";
import { Log, type LogLevel } from "../lib/server/log.ts";
import { ENDED, Inflight } from "../lib/server/inflight.ts";

const now = () => new Date("2026-01-31T12:00:00.250Z");

function logged(format: "text" | "json", level: LogLevel, write: (log: Log) => void): string {
  let text = "";
  const log = new Log({ format, level, write: (lines) => text += lines, now });
  write(log);
  log.flush();
  return text;
}

test("a JSON line has time, level, message and the fields that are set", () => {
  const text = logged("json", "info", (log) => {
    log.line("info", "event", { id: "a-1", decision: undefined, hooks: 2 });
  });
  assert.deepEqual(JSON.parse(text), {
    time: "2026-01-31T12:00:00.250Z",
    level: "info",
    message: "event",
    id: "a-1",
    hooks: 2,
  });
});

test("a text line is for people, values with spaces in quotes", () => {
  const text = logged("text", "info", (log) => {
    log.line("warning", "look", { path: "/a b", n: 1, word: "x" });
  });
  assert.equal(text, '12:00:00.250Z warning look path="/a b" n=1 word=x\n');
});

test("what steers a terminal is escaped in both forms", () => {
  const evil = "a\u001b[31m\u202eb\nc";
  const json = logged("json", "info", (log) => log.line("info", evil, { evil }));
  const text = logged("text", "info", (log) => log.line("info", evil, { evil }));
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  const steering = /[\u0000-\u0009\u000b-\u001f\u202e]/;
  assert.doesNotMatch(json, steering);
  assert.doesNotMatch(text, steering);
  assert.equal(text.split("\n").length, 2);
  assert.equal(JSON.parse(json).evil, evil);
});

test("lines below the level are left out, and the level can change", () => {
  const text = logged("text", "warning", (log) => {
    log.line("info", "one");
    log.level = "debug";
    log.line("debug", "two");
  });
  assert.match(text, /^\S+ debug {3}two\n$/);
});

test("lines are collected for a moment, urgent ones are not", async () => {
  const writes: string[] = [];
  const log = new Log({ format: "text", level: "info", write: (t) => void writes.push(t), now });
  log.line("info", "one");
  log.line("info", "two");
  assert.equal(writes.length, 0);
  log.line("error", "three");
  assert.equal(writes.length, 1);
  log.line("info", "four");
  await new Promise((next) => setTimeout(next, 60));
  assert.equal(writes.length, 2);
});

test("ending the waiting answers everything under way, and later results are thrown away", async () => {
  const inflight = new Inflight();
  let finish = (_: string) => {};
  const work = inflight.run(() => new Promise<string>((resolve) => finish = resolve));
  assert.equal(inflight.size, 1);
  assert.equal(await inflight.idle(10), 1);
  inflight.end();
  finish("late");
  assert.equal(await work, ENDED);
  assert.equal(await inflight.idle(1000), 0);
  assert.equal(inflight.size, 0);
});

test("work that fails leaves, and idle settles when the last one has left", async () => {
  const inflight = new Inflight();
  const failing = inflight.run(() => Promise.reject(new Error("no")));
  const idle = inflight.idle(5000);
  await assert.rejects(failing, /no/);
  assert.equal(await idle, 0);
});
