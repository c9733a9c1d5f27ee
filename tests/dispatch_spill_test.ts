import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { safeName, spill, type SpillPlace } from "../lib/dispatch/spill.ts";

function inHome(use: (home: string, place: SpillPlace) => void): void {
  const home = mkdtempSync(path.join(os.tmpdir(), "spill-test-"));
  const settings = { enabled: true, maxChars: 100, previewHead: 10, previewTail: 10 };
  try {
    use(home, { settings, home, session: "s1", expandTilde: (word) => word });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

test("a context within the limit is left alone, counted in code points", () => {
  inHome((home, place) => {
    const text = "😀".repeat(100);
    assert.equal(spill(text, place), text);
    assert.deepEqual(readdirSync(home), []);
  });
});

test("a longer one is written whole, for us alone, and cut visibly", () => {
  inHome((home, place) => {
    const text = "😀".repeat(60) + "é".repeat(60);
    const shown = spill(text, place);
    const folder = path.join(home, "hook_outputs", "s1");
    const [file, ...more] = readdirSync(folder).map((name) => path.join(folder, name));
    assert.deepEqual(more, []);
    assert.equal(readFileSync(file!, "utf8"), text);
    assert.equal(statSync(file!).mode & 0o777, 0o600);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(statSync(path.join(home, "hook_outputs")).mode & 0o777, 0o700);
    assert.ok(shown.startsWith("😀".repeat(10) + "\n"));
    assert.ok(shown.endsWith("\n" + "é".repeat(10)));
    assert.ok(shown.includes("120 characters") && shown.includes(file!));
  });
});

test("head and tail never show the same characters twice", () => {
  inHome((_home, place) => {
    const settings = { ...place.settings, previewHead: 90, previewTail: 90 };
    const text = "a".repeat(90) + "§".repeat(15);
    const shown = spill(text, { ...place, settings });
    assert.equal(shown.split("§").length - 1, 15);
    assert.ok(shown.endsWith("\n" + "§".repeat(15)));
  });
});

test("a session's name cannot lead out of the folder", () => {
  for (
    const name of ["../../x", "/etc", "..", ".", "", "a\0b", "x".repeat(5000), "~root", "con/../x"]
  ) {
    const safe = safeName(name);
    assert.match(safe, /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/, name);
  }
  assert.equal(safeName("sess_abc-1.2"), "sess_abc-1.2");
});

test("a spill that cannot be written says so in the line, and is cut all the same", () => {
  inHome((home, place) => {
    writeFileSync(path.join(home, "hook_outputs"), "a file is in the way");
    const shown = spill("x".repeat(500), place);
    assert.match(shown, /could not be written/);
    assert.ok(shown.length < 400);
  });
});

test("a link in place of the session's folder is not followed", () => {
  inHome((home, place) => {
    const elsewhere = path.join(home, "elsewhere");
    mkdirSync(elsewhere);
    mkdirSync(path.join(home, "hook_outputs"));
    symlinkSync(elsewhere, path.join(home, "hook_outputs", "s1"));
    assert.match(spill("x".repeat(500), place), /could not be written/);
    assert.deepEqual(readdirSync(elsewhere), []);
  });
});

test("switched off, a context passes whole", () => {
  inHome((_home, place) => {
    const text = "x".repeat(500);
    assert.equal(spill(text, { ...place, settings: { ...place.settings, enabled: false } }), text);
  });
});
