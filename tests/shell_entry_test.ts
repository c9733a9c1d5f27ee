import assert from "node:assert/strict";
import test from "node:test";
import { readYaml } from "../lib/config/yaml.ts";
import { hintFor } from "../lib/events/names.ts";
import { problemText } from "../lib/events/problem.ts";
import { type Entries, readEntries } from "../lib/sources/shell/entry.ts";

function read(yaml: string): Entries {
  return readEntries(readYaml(yaml, "config.yaml").root, "config.yaml", hintFor);
}

/** One entry of `pre_tool_call` with these lines beside a command. */
function gate(...lines: string[]): Entries {
  const rest = lines.map((line) => `      ${line}\n`).join("");
  return read(`hooks:\n  pre_tool_call:\n    - command: x\n${rest}`);
}

const texts = ({ problems }: Entries) => problems.map(problemText);

test("timeouts are read as Python's int() reads them, and clamped with a warning", () => {
  const table: [string, number, number][] = [
    ["10", 10, 0],
    ['"10"', 10, 0],
    ['" 7 "', 7, 0],
    ['"1_0"', 10, 0],
    ["5.9", 5, 0],
    ["1:30", 90, 0],
    ["0x10", 16, 0],
    ["true", 1, 0],
    ["300", 300, 0],
    ["301", 300, 1],
    ["0", 60, 1],
    ["-3", 60, 1],
    ["0.5", 60, 1],
    ["soon", 60, 1],
    ['"5.9"', 60, 1],
    ["1e3", 60, 1],
    [".inf", 60, 1],
    [".nan", 60, 1],
    ["[5]", 60, 1],
    ["99999999999999999999", 300, 1],
  ];
  for (const [text, seconds, warnings] of table) {
    const found = gate(`timeout: ${text}`);
    assert.equal(found.entries[0]?.timeout, seconds, text);
    assert.equal(found.problems.length, warnings, text);
    if (warnings) {
      assert.match(texts(found)[0]!, /^hooks\.pre_tool_call\[0\]\.timeout \(config\.yaml:4\): /);
    }
  }
});

test("fail_closed is a boolean, the four words count with a warning, all else is no with a warning", () => {
  const table: [string, boolean, number][] = [
    ["fail_closed: true", true, 0],
    ["fail_closed: yes", true, 0],
    ["failClosed: on", true, 0],
    ["fail_closed: no", false, 0],
    ['fail_closed: "true"', true, 1],
    ['fail_closed: " YES "', true, 1],
    ['fail_closed: "1"', true, 1],
    ["fail_closed: 1", false, 1],
    ["fail_closed: maybe", false, 1],
    ["fail_closed: [true]", false, 1],
    ["fail_closed: null", false, 0],
  ];
  for (const [line, closed, warnings] of table) {
    const found = gate(line);
    assert.equal(found.entries[0]?.failClosed, closed, line);
    assert.equal(found.problems.length, warnings, line);
  }
});

test("the snake_case spelling wins, unless it is null", () => {
  assert.equal(gate("fail_closed: false", "failClosed: true").entries[0]?.failClosed, false);
  assert.equal(gate("failClosed: false", "fail_closed: true").entries[0]?.failClosed, true);
  assert.equal(gate("fail_closed:", "failClosed: true").entries[0]?.failClosed, true);
});

test("fail_closed on an event that cannot block is ignored, and said", () => {
  const found = read("hooks:\n  post_tool_call:\n    - command: x\n      fail_closed: true\n");
  assert.equal(found.entries[0]?.failClosed, false);
  assert.match(texts(found)[0]!, /post_tool_call cannot block/);
});

