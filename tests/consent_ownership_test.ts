import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { homePaths, ownershipProblems } from "../lib/consent/ownership.ts";

const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];

function checked(mode: number, owner: { uid: number | undefined; gid?: number }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  const script = path.join(folder, "g.sh");
  fs.writeFileSync(script, "");
  fs.chmodSync(script, mode);
  if (uid === 0) fs.chownSync(script, 4242, 4243);
  const us = uid === 0 ? 4242 : uid;
  const group = uid === 0 ? 4243 : gid;
  const problems = ownershipProblems([{ path: script, what: "script" }, {
    path: script,
    what: "script",
  }], {
    uid: owner.uid === undefined ? undefined : owner.uid + us,
    ...(owner.gid === undefined ? {} : { gid: owner.gid + group }),
  });
  fs.rmSync(folder, { recursive: true });
  return problems.map((problem) => problem.message);
}

test("a script that only we can write is fine", () => {
  assert.deepEqual(checked(0o755, { uid: 0, gid: 0 }), []);
});

test("a world-writable script is named once, with its mode and the way to mend it", () => {
  const messages = checked(0o777, { uid: 0, gid: 0 });
  assert.equal(messages.length, 1);
  assert.match(
    messages[0]!,
    /^script ".*g\.sh" is writable by everyone \(mode 0777\); run: chmod o-w/,
  );
});

test("group-writable is a problem unless the group is our own", () => {
  assert.deepEqual(checked(0o775, { uid: 0, gid: 0 }), []);
  if (uid !== 0 && gid === 0) return;
  assert.match(checked(0o775, { uid: 0, gid: 1 })[0] ?? "", /writable by group \d+ .*chmod g-w/);
  assert.match(checked(0o777, { uid: 0, gid: 1 })[0] ?? "", /writable by everyone .*chmod go-w/);
});

test("a script of another user is named with that user's id", () => {
  assert.match(checked(0o755, { uid: 1, gid: 0 })[0] ?? "", /owned by another user \(uid \d+\)/);
});

test("what root owns is trusted, and without user ids nothing is checked", () => {
  assert.deepEqual(ownershipProblems([{ path: "/", what: "home" }], { uid: 4242 }), []);
  assert.deepEqual(checked(0o777, { uid: undefined }), []);
});

test("missing paths are skipped", () => {
  assert.deepEqual(ownershipProblems([{ path: "/nowhere/g.sh", what: "script" }], { uid }), []);
});

test("the home's paths are home, config, allowlist, and each hook and plugin folder", () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  fs.mkdirSync(path.join(home, "hooks/one"), { recursive: true });
  fs.mkdirSync(path.join(home, "plugins/two"), { recursive: true });
  fs.writeFileSync(path.join(home, "plugins/readme.md"), "");
  const whats = homePaths(home, "/etc/c.yaml", "/a.json").map((w) => [w.what, w.path]);
  assert.deepEqual(whats, [
    ["home", home],
    ["config", "/etc/c.yaml"],
    ["allowlist", "/a.json"],
    ["hook folder", path.join(home, "hooks")],
    ["hook folder", path.join(home, "hooks/one")],
    ["plugin folder", path.join(home, "plugins")],
    ["plugin folder", path.join(home, "plugins/two")],
  ]);
  fs.rmSync(home, { recursive: true });
});
