/** The completion scripts, driven in real shells where there are such; bash is everywhere. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { COMMANDS, EVERYWHERE, OPTIONS } from "../lib/cli/args.ts";
import { bashScript } from "../lib/cli/completions/bash.ts";
import { fishScript } from "../lib/cli/completions/fish.ts";
import { completionTable, withValues } from "../lib/cli/completions/table.ts";
import { zshScript } from "../lib/cli/completions/zsh.ts";

const table = completionTable();
const has = (shell: string) => spawnSync(shell, ["-c", ":"]).status === 0;
const noZsh = !has("zsh") && "no zsh here";
const noFish = !has("fish") && "no fish here";
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Lines of which the last word is completed, and all that every shell must then offer. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ["ve", ["verify"]],
  ["hooks ve", ["verify"]],
  ["--home list ve", ["verify"]],
  ["--home=list ve", ["verify"]],
  ["sen", []],
  ["hos", []],
  ["fire pre_tool", ["pre_tool_call"]],
  ["fire pre_tool_call pre_", []],
  ["--home /x fire pre_v", ["pre_verify"]],
  ["fire --on", ["--on-approval"]],
  ["list --on", []],
  ["fire --on-approval b", ["block"]],
  ["fire --on-approval=b", ["block"]],
  ["serve --listen --log-f", ["--log-format"]],
  ["serve --listen 1 --log-level w", ["warning"]],
  ["config ", ["check"]],
  ["completions f", ["fish"]],
  ["init --with block", ["block-rm-rf"]],
  ["exec --event on_session_e", ["on_session_end"]],
  ["exec --event pre_tool", []],
  ["help exit", ["exit-codes"]],
  ["help sen", []],
  ["deliveries fl", ["flush"]],
  ["deliveries --state de", ["dead"]],
  ["events agent:e", ["agent:end"]],
  ["gateway emit agent:s", ["agent:start", "agent:step"]],
  ["gateway emit agent:end agent:s", []],
  ["schema payload pre_tool", ["pre_tool_call"]],
  ["schema config pre_tool", []],
];

/** What a script that prints a line for each offer and `--` after each case offered, sorted. */
function offers(shell: string, script: string): string[][] {
  const { stdout, stderr } = spawnSync(shell, ["-c", script], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.split(/^==\n/m).slice(0, -1).map((each) => each.split("\n").filter(Boolean).sort());
}

/** As readline hands words over: cut at every `:` and `=`. */
function bashCase(line: string): string {
  const words = `hermes-hooks ${line}`.split(" ").flatMap((word) =>
    word === "" ? [""] : word.split(/([:=]+)/).filter(Boolean)
  );
  return `COMP_WORDS=(${words.map(quoted).join(" ")}); COMP_CWORD=${words.length - 1}
_hermes_hooks; printf '%s\\n' "\${COMPREPLY[@]}" ==`;
}

const bash = (...lines: readonly string[]) =>
  offers("bash", [bashScript(table), ...lines.map(bashCase)].join("\n"));

const fish = (...lines: readonly string[]) =>
  offers(
    "fish",
    fishScript(table) +
      lines.map((line) => `complete -C${quoted(`hermes-hooks ${line}`)}; echo; echo ==`).join("\n"),
  ).map((each) => each.map((offer) => offer.split("\t")[0]!));

/** What zsh's own functions would be asked for; of lists what fits the word is kept, as zsh does. */
function zsh(...lines: readonly string[]): string[][] {
  const stubs = `compdef() { :; }
compset() { PREFIX=\${PREFIX#*=}; }
compadd() { shift; local each; for each; do [[ $each == $PREFIX* ]] && print -r -- $each; done; }
_describe() { local all=\${@[-1]}; compadd -- \${\${(P)all}%%:*}; }
_files() { print -r -- "<files$*>"; }
_command_names() { print -r -- "<commands>"; }
_normal() { print -r -- "<$words $CURRENT>"; }`;
  const cases = lines.map((line) => {
    const words = `hermes-hooks ${line}`.split(" ");
    return `words=(${words.map(quoted).join(" ")}); CURRENT=${words.length}; PREFIX=\${words[-1]}
_hermes_hooks; print; print -r -- '=='`;
  });
  return offers("zsh", [stubs, zshScript(table), ...cases].join("\n"));
}

test("every command and option for people is in the table, each with what help says of it", () => {
  const hidden = ["sender", "host"];
  for (const [command, own] of Object.entries(COMMANDS)) {
    const completion = table.commands.get(command);
    assert.equal(completion === undefined, hidden.includes(command), command);
    if (!completion) continue;
    assert.ok(completion.about.length > 10, command);
    assert.deepEqual(completion.options.map(({ name }) => name), own);
    for (const { name, about } of completion.options) assert.ok(about, `${command} --${name}`);
  }
  assert.deepEqual(table.everywhere.map(({ name }) => name), EVERYWHERE);
  for (const { name, about } of table.everywhere) assert.ok(about, `--${name}`);
  const taken = Object.entries(OPTIONS).filter(([, { type }]) => type === "string");
  assert.deepEqual(withValues(table).sort(), taken.map(([name]) => name).sort());
});

test("no word is one that a shell would take for more than a word", () => {
  const lists = [...table.commands.values()].flatMap(({ words, then = {}, options }) => [
    words,
    ...Object.values(then),
    ...options.map(({ value }) => value),
  ]);
  const words = lists.flatMap((list) => Array.isArray(list) ? list : []);
  assert.ok(words.length > 100);
  for (const word of words) assert.match(word, /^[\w:.-]+$/);
});

test("bash completes commands, options, words and values", () => {
  const found = bash(...CASES.map(([line]) => line));
  assert.equal(found.length, CASES.length);
  for (const [at, [line, offered]] of CASES.entries()) {
    // Of agent:end readline keeps "agent:" and takes "end".
    const cut = offered.map((word) => line.includes(":") ? word.replace(/^.*:/, "") : word);
    assert.deepEqual(found[at], cut, line);
  }
});

test("zsh completes the same", { skip: noZsh }, () => {
  const found = zsh(...CASES.map(([line]) => line));
  assert.equal(found.length, CASES.length);
  for (const [at, [line, offered]] of CASES.entries()) assert.deepEqual(found[at], offered, line);
});

test("fish completes the same", { skip: noFish }, () => {
  const found = fish(...CASES.map(([line]) => line));
  assert.equal(found.length, CASES.length);
  for (const [at, [line, offered]] of CASES.entries()) {
    const typed = line.split(/[ =]/).at(-1)!;
    const bare = found[at]!.map((word) => word.replace(/^--[a-z-]+=/, ""))
      // Where nothing begins with it, fish offers what contains it.
      .filter((word) => word.startsWith(typed));
    assert.deepEqual(bare, offered, line);
  }
});

test("files, folders and commands are the shell's own, also behind exec --", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "completions-"));
  fs.writeFileSync(path.join(folder, "a [*] file"), "");
  fs.mkdirSync(path.join(folder, "a folder"));
  const [file, home, value, check, command, argument] = [
    `--config ${folder}/`,
    `--home ${folder}/`,
    `--config=${folder}/`,
    `config check ${folder}/`,
    "exec --tool t -- whic",
    `exec -- cat --event ${folder}/`,
  ];
  const both = [path.join(folder, "a [*] file"), path.join(folder, "a folder")];
  const lines = [file, home, value, check, command, argument];
  const inBash = bash(...lines);
  assert.deepEqual(inBash.slice(0, 4), [both, both.slice(1), both, both]);
  assert.ok(inBash[4]!.includes("which"));
  assert.deepEqual(inBash[5], both);
  if (!noZsh) {
    assert.deepEqual(zsh(...lines), [
      ["<files>"],
      ["<files-/>"],
      ["<files>"],
      ["<files>"],
      ["<commands>"],
      [`<cat --event ${folder}/ 3>`],
    ]);
  }
  if (!noFish) {
    const inFish = fish(...lines);
    assert.deepEqual(inFish[1], [path.join(folder, "a folder/")]);
    for (const at of [0, 2, 3, 5]) assert.ok(inFish[at]!.length === 2, lines[at]);
    assert.ok(inFish[4]!.includes("which"));
  }
  fs.rmSync(folder, { recursive: true });
});

test("zsh and fish say what each command and option is", { skip: noZsh || noFish }, () => {
  const line = `${fishScript(table)}
complete -C'hermes-hooks ver'; complete -C'hermes-hooks fire --no-s'`;
  const { stdout } = spawnSync("fish", ["-c", line], { encoding: "utf8" });
  assert.match(stdout, /^verify\tcheck the signature/m);
  assert.match(stdout, /^--no-server\task nothing of the listener/m);
  assert.match(zshScript(table), /'--no-server:ask nothing of the listener/);
  assert.match(zshScript(table), /'verify:check the signature/);
});
