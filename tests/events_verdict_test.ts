import test from "node:test";
import assert from "node:assert/strict";
import { exitCodeOf, joinContexts, nudgeLimit, reduce } from "../lib/events/verdict.ts";
import { parseJson, writeJson } from "../lib/events/json.ts";
import type { JsonObject } from "../lib/events/json.ts";
import type { Outcome } from "../lib/events/outcome.ts";

let count = 0;

/** A hook that gave this directive, or had no opinion. */
function hook(directive?: string, more: Partial<Outcome> = {}): Outcome {
  return {
    source: "shell",
    name: `h${++count}`,
    outcome: directive ? "directive" : "none",
    durationMs: 1,
    warnings: [],
    ...(directive && { directive: parseJson(directive) as JsonObject }),
    ...more,
  };
}

/** The verdict's own keys: without event, hooks and warnings. */
function decided(event: string, directives: (string | undefined)[], fields = "{}"): string {
  const verdict = reduce(event, parseJson(fields) as JsonObject, directives.map((d) => hook(d)));
  for (const key of ["event", "hooks", "warnings"]) {
    assert.ok(verdict.delete(key), `${key} is always there`);
  }
  return writeJson(verdict);
}

const BLOCK = '{"action": "block", "message": "no"}';
const BLOCK2 = '{"action": "block", "message": "nope"}';
const APPROVE = '{"action": "approve", "message": "sure?", "rule_key": "k"}';
const APPROVE2 = '{"action": "approve", "args": {"b": 9}}';
const MODIFY = '{"action": "modify", "args": {"a": 1, "b": 1}}';
const MODIFY2 = '{"action": "modify", "args": {"b": 2, "c": {"d": 3}}}';

test("no contexts are none, and several stand a blank line apart", () => {
  assert.equal(joinContexts([]), undefined);
  assert.equal(joinContexts(["a", "b"]), "a\n\nb");
});

test("pre_tool_call: block beats approve in any order, the first of equals wins, rewrites add up", () => {
  const args = '{"args": {"command": "ls", "c": {"x": 1}}}';
  const cases: [(string | undefined)[], string][] = [
    [[], '{"decision": "allow"}'],
    [[undefined], '{"decision": "allow"}'],
    [[APPROVE, BLOCK], '{"decision": "block", "message": "no"}'],
    [[BLOCK, APPROVE], '{"decision": "block", "message": "no"}'],
    [[BLOCK, BLOCK2], '{"decision": "block", "message": "no"}'],
    [[MODIFY, BLOCK, MODIFY2], '{"decision": "block", "message": "no"}'],
    [
      [APPROVE, APPROVE2],
      '{"decision": "approve", "message": "sure?", "rule_key": "k", ' +
      '"args": {"command": "ls", "c": {"x": 1}, "b": 9}}',
    ],
    [['{"action": "approve"}', APPROVE], '{"decision": "approve"}'],
    [
      [MODIFY, MODIFY2],
      '{"decision": "allow", "args": {"command": "ls", "c": {"d": 3}, "a": 1, "b": 2}}',
    ],
    [
      [MODIFY2, undefined, MODIFY],
      '{"decision": "allow", "args": {"command": "ls", "c": {"d": 3}, "b": 1, "a": 1}}',
    ],
  ];
  for (const [directives, expected] of cases) {
    assert.equal(decided("pre_tool_call", directives, args), expected);
  }
});

test("a rewrite of args that are no object stands alone, and the original is not touched", () => {
  assert.equal(
    decided("pre_tool_call", [MODIFY], '{"args": "ls"}'),
    '{"decision": "allow", "args": {"a": 1, "b": 1}}',
  );
  const fields = parseJson('{"args": {"a": 0}}') as JsonObject;
  reduce("pre_tool_call", fields, [hook(MODIFY)]);
  assert.equal(writeJson(fields), '{"args": {"a": 0}}');
});

