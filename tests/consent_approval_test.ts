import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { allowlistFile, readAllowlist } from "../lib/consent/allowlist.ts";
import { recordApproval, recordApprovals, revokeCommand } from "../lib/consent/approval.ts";
import { run } from "./programs/consent_runtimes.ts";

const NOW = { now: new Date("2026-02-03T04:05:06.789Z") };
const HOOK = { event: "pre_tool_call", command: "/h/g.sh", via: "allow" } as const;

async function inHome(body: (home: string, file: string) => Promise<void>, before?: string) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  const file = allowlistFile(home);
  if (before !== undefined) fs.writeFileSync(file, before);
  try {
    await body(home, file);
  } finally {
    fs.rmSync(home, { recursive: true });
  }
}

const entries = (file: string) => JSON.parse(fs.readFileSync(file, "utf8")).approvals;

test("an approval is written as Python's json.dumps with indent and sorted keys writes it", () =>
  inHome(async (home, file) => {
    const script = path.join(home, "g.sh");
    fs.writeFileSync(script, "");
    fs.utimesSync(script, 1700000000, 1700000000);
    const hook = { ...HOOK, command: "/h/gë😀.sh \u007f" };
    assert.equal(await recordApproval(file, { ...hook, script }, NOW), undefined);
    const text = fs.readFileSync(file, "utf8");
    assert.deepEqual(JSON.parse(text), {
      approvals: [{
        approved_at: "2026-02-03T04:05:06.789000Z",
        approved_via: "allow",
        command: hook.command,
        event: "pre_tool_call",
        script_mtime_at_approval: "2023-11-14T22:13:20Z",
      }],
    });
    const again = "import json,sys; sys.stdout.write(json.dumps(json.load(sys.stdin), " +
      "indent=2, sort_keys=True))";
    assert.equal((await run(["python3", "-c", again], text)).stdout, text);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(fs.readdirSync(home).sort(), [
      "g.sh",
      "shell-hooks-allowlist.json",
      "shell-hooks-allowlist.json.lock",
    ]);
  }));

test("an unknown script leaves the mtime out", () =>
  inHome(async (_, file) => {
    await recordApproval(file, { ...HOOK, script: "/nowhere/g.sh" }, NOW);
    assert.equal("script_mtime_at_approval" in entries(file)[0], false);
  }));

test("approving again updates the one entry and keeps its unknown fields", () => {
  const before = '{"note":1.0,"approvals":[' +
    '{"event":"pre_tool_call","command":" /h/g.sh","by":12345678901234567890,"approved_at":"x"}]}';
  return inHome(async (_, file) => {
    await recordApprovals(file, [HOOK, HOOK, { ...HOOK, event: "pre_verify" }], NOW);
    const text = fs.readFileSync(file, "utf8");
    assert.ok(text.includes('"note": 1.0') && text.includes('"by": 12345678901234567890'), text);
    assert.deepEqual(entries(file).map((e: { event: string }) => e.event), [
      "pre_tool_call",
      "pre_verify",
    ]);
    assert.equal(entries(file)[0].approved_at, "2026-02-03T04:05:06.789000Z");
  }, before);
});

