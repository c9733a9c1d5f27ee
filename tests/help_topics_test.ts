import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { COMMANDS, OPTIONS, readArgs } from "../lib/cli/args.ts";
import { OVERVIEW, PAGES } from "../lib/cli/help.ts";
import { main } from "../lib/cli/main.ts";
import { TOPICS } from "../lib/cli/topics.ts";
import { processIo } from "../lib/cli/io.ts";

async function help(...words: string[]) {
  let out = "", err = "";
  const io = {
    ...processIo(),
    out: (text: string) => (out += text, true),
    err: (text: string) => (err += text, true),
  };
  return { exit: await main(words, io), out, err };
}

test("the overview names every topic and no other, and each can be asked for", async () => {
  const [, named = ""] = /^ {2}help \[TOPIC\].*?\bor (.*?)\n\n/ms.exec(OVERVIEW) ?? [];
  assert.deepEqual(named.split(/,\s+/), Object.keys(TOPICS));
  for (const [name, page] of Object.entries(TOPICS)) {
    assert.ok((await help("help", name)).out.startsWith(page), name);
    for (const line of page.split("\n")) assert.ok(line.length <= 100, `${name}: ${line}`);
  }
});

test("every command line in a topic is one that we take", () => {
  for (const [name, page] of Object.entries(TOPICS)) {
    const lines = [...page.matchAll(/(?:^| )hermes-hooks ((?:[a-z-]|--).*?)(?:$| <| &&| lists)/gm)];
    assert.ok(lines.length > 0, name);
    for (const [, words = ""] of lines) {
      const { command } = readArgs(words.trim().split(/\s+/));
      assert.ok(command in COMMANDS, words);
    }
  }
});

test("every option in a topic is one there is, and each ends with an example", () => {
  for (const [name, page] of Object.entries(TOPICS)) {
    for (const [, option = ""] of page.matchAll(/(?<![\w-])--([a-z-]+)/g)) {
      assert.ok(Object.hasOwn(OPTIONS, option), `${name}: --${option}`);
    }
    assert.match(page, /hermes-hooks [a-z].*\n$/, name);
  }
});

test("the config in its topic is one without errors", async () => {
  const [, yaml = ""] = /\n\n(hooks:\n.*?)\n\n\$/s.exec(TOPICS["config"]!) ?? [];
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "topics-"));
  fs.writeFileSync(path.join(folder, "config.yaml"), yaml);
  const { exit, out, err } = await help("config", "check", path.join(folder, "config.yaml"));
  fs.rmSync(folder, { recursive: true });
  assert.equal(exit, 0, out + err);
  assert.match(out, /\b0 errors, 0 warnings|no problem/i);
});

test("the answers in their topic are JSON", () => {
  const lines = TOPICS["answers"]!.match(/\{"(action|context)": "[^|\n]*\}/g) ?? [];
  assert.ok(lines.length >= 5);
  for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
});

test("config is a topic and a command: help shows both, --help the command alone", async () => {
  const both = (await help("help", "config")).out;
  assert.ok(both.startsWith(TOPICS["config"]!) && both.includes(PAGES["config"]!));
  assert.equal((await help("config", "--help")).out, PAGES["config"]);
});

test("what there is no help on is a usage error with the nearest", async () => {
  const { exit, err } = await help("help", "exit-code");
  assert.equal(exit, 64);
  assert.match(err, /did you mean "exit-codes"/);
});
