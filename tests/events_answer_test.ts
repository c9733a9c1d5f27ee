import test from "node:test";
import assert from "node:assert/strict";
import { failureOutcome, readAnswer, readReturn } from "../lib/events/answer.ts";
import type { Answer, Ran } from "../lib/events/answer.ts";
import { parseJson, writeJson } from "../lib/events/json.ts";

function ran(event: string, stdout: string, more: Partial<Ran> = {}): Answer {
  return readAnswer({
    event,
    command: "g.sh",
    exitCode: 0,
    signal: null,
    stdout,
    stderr: "",
    stdoutOver: false,
    failClosed: false,
    ...more,
  });
}

const gate = (stdout: string, more: Partial<Ran> = {}) => ran("pre_tool_call", stdout, more);
const closed = (stdout: string, more: Partial<Ran> = {}) =>
  gate(stdout, { failClosed: true, ...more });
const said = (answer: Answer) => answer.directive ? writeJson(answer.directive) : "none";
const message = (answer: Answer) => answer.directive?.get("message");

function block(text: string): string {
  return writeJson(new Map([["action", "block"], ["message", text]]));
}

const DEFAULT = block("Blocked by shell hook.");

test("every dialect's block is a block, with its own reason first", () => {
  const cases: [string, string][] = [
    ['{"action":"block","message":"m","reason":"r"}', block("m")],
    ['{"action":"block","reason":"r"}', block("r")],
    ['{"action":"deny","message":"m"}', block("m")],
    ['{"action":" BLOCK ","message":" m "}', block(" m ")],
    ['{"decision":"block","reason":"r","message":"m"}', block("r")],
    ['{"decision":"deny","message":"m"}', block("m")],
    ['{"decision":"block","reason":"  ","message":"m"}', block("m")],
    ['{"action":"block","message":7}', DEFAULT],
    ['{"action":"block","message":" "}', DEFAULT],
    ['{"action":"block"}', DEFAULT],
    [
      '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}',
      block("p"),
    ],
    ['{"hookSpecificOutput":{"permissionDecision":"Deny"},"reason":"r"}', block("r")],
    ['{"permission":"deny","user_message":"u","agent_message":"a"}', block("u")],
    ['{"permission":"deny","agent_message":"a"}', block("a")],
    ['{"permission":"deny"}', DEFAULT],
    ['{"continue":false,"stopReason":"s"}', block("s")],
    ['{"continue":false}', DEFAULT],
    ['{"continue":false,"reason":"r"}', block("r")],
    ['{"permission":"block"}', DEFAULT],
  ];
  for (const [stdout, expected] of cases) {
    const answer = gate(stdout);
    assert.equal(said(answer), expected, stdout);
    assert.deepEqual([answer.outcome, answer.warnings], ["directive", []], stdout);
  }
});

test("approve means a human must say yes, and ask says it under every key", () => {
  const cases: [string, string][] = [
    ['{"action":"approve"}', '{"action": "approve"}'],
    [
      '{"action":"Approve","message":"m","rule_key":"k"}',
      '{"action": "approve", "message": "m", "rule_key": "k"}',
    ],
    ['{"action":"ask","reason":"r"}', '{"action": "approve", "message": "r"}'],
    ['{"decision":"ask","reason":"r"}', '{"action": "approve", "message": "r"}'],
    ['{"permission":"ask","user_message":"u"}', '{"action": "approve", "message": "u"}'],
    [
      '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"p"}}',
      '{"action": "approve", "message": "p"}',
    ],
    ['{"action":"approve","rule_key":7,"message":""}', '{"action": "approve"}'],
    ['{"action":"approve","args":{"a":1}}', '{"action": "approve", "args": {"a": 1}}'],
    ['{"decision":"ask","tool_input":{"a":1}}', '{"action": "approve", "args": {"a": 1}}'],
    [
      '{"hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{"a":1}},"args":{"b":1}}',
      '{"action": "approve", "args": {"a": 1}}',
    ],
  ];
  for (const [stdout, expected] of cases) {
    assert.equal(said(gate(stdout)), expected, stdout);
    assert.equal(said(closed(stdout)), expected, stdout);
  }
});

