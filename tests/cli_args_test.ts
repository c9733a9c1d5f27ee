import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { COMMANDS, readArgs, UsageError } from "../lib/cli/args.ts";
import { OVERVIEW, PAGES } from "../lib/cli/help.ts";
import { VERSION } from "../lib/version.ts";

const root = new URL("../", import.meta.url);

test("options count before and after the command, and a leading hooks is dropped", () => {
  for (
    const line of ["--accept-hooks fire x", "fire --accept-hooks x", "hooks fire x --accept-hooks"]
  ) {
    const { command, words, options } = readArgs(line.split(" "));
    assert.deepEqual([command, words, options["accept-hooks"]], ["fire", ["x"], true], line);
  }
});

test("a value may look like an option after =, and words after -- are words", () => {
  assert.equal(readArgs(["--home=--x", "list"]).options.home, "--x");
  assert.deepEqual(readArgs(["revoke", "--", "--strange"]).words, ["--strange"]);
});

test("what does not exist is a usage error that names the nearest thing", () => {
  const table: [string[], RegExp][] = [
    [["frie"], /unknown command "frie": did you mean "fire"/],
    [["list", "--jsno"], /unknown option "--jsno": did you mean "--json"/],
    [["list", "--for-tool", "x"], /list takes no --for-tool/],
    [["--home"], /home/],
    [["list", "--json=1"], /json/],
    [["constructor"], /unknown command/],
    [["\u001b[31m"], /unknown command "\\x1b\[31m"/],
  ];
  for (const [argv, message] of table) {
    assert.throws(
      () => readArgs(argv),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  }
});

test("every command has a help page with an example, and stands in the overview", () => {
  for (const command of Object.keys(COMMANDS)) {
    if (command === "sender" || command === "host") continue; // started by ourselves, not by people
    assert.ok(Object.hasOwn(PAGES, command), command);
    if (command === "help") continue;
    assert.match(PAGES[command]!, /example/, command);
    assert.ok(OVERVIEW.includes(`\n  ${command} `), command);
  }
});

test("the program's version is the manifest's", () => {
  const manifest = JSON.parse(readFileSync(new URL("deno.json", root), "utf8"));
  assert.equal(VERSION, manifest.version);
});
