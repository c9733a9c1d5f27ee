import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { allowlistFile, findApproval, readAllowlist } from "../lib/consent/allowlist.ts";
import { problemText } from "../lib/events/problem.ts";

const NAMES =
  /shell-hooks-allowlist\.json[^\n]{0,160}((?<!\.)json|approvals|object|array|a list|pars|empty|shape|expect|entr)/i;

function reading(content: string | Uint8Array) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  fs.writeFileSync(allowlistFile(home), content);
  const allowlist = readAllowlist(allowlistFile(home));
  fs.rmSync(home, { recursive: true });
  return allowlist;
}

test("a missing allowlist approves nothing and is no problem", () => {
  const allowlist = readAllowlist("/nowhere/at/all/shell-hooks-allowlist.json");
  assert.deepEqual([allowlist.approvals, allowlist.problems, allowlist.writable], [[], [], true]);
});

test("entries written by hand with only event and command count", () => {
  const allowlist = reading('{"approvals":[{"event":" a ","command":" x  y "}]}');
  assert.deepEqual(allowlist.approvals, [{ event: "a", command: "x  y" }]);
  assert.deepEqual(allowlist.problems, []);
});

test("a byte order mark in front is tolerated", () => {
  const allowlist = reading('\ufeff{"approvals":[{"event":"a","command":"x"}]}');
  assert.equal(allowlist.approvals.length, 1);
  assert.deepEqual(allowlist.problems, []);
});

for (
  const [shape, content, writable] of [
    ["a map of paths to sha256", '{"/h/g.sh":{"sha256":"00"}}', true],
    ["approvals as an object", '{"approvals":{}}', true],
    ["approvals as null", '{"approvals":null}', true],
    ["a list", "[]", true],
    ["a string", '"approvals"', true],
    ["an empty file", "", true],
    ["only white space", " \n", true],
    ["broken JSON", '{"approvals":[', false],
    ["two values", "{} {}", false],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), false],
    ["items that are not objects", '{"approvals":["x",7,null]}', true],
    ["entries without a command", '{"approvals":[{"event":"a"},{"event":"a","command":""}]}', true],
  ] as const
) {
  test(`${shape}: approves nothing and is named`, () => {
    const allowlist = reading(content);
    assert.deepEqual(allowlist.approvals, []);
    assert.equal(allowlist.writable, writable);
    assert.ok(allowlist.problems.length > 0);
    for (const problem of allowlist.problems) {
      assert.match(problemText(problem), NAMES);
      assert.ok(problem.message.includes(allowlist.file), problem.message);
    }
  });
}

test("good entries among bad ones count, and each bad one is named with its place", () => {
  const allowlist = reading('{"approvals":["x",{"event":"a","command":"g"},{"event":3}]}');
  assert.deepEqual(allowlist.approvals, [{ event: "a", command: "g" }]);
  assert.deepEqual(allowlist.problems.map((p) => p.path), ["approvals[0]", "approvals[2]"]);
});

test("a bad entry of a known event belongs to that event alone", () => {
  const [problem] = reading('{"approvals":[{"event":"pre_verify","command":7}]}').problems;
  assert.equal(problem?.event, "pre_verify");
});

test("very many bad entries are counted instead of listed", () => {
  const { problems } = reading(JSON.stringify({ approvals: Array(500).fill("x") }));
  assert.equal(problems.length, 11);
  assert.match(problems[10]!.message, /490 more entries/);
});

test("a folder in its place is a problem and is not written to", () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  fs.mkdirSync(allowlistFile(home));
  const allowlist = readAllowlist(allowlistFile(home));
  assert.equal(allowlist.writable, false);
  assert.match(problemText(allowlist.problems[0]!), NAMES);
  fs.rmSync(home, { recursive: true });
});

test("an allowlist that may not be read is a problem", () => {
  if (process.getuid?.() === 0) return assert.ok(true, "root may read everything");
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  fs.writeFileSync(allowlistFile(home), "{}", { mode: 0 });
  const allowlist = readAllowlist(allowlistFile(home));
  assert.equal(allowlist.writable, false);
  assert.match(problemText(allowlist.problems[0]!), NAMES);
  fs.rmSync(home, { recursive: true });
});

test("a pair is found by its exact trimmed strings and by nothing else", () => {
  const allowlist = reading('{"approvals":[{"event":"a","command":"x  y"}]}');
  assert.ok(findApproval(allowlist, " a", "x  y\n"));
  assert.equal(findApproval(allowlist, "a", "x y"), undefined);
  assert.equal(findApproval(allowlist, "A", "x  y"), undefined);
  assert.equal(findApproval(allowlist, "b", "x  y"), undefined);
});

test("control characters in the file are escaped in messages", () => {
  const [problem] = reading('{"approvals":["\\u001b[2J\\u202e"]}').problems;
  assert.ok(problem?.message.includes("\\x1b[2J\\u202e"), problem?.message);
});