test("what is no list of mappings is skipped, each with its place, and good siblings stay", () => {
  const found = read(
    "hooks:\n  on_session_end: /bin/true\n  on_session_start:\n    command: /bin/true\n" +
      "  pre_tool_call:\n    - /bin/x\n    - [a]\n    - 7\n    - null\n    - {}\n    - command: [a]\n" +
      "    - command: x\n      args: [y]\n    - command: good\n  post_tool_call:\n",
  );
  assert.deepEqual(found.entries.map(({ command, path }) => [command, path]), [
    ["good", "hooks.pre_tool_call[7]"],
  ]);
  assert.equal(found.problems.length, 9);
  const all = texts(found).join("\n");
  for (const at of ["on_session_end (config.yaml:2)", "on_session_start (config.yaml:3)"]) {
    assert.ok(all.includes(at), at);
  }
  for (const at of ["[0]", "[1]", "[2]", "[3]", "[4]", "[5].command", "[6].args"]) {
    assert.ok(all.includes(`hooks.pre_tool_call${at} (config.yaml:`), at);
  }
});

test("a skipped entry that asked for a closed gate is called UNARMED", () => {
  const found = read("hooks:\n  pre_tool_call:\n    - fail_closed: true\n      cmd: x\n");
  assert.match(texts(found).join("\n"), /UNARMED/);
});

test("hooks that is no mapping is one problem and no hooks", () => {
  for (const text of ["hooks: []\n", "hooks: x\n", "hooks: 7\n"]) {
    const found = read(text);
    assert.equal(found.entries.length, 0, text);
    assert.equal(found.problems.length, 1, text);
  }
  assert.deepEqual(read("hooks:\n"), { entries: [], problems: [] });
  assert.deepEqual(read("other: 1\n"), { entries: [], problems: [] });
});

test("an unknown event is skipped with what was probably meant", () => {
  const table: [string, RegExp][] = [
    ["pre_tool_cal", /did you mean "pre_tool_call"/],
    ["PreToolUse", /pre_tool_call/],
    ["UserPromptSubmit", /pre_llm_call/],
    ["agent:end", /HOOK\.yaml/],
    ["transform_api_error_classification", /plugins only/],
    ["yes", /unknown event "(true|yes)"/],
  ];
  for (const [name, hint] of table) {
    const found = read(`hooks:\n  ${name}:\n    - command: x\n`);
    assert.equal(found.entries.length, 0, name);
    assert.equal(found.problems.length, 1, name);
    assert.match(texts(found)[0]!, hint, name);
  }
});

test("outbound and output_spill are no events and no problems", () => {
  assert.deepEqual(read("hooks:\n  outbound: []\n  output_spill: {}\n").problems, []);
});

test("a matcher that is no string is ignored, and blank is none", () => {
  for (
    const [line, warnings] of [["matcher: 5", 1], ["matcher: [a]", 1], ['matcher: "  "', 0], [
      "matcher:",
      0,
    ]] as const
  ) {
    const found = gate(line);
    assert.equal(found.entries[0]?.matcher, undefined, line);
    assert.equal(found.problems.length, warnings, line);
  }
  assert.equal(gate('matcher: "  terminal "').entries[0]?.matcher, "terminal");
});

test("a matcher where no tool is called is ignored, and said", () => {
  const found = read("hooks:\n  on_session_end:\n    - command: x\n      matcher: y\n");
  assert.equal(found.entries[0]?.matcher, undefined);
  assert.match(texts(found)[0]!, /^hooks\.on_session_end\[0\]\.matcher \(config\.yaml:4\)/);
});

test("unknown keys are ignored with a list of the known ones", () => {
  const found = gate("blocking: true");
  assert.equal(found.entries.length, 1);
  assert.match(texts(found)[0]!, /blocking.*matcher, command, timeout, fail_closed/);
});

test("an exact copy is registered once, as a closed gate if any copy is one", () => {
  const found = read(
    "hooks:\n  pre_tool_call:\n    - {command: x, matcher: a}\n    - {command: x, matcher: b}\n" +
      "    - {command: ' x ', matcher: a, fail_closed: true, timeout: 5}\n",
  );
  assert.deepEqual(
    found.entries.map(({ matcher, failClosed, timeout }) => [matcher, failClosed, timeout]),
    [
      ["a", true, 60],
      ["b", false, 60],
    ],
  );
  assert.match(texts(found)[0]!, /^hooks\.pre_tool_call\[2\]/);
});
