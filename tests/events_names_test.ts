import test from "node:test";
import assert from "node:assert/strict";
import { findEvent } from "../lib/events/catalog.ts";
import { foreignEvents } from "../lib/events/foreign.ts";
import { editDistance, hintFor, nearest } from "../lib/events/names.ts";

test("editDistance() counts inserting, deleting, replacing and swapping neighbours as one step", () => {
  const table: [string, string, number][] = [
    ["", "", 0],
    ["", "abc", 3],
    ["abc", "", 3],
    ["abc", "abc", 0],
    ["abc", "abxc", 1],
    ["abc", "ac", 1],
    ["abc", "abx", 1],
    ["ab", "ba", 1],
    ["pre_tool_call", "pre_tolo_call", 1],
    ["kitten", "sitting", 3],
    ["😀a", "a😀", 1],
  ];
  for (const [a, b, steps] of table) assert.equal(editDistance(a, b), steps, `${a} → ${b}`);
});

test("nearest() forgives case, separators and slips, and nothing else", () => {
  const keys = ["command", "matcher", "timeout", "fail_closed", "hook_callback_timeout"];
  const table: [string, string | undefined][] = [
    ["timout", "timeout"],
    ["Timeout", "timeout"],
    ["failClosed", "fail_closed"],
    ["fail-closed", "fail_closed"],
    ["mathcer", "matcher"],
    ["callback_timeout", "hook_callback_timeout"],
    ["env", undefined],
    ["interval", undefined],
    ["", undefined],
    ["__proto__", undefined],
  ];
  for (const [name, expected] of table) assert.equal(nearest(name, keys), expected, name);
});

test("nearest() prefers fewer steps, then the earlier candidate", () => {
  assert.equal(nearest("abcdefgx", ["abcdexxx", "abcdefgh"]), "abcdefgh");
  assert.equal(nearest("cat_x", ["cat_a", "cat_b"]), "cat_a");
});

test("a misspelt event is answered with the event meant", () => {
  const table: [string, string][] = [
    ["pre_tool_cal", "pre_tool_call"],
    ["pre_tol_cal", "pre_tool_call"],
    ["PRE_TOOL_CALL", "pre_tool_call"],
    ["pre-tool-call", "pre_tool_call"],
    ["preToolCall", "pre_tool_call"],
    ["post_tool", "post_tool_call"],
    ["session_start", "on_session_start"],
    ["session_end", "on_session_end"],
    ["on_sesion_end", "on_session_end"],
    ["on_kanban_task_completed", "kanban_task_completed"],
    ["transform_llm_ouptut", "transform_llm_output"],
  ];
  for (const [name, event] of table) assert.equal(hintFor(name), `did you mean "${event}"?`);
});

test("a gateway event under hooks: is sent to HOOK.yaml, wildcards and slips too", () => {
  const there = "gateway event: belongs in a HOOK.yaml under <home>/hooks";
  for (const name of ["agent:end", "gateway:startup", "command:model", "agent:*", "command:*"]) {
    assert.equal(hintFor(name), there, name);
  }
  assert.equal(hintFor("agent:ends"), `did you mean "agent:end"? ${there}`);
});

test("a plugin event in a HOOK.yaml is sent to config.yaml or a plugin", () => {
  const there = "plugin event: belongs under hooks: in config.yaml, or in a plugin";
  assert.equal(hintFor("pre_tool_call", "hook_yaml"), there);
  assert.equal(hintFor("pre_tool_cal", "hook_yaml"), `did you mean "pre_tool_call"? ${there}`);
  assert.equal(hintFor("agent:stat", "hook_yaml"), 'did you mean "agent:start"?');
  assert.equal(hintFor("SessionStart", "hook_yaml"), 'did you mean "session:start"?');
});

test("the plugin-only event is said to be one", () => {
  assert.match(hintFor("transform_api_error_classification") ?? "", /^plugin-only event: /);
});

test("a name that is fine where it stands draws no hint", () => {
  assert.equal(hintFor("pre_tool_call"), undefined);
  assert.equal(hintFor("on_kanban_dispatch_tick"), undefined);
  assert.equal(hintFor("agent:end", "hook_yaml"), undefined);
  assert.equal(hintFor("agent:*", "hook_yaml"), undefined);
});

test("names that resemble nothing draw no hint", () => {
  for (const name of ["nope", "on_turn_complete", "", "a", "constructor", "__proto__", "foo:*"]) {
    assert.equal(hintFor(name), undefined, name);
  }
});

test("events of other agents are answered with what to use here", () => {
  const table: [string, string, ...string[]][] = [
    ["PreToolUse", "Claude Code", "pre_tool_call"],
    ["preToolUse", "Cursor", "pre_tool_call"],
    ["pre_tool_use", "Codex", "pre_tool_call"],
    ["BeforeTool", "Gemini CLI", "pre_tool_call"],
    ["PostToolUse", "Claude Code", "post_tool_call"],
    ["PostToolUseFailure", "Claude Code", "post_tool_call"],
    ["AfterTool", "Gemini CLI", "post_tool_call"],
    ["UserPromptSubmit", "Codex", "pre_llm_call"],
    ["BeforeAgent", "Gemini CLI", "pre_llm_call"],
    ["beforeSubmitPrompt", "Cursor", "pre_llm_call"],
    ["Stop", "Claude Code", "on_session_end", "pre_verify"],
    ["stop", "Cursor", "on_session_end", "pre_verify"],
    ["AfterAgent", "Gemini CLI", "on_session_end", "pre_verify"],
    ["agent-turn-complete", "Codex", "on_session_end"],
    ["notify", "Codex", "on_session_end"],
    ["SubagentStop", "Claude Code", "subagent_stop"],
    ["subagentStart", "Cursor", "subagent_start"],
    ["SessionStart", "Gemini CLI", "on_session_start"],
    ["sessionEnd", "Cursor", "on_session_finalize"],
    ["beforeShellExecution", "Cursor", "pre_tool_call", "terminal"],
    ["afterFileEdit", "Cursor", "post_tool_call", "write_file"],
    ["PermissionRequest", "Claude Code", "pre_approval_request"],
    ["Notification", "Claude Code", "on_human_input_request"],
    ["BeforeModel", "Gemini CLI", "pre_api_request"],
    ["PreCompact", "Claude Code", "no counterpart here"],
    ["BeforeToolSelection", "Gemini CLI", "no counterpart here"],
    ["Setup", "Claude Code", "no counterpart here"],
  ];
  for (const [name, agent, ...advice] of table) {
    const hint = hintFor(name) ?? "";
    for (const part of [agent, ...advice]) assert.ok(hint.includes(part), `${name}: ${hint}`);
  }
});

test("every event of another agent is known once, and its advice names real events", () => {
  const names = foreignEvents().map(([name]) => name.toLowerCase());
  assert.equal(new Set(names).size, names.length);
  for (const [name, agents, advice] of foreignEvents()) {
    assert.ok(agents.length > 0, name);
    assert.equal(hintFor(name)?.endsWith(`event: ${advice}`), true, name);
    for (
      const [, quoted] of advice.matchAll(/"((?:pre|post|on|transform)_[a-z_]+|[a-z]+:[a-z]+)"/g)
    ) {
      assert.ok(findEvent(quoted!), `${name}: "${quoted}"`);
    }
  }
});