test("modify takes its args from any dialect's place", () => {
  const cases: [string, string][] = [
    ['{"action":"modify","args":{"a":1}}', '{"a": 1}'],
    ['{"decision":"modify","tool_input":{"a":1},"args":{"b":1}}', '{"a": 1}'],
    ['{"action":"modify","updatedInput":{"a":1.0}}', '{"a": 1.0}'],
    ['{"action":"MODIFY","hookSpecificOutput":{"updatedInput":{"a":1}}}', '{"a": 1}'],
    ['{"hookSpecificOutput":{"updatedInput":{"a":1}}}', '{"a": 1}'],
    [
      '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"__proto__":1}}}',
      '{"__proto__": 1}',
    ],
    ['{"decision":"approve","hookSpecificOutput":{"updatedInput":{"a":1}}}', '{"a": 1}'],
  ];
  for (const [stdout, args] of cases) {
    assert.equal(said(gate(stdout)), `{"action": "modify", "args": ${args}}`, stdout);
    assert.equal(said(closed(stdout)), `{"action": "modify", "args": ${args}}`, stdout);
  }
});

test("allow, in its dialects, and silence are no directive and no warning, closed or not", () => {
  for (
    const stdout of [
      "",
      " \n",
      "\ufeff",
      "{}",
      '{"action":"allow"}',
      '{"decision":"ALLOW"}',
      '{"decision":"approve"}',
      '{"permission":"allow"}',
      '{"hookSpecificOutput":{"permissionDecision":"allow"}}',
      '{"continue":true}',
      '{"decision":"allow","hookSpecificOutput":{"updatedInput":null}}',
    ]
  ) {
    for (const answer of [gate(stdout), closed(stdout)]) {
      assert.deepEqual(answer, { outcome: "none", warnings: [], hints: [], misspoke: false });
    }
  }
});

test("across keys block beats approve beats modify beats allow", () => {
  const cases: [string, string][] = [
    ['{"action":"allow","decision":"block","reason":"r"}', "block"],
    ['{"action":"approve","permission":"deny"}', "block"],
    ['{"continue":false,"decision":"approve"}', "block"],
    ['{"action":"alow","decision":"deny"}', "block"],
    [
      '{"action":"modify","args":{"a":1},"hookSpecificOutput":{"permissionDecision":"ask"}}',
      "approve",
    ],
    ['{"decision":"allow","action":"modify","args":{}}', "modify"],
  ];
  for (const [stdout, action] of cases) {
    assert.equal(gate(stdout).directive?.get("action"), action, stdout);
  }
});

test("a malformed answer is named, and shuts a closed gate", () => {
  const cases: [string, string][] = [
    ['{"action":"alow"}', '"alow"'],
    ['{"action":null}', "null"],
    ['{"decision":7}', "7"],
    ['{"permission":"approve"}', '"approve"'],
    ['{"hookSpecificOutput":{"permissionDecision":"approve"}}', '"approve"'],
    ['{"continue":"false"}', '"false"'],
    ['{"action":"modify"}', "modify"],
    ['{"action":"modify","args":"ls"}', "ls"],
    ['{"decision":"modify","tool_input":[1]}', "[1]"],
    ['{"hookSpecificOutput":{"updatedInput":"x"}}', '"x"'],
    ['{"action":"approve","args":"ls"}', '"ls"'],
    ['{"action":"alow","hookSpecificOutput":{"updatedInput":{"a":1}}}', '"alow"'],
  ];
  for (const [stdout, named] of cases) {
    const open = gate(stdout);
    assert.equal(open.warnings.length, 1, stdout);
    assert.ok(open.warnings[0]!.startsWith("hook g.sh: "), stdout);
    assert.ok(open.warnings[0]!.includes(named), open.warnings[0]);
    assert.notEqual(open.directive?.get("action"), "block");
    const shut = closed(stdout);
    assert.equal(shut.outcome, "failed", stdout);
    assert.match(String(message(shut)), /^hook g\.sh failed closed: /);
    assert.ok(String(message(shut)).includes(named), stdout);
  }
});

test("a block with a malformed key beside it keeps its own message on a closed gate", () => {
  assert.equal(said(closed('{"action":"alow","decision":"block","reason":"r"}')), block("r"));
});