for (
  const [shape, before, kept] of [
    ["a list", "[1]", { allowlist_before: [1] }],
    ["approvals as an object", '{"approvals":{"x":1}}', { approvals_before: { x: 1 } }],
    ["a map of paths", '{"/h/g.sh":{"sha256":"00"}}', { "/h/g.sh": { sha256: "00" } }],
    ["a key that is taken", '{"approvals":1,"approvals_before":2}', {
      approvals_before: 2,
      approvals_before_2: 1,
    }],
    ["an empty file", "", {}],
    ["a byte order mark", '\ufeff{"a":1}', { a: 1 }],
    ["a key named __proto__", '{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
  ] as const
) {
  test(`${shape}: what was there is kept beside the new approval`, () =>
    inHome(async (_, file) => {
      assert.equal(await recordApproval(file, HOOK, NOW), undefined);
      const { approvals, ...rest } = JSON.parse(fs.readFileSync(file, "utf8"));
      assert.deepEqual(Object.entries(rest), Object.entries(kept));
      assert.equal(approvals.length, 1);
      assert.deepEqual(readAllowlist(file).problems, []);
    }, before));
}

test("items that are not objects stay in the list", () =>
  inHome(async (_, file) => {
    await recordApproval(file, HOOK, NOW);
    assert.deepEqual(entries(file).slice(0, 3), ["x", 7, null]);
    assert.equal(entries(file).length, 4);
  }, '{"approvals":["x",7,null]}'));

test("what cannot be parsed is never overwritten, by approving or revoking", () =>
  inHome(async (_, file) => {
    const problem = await recordApproval(file, HOOK, NOW);
    assert.match(problem?.message ?? "", /shell-hooks-allowlist\.json" was not changed: it cannot/);
    const { removed, problem: other } = await revokeCommand(file, HOOK.command);
    assert.equal(removed, 0);
    assert.match(other?.message ?? "", /was not changed/);
    assert.equal(fs.readFileSync(file, "utf8"), '{"approvals":[');
  }, '{"approvals":['));

test("a symlink stays one and its target is replaced, also a target that is still missing", () =>
  inHome(async (home, file) => {
    fs.mkdirSync(path.join(home, "dotfiles"));
    fs.symlinkSync("dotfiles/list.json", file);
    assert.equal(await recordApproval(file, HOOK, NOW), undefined);
    assert.equal(await recordApproval(file, { ...HOOK, event: "pre_verify" }, NOW), undefined);
    assert.ok(fs.lstatSync(file).isSymbolicLink());
    assert.deepEqual(fs.readdirSync(path.join(home, "dotfiles")), ["list.json"]);
    assert.equal(entries(path.join(home, "dotfiles/list.json")).length, 2);
  }));

test("a symlink to itself and a home that is a file are problems, not exceptions", () =>
  inHome(async (home, file) => {
    fs.symlinkSync("shell-hooks-allowlist.json", file);
    assert.match((await recordApproval(file, HOOK, NOW))?.message ?? "", /was not changed/);
    fs.writeFileSync(path.join(home, "plain"), "");
    const below = allowlistFile(path.join(home, "plain"));
    assert.match((await recordApproval(below, HOOK, NOW))?.message ?? "", /was not changed/);
  }));

test("a home that cannot be written is a problem that names the file", () =>
  inHome(async (home, file) => {
    if (process.getuid?.() === 0) {
      // Root may write everywhere but here.
      const problem = await recordApproval("/proc/self/allowlist.json", HOOK, NOW);
      return assert.match(
        problem?.message ?? "",
        /"\/proc\/self\/allowlist\.json" was not changed/,
      );
    }
    fs.chmodSync(home, 0o500);
    const problem = await recordApproval(file, HOOK, NOW);
    fs.chmodSync(home, 0o700);
    assert.match(problem?.message ?? "", /was not changed/);
    assert.deepEqual(fs.readdirSync(home), []);
  }));

test("a missing home is made for us alone, but never below a folder named ~", () =>
  inHome(async (home) => {
    assert.equal(await recordApproval(allowlistFile(path.join(home, "new")), HOOK, NOW), undefined);
    assert.equal(fs.statSync(path.join(home, "new")).mode & 0o777, 0o700);
    const tilde = allowlistFile(path.join(home, "~", ".hermes"));
    assert.match((await recordApproval(tilde, HOOK, NOW))?.message ?? "", /~/);
    assert.equal(fs.existsSync(path.join(home, "~")), false);
  }));

test("revoking removes every approval of exactly that command, and only those", () => {
  const before = '{"approvals":[{"event":"a","command":"x y"},{"event":"b","command":"x y"},' +
    '{"event":"b","command":"x"},"x y"]}';
  return inHome(async (_, file) => {
    assert.deepEqual(await revokeCommand(file, " x y "), { removed: 2 });
    assert.deepEqual(entries(file), [{ event: "b", command: "x" }, "x y"]);
    const written = fs.statSync(file).ino;
    assert.deepEqual(await revokeCommand(file, "x y"), { removed: 0 });
    assert.equal(fs.statSync(file).ino, written);
  }, before);
});

test("revoking where there is no allowlist creates nothing", () =>
  inHome(async (home, file) => {
    assert.deepEqual(await revokeCommand(file, "x"), { removed: 0 });
    assert.deepEqual(fs.readdirSync(home), []);
  }));