test("every other event decides by its own rule", () => {
  const cases: [string, (string | undefined)[], string][] = [
    [
      "pre_llm_call",
      ['{"context": "one"}', undefined, '{"context": "two"}'],
      '{"context": "one\\n\\ntwo"}',
    ],
    ["pre_llm_call", [], "{}"],
    ["pre_verify", [], '{"decision": "finish"}'],
    [
      "pre_verify",
      [
        undefined,
        '{"action": "continue", "message": "a"}',
        '{"action": "continue", "message": "b"}',
      ],
      '{"decision": "continue", "message": "a"}',
    ],
    ["pre_gateway_dispatch", [], '{"decision": "allow"}'],
    [
      "pre_gateway_dispatch",
      ['{"action": "skip", "reason": "r"}', '{"action": "rewrite", "text": "t"}'],
      '{"decision": "skip", "reason": "r"}',
    ],
    [
      "pre_gateway_dispatch",
      ['{"action": "rewrite", "text": "t"}'],
      '{"decision": "rewrite", "text": "t"}',
    ],
    [
      "pre_gateway_dispatch",
      ['{"action": "allow"}', '{"action": "skip"}'],
      '{"decision": "allow"}',
    ],
    ["post_gateway_admission", [], '{"decision": "continue"}'],
    [
      "post_gateway_admission",
      ['{"action": "handled", "reply": "r"}'],
      '{"decision": "handled", "reply": "r"}',
    ],
    ["transform_tool_result", ['{"result": ""}', '{"result": "x"}'], '{"result": ""}'],
    ["transform_terminal_output", [undefined, '{"output": "o"}'], '{"output": "o"}'],
    ["transform_llm_output", ['{"response_text": "t"}'], '{"response_text": "t"}'],
    [
      "pre_transcription",
      ['{"prompt": "A", "model": "m"}', '{"prompt": "", "language": "de"}'],
      '{"prompt": "", "language": "de", "model": "m"}',
    ],
    [
      "command:reset",
      [
        undefined,
        '{"decision": "rewrite", "command_name": "new", "raw_args": "x"}',
        '{"decision": "deny"}',
      ],
      '{"decision": "rewrite", "command_name": "new", "raw_args": "x"}',
    ],
    ["command:reset", [], '{"decision": "allow"}'],
    [
      "command:reset",
      ['{"decision": "deny", "message": "m"}'],
      '{"decision": "deny", "message": "m"}',
    ],
    ["post_tool_call", [BLOCK], "{}"],
    ["on_stream_delta", [], "{}"],
    ["agent:end", [], "{}"],
  ];
  for (const [event, directives, expected] of cases) {
    assert.equal(decided(event, directives), expected, event);
  }
});

test("the first valid classification wins and every loser is a warning", () => {
  const outcomes = ["a", "b", "c"].map((name) =>
    hook(`{"classification": {"reason": "${name}"}}`, { name, source: "plugin" })
  );
  const verdict = reduce("transform_api_error_classification", new Map(), outcomes);
  assert.equal(writeJson(verdict.get("classification")!), '{"reason": "a"}');
  assert.deepEqual(verdict.get("warnings"), [
    'hook b: classification "b" not used: "a" from hook a came first',
    'hook c: classification "c" not used: "a" from hook a came first',
  ]);
});

test("the verdict has event first, then the decision, hooks and warnings, and no null", () => {
  const outcomes = [
    hook(BLOCK, { name: "a.sh", durationMs: 12.6, warnings: ["second"] }),
    hook(undefined, { name: "b", source: "plugin", outcome: "failed", error: "boom" }),
  ];
  assert.equal(
    writeJson(reduce("pre_tool_call", new Map(), outcomes, { warnings: ["first"] })),
    '{"event": "pre_tool_call", "decision": "block", "message": "no", "hooks": [' +
      '{"source": "shell", "name": "a.sh", "outcome": "directive", "duration_ms": 13, ' +
      '"directive": {"action": "block", "message": "no"}}, ' +
      '{"source": "plugin", "name": "b", "outcome": "failed", "duration_ms": 1, "error": "boom"}], ' +
      '"warnings": ["first", "second"]}',
  );
});

test("a block that a closed gate's failure became counts like any other", () => {
  const failed = hook(BLOCK, { outcome: "failed", error: "timed out after 1s" });
  assert.equal(reduce("pre_tool_call", new Map(), [failed]).get("decision"), "block");
});

test("pre_verify stops asking at the limit of nudges", () => {
  const cases: [string, number, boolean][] = [
    ['{"attempt": 2}', 3, false],
    ['{"attempt": 3}', 3, true],
    ['{"attempt": 10}', 3, true],
    ["{}", 3, false],
    ["{}", 0, true],
    ['{"attempt": "9"}', 3, false],
    ['{"attempt": NaN}', 3, false],
  ];
  for (const [fields, max, stops] of cases) {
    const warning = nudgeLimit(parseJson(fields) as JsonObject, max);
    assert.equal(warning !== undefined, stops, fields);
    if (warning) assert.match(warning, /attempt.*max_verify_nudges/);
  }
});

test("only an allowed pre_tool_call exits 0, and events that decide nothing do", () => {
  const of = (event: string, directive?: string) => reduce(event, new Map(), [hook(directive)]);
  assert.equal(exitCodeOf(of("pre_tool_call")), 0);
  assert.equal(exitCodeOf(of("pre_tool_call", MODIFY)), 0);
  assert.equal(exitCodeOf(of("pre_tool_call", BLOCK)), 2);
  assert.equal(exitCodeOf(of("pre_tool_call", APPROVE)), 3);
  assert.equal(exitCodeOf(of("pre_tool_call", APPROVE), { onApproval: "block" }), 2);
  assert.equal(exitCodeOf(of("pre_tool_call", BLOCK), { onApproval: "ask" }), 2);
  assert.equal(exitCodeOf(of("pre_gateway_dispatch", '{"action": "skip"}')), 0);
  assert.equal(exitCodeOf(of("post_tool_call")), 0);
});