test("an object none of whose keys counts is named with what to say, and shuts a closed gate", () => {
  const cases: [string, RegExp][] = [
    ['{"block":true}', /counts for nothing here: \{"block": true\} \(to refuse, say \{"action"/],
    ['{"allow":false}', /to refuse/],
    ['{"context":"x"}', /pre_llm_call/],
    ['{"args":{"a":1}}', /"modify"/],
    ['{"hookSpecificOutput":"deny"}', /under "action"/],
    ['{"systemMessage":"x"}', /under "action"/],
  ];
  for (const [stdout, expected] of cases) {
    const open = gate(stdout);
    assert.match(open.warnings.join("|"), expected);
    assert.deepEqual([open.outcome, open.misspoke, open.directive], ["none", true, undefined]);
    assert.match(String(message(closed(stdout))), /^hook g\.sh failed closed: answer counts for/);
  }
});

test("args beside a plain allow change nothing, and that is said", () => {
  const answer = closed('{"decision":"allow","tool_input":{"a":1}}');
  assert.equal(said(answer), "none");
  assert.match(answer.warnings.join(), /"tool_input" beside decision changes nothing/);
});

test("exit 2 blocks pre_tool_call whatever stdout holds", () => {
  const cases: [string, string, string][] = [
    ['{"decision":"block","reason":"json"}', "noise", block("json")],
    ['{"action":"block"}', " why \n", block("why")],
    ['{"action":"allow"}', "why", block("why")],
    ['{"action":"approve","message":"sure?"}', "", DEFAULT],
    ['{"message":"m"}', "", DEFAULT],
    ["not json", "why", block("why")],
    ["", "", DEFAULT],
    ["", "  \n", DEFAULT],
    ["", "😀".repeat(500), block("😀".repeat(400))],
  ];
  for (const [stdout, stderr, expected] of cases) {
    for (const failClosed of [false, true]) {
      const answer = gate(stdout, { exitCode: 2, stderr, failClosed });
      assert.equal(said(answer), expected, stdout);
      assert.deepEqual([answer.outcome, answer.warnings], ["directive", []]);
    }
  }
});

test("exit 2 elsewhere is just a failing exit", () => {
  const answer = ran("post_tool_call", "", { exitCode: 2, stderr: "no" });
  assert.equal(said(answer), "none");
  assert.deepEqual(answer.warnings, ["hook g.sh: exit code 2: no"]);
  assert.deepEqual([answer.outcome, answer.error], ["failed", "exit code 2: no"]);
});

test("another failing exit is a warning, and a directive on stdout still counts", () => {
  const answer = gate('{"action":"modify","args":{"a":1}}', {
    exitCode: 1,
    stderr: ` ${"é".repeat(500)}`,
  });
  assert.equal(answer.directive?.get("action"), "modify");
  assert.deepEqual(answer.warnings, [`hook g.sh: exit code 1: ${"é".repeat(400)}`]);
  assert.equal(said(gate('{"action":"block","message":"m"}', { exitCode: 1 })), block("m"));
  const killed = gate("", { exitCode: null, signal: "SIGSEGV" });
  assert.deepEqual(killed.warnings, ["hook g.sh: killed by SIGSEGV"]);
});

test("a closed gate that failed lets through only what it blocked or asked about", () => {
  const died = { exitCode: null, signal: "SIGSEGV" };
  assert.equal(
    said(closed("", { exitCode: 1, stderr: "Traceback" })),
    block("hook g.sh failed closed: exit code 1: Traceback"),
  );
  assert.equal(said(closed("", died)), block("hook g.sh failed closed: killed by SIGSEGV"));
  for (const stdout of ["{}", '{"action":"allow"}', '{"action":"modify","args":{"a":1}}', "junk"]) {
    assert.match(String(message(closed(stdout, died))), /failed closed: killed by SIGSEGV/, stdout);
  }
  assert.equal(said(closed('{"action":"block","message":"m"}', died)), block("m"));
  assert.equal(closed('{"action":"ask"}', died).directive?.get("action"), "approve");
});

test("stdout that is no JSON object is a warning that names the hook, and shuts a closed gate", () => {
  for (const stdout of ["not json", "[1]", "null", "7", '"block"', '{"action":"block"', "{} {}"]) {
    const open = gate(stdout);
    assert.equal(open.outcome, "failed", stdout);
    assert.match(open.warnings.join(), /^hook g\.sh: stdout is not (a )?JSON/, stdout);
    const shut = closed(stdout);
    assert.match(String(message(shut)), /^hook g\.sh failed closed: stdout is not/, stdout);
    assert.equal(shut.outcome, "failed");
  }
  assert.match(gate('log line\n{"action":"block"}').warnings.join(), /only its last line is/);
});

test("stdout over the bound cannot be parsed, whatever it begins with", () => {
  const over = { stdoutOver: true };
  assert.match(gate('{"action":"allow"}', over).warnings.join(), /over 4 MiB/);
  assert.match(String(message(closed("{}", over))), /failed closed: stdout is over 4 MiB/);
  const two = gate('{"action":"block","message":"m"}', { ...over, exitCode: 2, stderr: "e" });
  assert.equal(said(two), block("e"));
  assert.match(two.warnings.join(), /over 4 MiB/);
});

test("stderr of a clean exit means nothing", () => {
  assert.deepEqual(gate("", { stderr: "blocked!" }).warnings, []);
});

test("fail_closed has no effect on an event that cannot block", () => {
  const answer = ran("post_tool_call", "junk", { failClosed: true, exitCode: 1 });
  assert.equal(answer.directive, undefined);
  assert.equal(answer.warnings.length, 2);
});

test("each other event reads its own answers", () => {
  const cases: [string, string, string][] = [
    ["pre_llm_call", '{"context":" x "}', '{"context": " x "}'],
    ["pre_llm_call", '{"context":"  "}', "none"],
    ["pre_llm_call", '{"hookSpecificOutput":{"additionalContext":"y"}}', '{"context": "y"}'],
    [
      "pre_llm_call",
      '{"context":"","hookSpecificOutput":{"additionalContext":"y"}}',
      '{"context": "y"}',
    ],
    [
      "pre_verify",
      '{"action":"continue","message":" m "}',
      '{"action": "continue", "message": "m"}',
    ],
    ["pre_verify", '{"decision":"Block","reason":"r"}', '{"action": "continue", "message": "r"}'],
    ["pre_verify", '{"action":"continue","message":" "}', "none"],
    ["pre_verify", '{"action":"block","message":"m"}', "none"],
    [
      "pre_gateway_dispatch",
      '{"action":"skip","reason":"r"}',
      '{"action": "skip", "reason": "r"}',
    ],
    ["pre_gateway_dispatch", '{"action":"skip","reason":3}', '{"action": "skip"}'],
    [
      "pre_gateway_dispatch",
      '{"action":"rewrite","text":"t"}',
      '{"action": "rewrite", "text": "t"}',
    ],
    ["pre_gateway_dispatch", '{"action":"rewrite"}', "none"],
    ["pre_gateway_dispatch", '{"action":"allow","x":1}', '{"action": "allow"}'],
    ["pre_gateway_dispatch", '{"action":"drop"}', "none"],
    [
      "post_gateway_admission",
      '{"action":"handled","reply":"r"}',
      '{"action": "handled", "reply": "r"}',
    ],
    ["post_gateway_admission", '{"action":"handled"}', '{"action": "handled"}'],
    ["transform_tool_result", '"x"', '{"result": "x"}'],
    ["transform_tool_result", '""', '{"result": ""}'],
    ["transform_tool_result", '{"result":""}', '{"result": ""}'],
    ["transform_tool_result", '{"result":7}', "none"],
    ["transform_terminal_output", '{"output":"o"}', '{"output": "o"}'],
    ["transform_llm_output", '""', "none"],
    ["transform_llm_output", '{"response_text":""}', "none"],
    ["transform_llm_output", '{"response_text":" "}', '{"response_text": " "}'],
    [
      "pre_transcription",
      '{"model":"m","prompt":"","language":3}',
      '{"prompt": "", "model": "m"}',
    ],
  ];
  for (const [event, stdout, expected] of cases) {
    assert.equal(said(ran(event, stdout)), expected, `${event} ${stdout}`);
  }
});

test("only transforms take a bare string", () => {
  for (const event of ["pre_llm_call", "pre_verify", "pre_transcription", "post_tool_call"]) {
    assert.match(ran(event, '"x"').warnings.join(), /not a JSON object/, event);
  }
});

test("an answer that cannot be meant is named where it was given", () => {
  const cases: [string, string, RegExp][] = [
    ["pre_llm_call", '{"context":7}', /"context" is no string: 7/],
    ["pre_llm_call", '{"text":"x"}', /counts for nothing here.*say \{"context"/],
    ["pre_verify", '{"action":"continue"}', /without a message/],
    ["pre_verify", '{"action":"block"}', /"block".*say \{"action": "continue"/],
    ["pre_gateway_dispatch", '{"action":"drop"}', /"drop".*skip, rewrite, allow/],
    ["transform_tool_result", '{"output":"x"}', /counts for nothing.*"result"/],
    ["transform_tool_result", '{"result":7}', /"result" is no string: 7/],
    ["pre_transcription", '{"prompt":"p","file_path":"/x"}', /"file_path" is read-only/],
    ["pre_transcription", '{"file_path":"/x"}', /"file_path" is read-only/],
  ];
  for (const [event, stdout, expected] of cases) {
    const { warnings } = ran(event, stdout);
    assert.equal(warnings.length, 1, stdout);
    assert.match(warnings[0]!, expected);
  }
});

test("an observer that answers with a directive gets a hint, not a warning", () => {
  const answer = ran("post_tool_call", '{"decision":"block","reason":"r"}');
  assert.deepEqual([answer.warnings, answer.directive, answer.misspoke], [[], undefined, true]);
  assert.match(answer.hints.join(), /^hook g\.sh: this event cannot block/);
  assert.match(ran("post_tool_call", '{"x":1}').hints.join(), /counts for nothing/);
  for (
    const stdout of ["{}", "", '{"continue":true,"suppressOutput":true}', '{"action":"allow"}']
  ) {
    assert.equal(ran("post_tool_call", stdout).misspoke, false, stdout);
  }
});

test("a go-ahead in any dialect is no mistake on any event", () => {
  for (const event of ["pre_llm_call", "pre_verify", "transform_tool_result", "on_session_end"]) {
    for (const stdout of ['{"continue":true}', '{"action":"allow"}', '{"decision":"approve"}']) {
      const answer = ran(event, stdout);
      assert.deepEqual([answer.warnings, answer.misspoke], [[], false], `${event} ${stdout}`);
    }
  }
});

test("what a hook wrote is quoted cut, never whole", () => {
  const warning = gate("x".repeat(4_000_000)).warnings.join();
  assert.ok(warning.length < 200 && warning.endsWith("…"), warning.slice(0, 300));
});

test("a hook that could not run is a warning, or a closed gate's block", () => {
  const reason = "timed out after 5s";
  assert.deepEqual(failureOutcome({ command: "g.sh -x", reason, failClosed: false }), {
    outcome: "failed",
    error: reason,
    warnings: ["hook g.sh -x: timed out after 5s"],
    hints: [],
    misspoke: false,
  });
  const shut = failureOutcome({ command: "g.sh -x", reason, failClosed: true });
  assert.equal(said(shut), block("hook g.sh -x failed closed: timed out after 5s"));
  assert.deepEqual([shut.outcome, shut.error], ["failed", reason]);
});

test("a plugin's return value is read in its canonical shape", () => {
  const cases: [string, string, string][] = [
    ["pre_tool_call", '{"action":"block","message":"m"}', block("m")],
    ["pre_tool_call", '{"action":"block"}', "none"],
    ["pre_tool_call", '{"action":"block","message":" "}', "none"],
    ["pre_tool_call", '{"decision":"block","reason":"r"}', "none"],
    ["pre_tool_call", '{"action":"approve"}', '{"action": "approve"}'],
    [
      "pre_tool_call",
      '{"action":"modify","args":{"a":1}}',
      '{"action": "modify", "args": {"a": 1}}',
    ],
    ["pre_tool_call", '{"action":"modify","args":1}', "none"],
    ["pre_tool_call", '"block"', "none"],
    ["pre_tool_call", "true", "none"],
    ["pre_llm_call", '"ctx"', '{"context": "ctx"}'],
    ["pre_llm_call", '" "', "none"],
    ["pre_llm_call", '{"context":"c"}', '{"context": "c"}'],
    ["transform_tool_result", '"t"', '{"result": "t"}'],
    ["transform_llm_output", '""', "none"],
    ["pre_transcription", '{"prompt":"p"}', '{"prompt": "p"}'],
    [
      "transform_api_error_classification",
      '{"reason":" Rate_Limit ","retryable":true,"should_fallback":false,"should_x":1,"y":2}',
      '{"classification": {"reason": "rate_limit", "retryable": true, "should_fallback": false}}',
    ],
    ["transform_api_error_classification", '{"reason":" "}', "none"],
    ["transform_api_error_classification", '{"retryable":true}', "none"],
    ["command:reset", '{"decision":"deny","message":"m"}', '{"decision": "deny", "message": "m"}'],
    ["command:reset", '{"decision":"handled"}', '{"decision": "handled"}'],
    [
      "command:reset",
      '{"decision":"rewrite","command_name":"new","raw_args":""}',
      '{"decision": "rewrite", "command_name": "new", "raw_args": ""}',
    ],
    ["command:reset", '{"decision":"rewrite"}', "none"],
    ["command:reset", '{"decision":"allow"}', "none"],
    ["post_tool_call", '{"action":"block","message":"m"}', "none"],
    ["agent:end", '{"decision":"deny"}', "none"],
    ["pre_verify", "null", "none"],
  ];
  for (const [event, value, expected] of cases) {
    const answer = readReturn(event, parseJson(value), "p");
    assert.equal(said(answer), expected, `${event} ${value}`);
    assert.equal(answer.outcome, expected === "none" ? "none" : "directive");
  }
});

test("a plugin's gate that was not understood is named", () => {
  for (
    const value of ['{"action":"block"}', '{"decision":"block","reason":"r"}', '{"action":"alow"}']
  ) {
    const { warnings } = readReturn("pre_tool_call", parseJson(value), "guard");
    assert.equal(warnings.length, 1, value);
    assert.match(warnings[0]!, /^hook guard: /);
  }
});
