/** The completion scripts, driven in real shells where there are such. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { COMMANDS, OPTIONS } from "../lib/cli/args.ts";
import { bashScript, completionTable, fishScript, zshScript } from "../lib/cli/completions.ts";

const table = completionTable();
const has = (shell: string) => spawnSync(shell, ["-c", ":"]).status === 0;

/** What bash offers for a line, the last word being completed. */
function bash(...words: string[]): string[] {
  const line = `${bashScript(table)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_hermes_hooks; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.split("\n").filter(Boolean);
}

test("every command and option for people is in the table, with words on each command", () => {
  const hidden = ["sender", "host"];
  for (const command of Object.keys(COMMANDS)) {
    assert.equal(command in table.commands, !hidden.includes(command), command);
  }
  for (const [name, { about }] of Object.entries(table.commands)) {
    assert.ok(about.length > 10, name);
  }
  for (const [name, { type }] of Object.entries(OPTIONS)) {
    assert.equal(name in table.values, type === "string", name);
  }
});

test("no word is one that a shell would take for more than a word", () => {
  const lists = [
    ...Object.values(table.commands).map(({ words }) => words),
    ...Object.values(table.values),
  ];
  for (const word of lists.flatMap((list) => Array.isArray(list) ? list : [])) {
    assert.match(word, /^[\w:.-]+$/);
  }
});

test("bash completes commands, options, events and values", () => {
  const cases: [string[], string[]][] = [
    [["hermes-hooks", "ve"], ["verify"]],
    [["hermes-hooks", "hooks", "ve"], ["verify"]],
    [["hermes-hooks", "fire", "pre_tool"], ["pre_tool_call"]],
    [["hermes-hooks", "--home", "/x", "fire", "pre_v"], ["pre_verify"]],
    [["hermes-hooks", "fire", "--on"], ["--on-approval"]],
    [["hermes-hooks", "fire", "--on-approval", "b"], ["block"]],
    [["hermes-hooks", "config", ""], ["check"]],
    [["hermes-hooks", "completions", "f"], ["fish"]],
    [["hermes-hooks", "init", "--with", "block"], ["block-rm-rf"]],
    [["hermes-hooks", "exec", "--event", "on_session_e"], ["on_session_end"]],
    [["hermes-hooks", "help", "exit"], ["exit-codes"]],
    [["hermes-hooks", "deliveries", "fl"], ["flush"]],
    [["hermes-hooks", "sen"], []],
    [["hermes-hooks", "fire", "pre_tool_call", "pre"], []],
  ];
  for (const [words, offered] of cases) assert.deepEqual(bash(...words), offered, words.join(" "));
  assert.ok(bash("hermes-hooks", "exec", "--", "l").includes("ls"));
  assert.ok(bash("hermes-hooks", "--config", "/etc/pass").includes("/etc/passwd"));
});

test("zsh can read its script", { skip: !has("zsh") && "no zsh here" }, () => {
  const { status, stderr } = spawnSync("zsh", ["-n"], {
    input: zshScript(table),
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
});

test("fish completes with its script", { skip: !has("fish") && "no fish here" }, () => {
  const line = `${fishScript(table)}\ncomplete -C'hermes-hooks ver'`;
  const { stdout, stderr } = spawnSync("fish", ["-c", line], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.match(stdout, /^verify\t/m);
});
