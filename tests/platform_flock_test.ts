import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import test from "node:test";
import { FlockTimeout, withFlock } from "../lib/platform/flock.ts";
import { run } from "./programs/consent_runtimes.ts";

const peer = path.join(import.meta.dirname!, "programs", "flock_hold.py");

async function withLockFile(body: (file: string) => Promise<void>) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "flock-"));
  try {
    await body(path.join(folder, "a.lock"));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test("the lock file is made for us alone, stays, and what the function returns comes back", () =>
  withLockFile(async (file) => {
    assert.equal(await withFlock(file, () => Promise.resolve(7)), 7);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  }));

test("a Python peer's flock keeps us out until it ends", () =>
  withLockFile(async (file) => {
    const child = spawn("python3", [peer, file, "0.5"], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((held) => child.stdout.once("data", held));
    await assert.rejects(withFlock(file, () => 1, { waitMs: 50 }), FlockTimeout);
    assert.equal(await withFlock(file, () => 2), 2);
  }));

test("our lock keeps a Python peer out, and no longer than we hold it", () =>
  withLockFile(async (file) => {
    const during = await withFlock(file, () => run(["python3", peer, file, "0", "try"]));
    assert.match(during.stderr, /BlockingIOError/);
    const after = await run(["python3", peer, file, "0", "try"]);
    assert.deepEqual([after.exit, after.stdout], [0, "held\n"]);
  }));

test("two calls in one process exclude each other and the event loop goes on", () =>
  withLockFile(async (file) => {
    const inside: string[] = [];
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const work = (name: string) => async () => {
      inside.push(`${name} in`);
      await new Promise((done) => setTimeout(done, 40));
      inside.push(`${name} out`);
    };
    await Promise.all([withFlock(file, work("a")), withFlock(file, work("b"))]);
    clearInterval(timer);
    assert.equal(inside[0]!.slice(0, 1), inside[1]!.slice(0, 1));
    assert.equal(inside[2]!.slice(0, 1), inside[3]!.slice(0, 1));
    assert.ok(ticks > 3, String(ticks));
  }));

test("a function that throws releases the lock", () =>
  withLockFile(async (file) => {
    await assert.rejects(withFlock(file, () => Promise.reject(new Error("mine"))), /mine/);
    assert.equal(await withFlock(file, () => 3, { waitMs: 0 }), 3);
  }));

test("a child started while the lock is held does not keep it", () =>
  withLockFile(async (file) => {
    const child = await withFlock(file, () => spawn("sleep", ["5"], { stdio: "ignore" }));
    assert.equal(await withFlock(file, () => 4, { waitMs: 0 }), 4);
    child.kill();
  }));

test("a folder that is missing is an error with its code, and nothing is made below ~", () =>
  withLockFile(async (file) => {
    await assert.rejects(withFlock(`${file}/x/a.lock`, () => 1), { code: "ENOENT" });
    await assert.rejects(withFlock("~/a.lock", () => 1), { code: "EINVAL" });
  }));
