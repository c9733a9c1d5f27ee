import assert from "node:assert/strict";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { CommandQueue } from "../lib/receive/command_queue.ts";

const BODY = new Uint8Array([123, 0xff, 0x00, 0x0a, 125]);
const nap = (ms: number) => new Promise((done) => setTimeout(done, ms));

interface Setup {
  folder: string;
  lines: string[];
  queue: (script: string, more?: object) => CommandQueue;
}

async function withFolder(body: (setup: Setup) => Promise<void>) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "receive-"));
  const lines: string[] = [];
  const queue = (script: string, more = {}) => {
    fs.writeFileSync(path.join(folder, "run.sh"), script);
    return new CommandQueue({
      command: "sh ./run.sh",
      env: { PATH: process.env["PATH"]! },
      folder,
      expandTilde: (word) => word,
      log: (level, line) => level === "warning" && lines.push(line),
      ...more,
    });
  };
  try {
    await body({ folder, lines, queue });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const delivery = (deliveryId?: string, event?: string) => ({ deliveryId, event, knownAs: [] });

test("the command gets the exact bytes, the event and the id", () =>
  withFolder(async ({ folder, lines, queue }) => {
    const one = queue('cat > body; echo "$HERMES_HOOK_EVENT $HERMES_DELIVERY_ID" > env');
    assert.equal(one.offer(delivery("id-1", "on_session_end"), BODY), true);
    assert.equal(await one.stop(9000), 0);
    assert.deepEqual(new Uint8Array(fs.readFileSync(path.join(folder, "body"))), BODY);
    assert.equal(fs.readFileSync(path.join(folder, "env"), "utf8"), "on_session_end id-1\n");
    assert.deepEqual(lines, []);
  }));

test("commands run one at a time, in the order of arrival", () =>
  withFolder(async ({ folder, queue }) => {
    const one = queue('echo "in $HERMES_DELIVERY_ID" >> log; sleep 0.05; echo out >> log');
    for (const id of ["a", "b", "c"]) one.offer(delivery(id), BODY);
    assert.equal(await one.stop(9000), 0);
    const log = fs.readFileSync(path.join(folder, "log"), "utf8").trim().split("\n");
    assert.deepEqual(log, ["in a", "out", "in b", "out", "in c", "out"]);
  }));

test("a queue that is full takes nothing until there is room again", () =>
  withFolder(async ({ queue }) => {
    const one = queue("sleep 0.2", { most: 2 });
    assert.equal(one.offer(delivery("runs"), BODY), true);
    await nap(20);
    const taken = ["a", "b", "c"].map((id) => one.offer(delivery(id), BODY));
    assert.deepEqual(taken, [true, true, false]);
    await nap(400);
    assert.equal(one.offer(delivery("c"), BODY), true);
    await one.stop(9000);
  }));

test("bodies that wait are bounded in bytes, but one alone is always taken", () =>
  withFolder(async ({ queue }) => {
    const one = queue("cat > /dev/null", { mostBytes: 4 });
    assert.deepEqual([0, 1].map((n) => one.offer(delivery(String(n)), BODY)), [true, false]);
    await one.stop(9000);
  }));

test("a failure is one warning with the command, the delivery and stderr", () =>
  withFolder(async ({ lines, queue }) => {
    const one = queue('echo "no \u001b[31mroom" >&2; exit 3');
    one.offer(delivery("id-1"), BODY);
    await one.stop(9000);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /^--exec "sh \.\/run\.sh" on "id-1": exit 3: no .*room$/);
  }));

test("a command that overruns its time is ended and the next one runs", () =>
  withFolder(async ({ folder, lines, queue }) => {
    const script = '[ "$HERMES_DELIVERY_ID" = slow ] && sleep 9; echo ran > done';
    const one = queue(script, { timeoutMs: 200 });
    one.offer(delivery("slow"), BODY);
    one.offer(delivery("next"), BODY);
    assert.equal(await one.stop(9000), 0);
    assert.match(lines.join(), /on "slow": timed out after 0\.2s/);
    assert.equal(fs.existsSync(path.join(folder, "done")), true);
  }));

test("a command that cannot be started is a warning, and the queue goes on", () =>
  withFolder(async ({ lines, queue }) => {
    const one = queue("", { command: "no-such-command-here" });
    one.offer(delivery(), BODY);
    one.offer(delivery(), BODY);
    assert.equal(await one.stop(9000), 0);
    assert.equal(lines.length, 2);
    assert.match(lines[0]!, /on a delivery: command not found: "no-such-command-here"/);
  }));

test("a stop that runs out of patience ends the command and counts what was left", () =>
  withFolder(async ({ lines, queue }) => {
    const one = queue("sleep 9");
    for (const id of ["a", "b", "c"]) one.offer(delivery(id), BODY);
    const began = performance.now();
    assert.equal(await one.stop(100), 3);
    assert.ok(performance.now() - began < 3000);
    assert.match(lines.join(), /on "a": was ended, since the receiver stops/);
    assert.equal(one.offer(delivery("d"), BODY), false);
  }));
