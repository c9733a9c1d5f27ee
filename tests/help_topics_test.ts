import assert from "node:assert/strict";
import test from "node:test";
import { COMMANDS, readArgs } from "../lib/cli/args.ts";
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

test("every topic is named in the overview, and can be asked for", async () => {
  for (const [name, page] of Object.entries(TOPICS)) {
    assert.ok(OVERVIEW.includes(name), name);
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
