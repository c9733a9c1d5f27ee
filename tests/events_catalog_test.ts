import test from "node:test";
import assert from "node:assert/strict";
import {
  catalog,
  type EventRow,
  findEvent,
  isGatewayEvent,
  pluginEvents,
} from "../lib/events/catalog.ts";
import { fromJs, isObject, type Json, type JsonObject, writeJson } from "../lib/events/json.ts";
import { fieldsOf, sampleFields, validateFields, variantOf } from "../lib/events/sample.ts";

// Rule 7, written out.
const DIRECTIVE = [
  "pre_tool_call",
  "pre_llm_call",
  "pre_verify",
  "pre_gateway_dispatch",
  "post_gateway_admission",
];
const TRANSFORM = [
  "transform_tool_result",
  "transform_terminal_output",
  "transform_llm_output",
  "pre_transcription",
  "transform_api_error_classification",
];
const OBSERVE = [
  "post_tool_call",
  "post_llm_call",
  "pre_api_request",
  "post_api_request",
  "api_request_error",
  "on_stream_start",
  "on_stream_delta",
  "on_stream_end",
  "on_interim_message",
  "on_session_start",
  "on_session_end",
  "on_session_finalize",
  "on_session_reset",
  "on_skill_lifecycle",
  "subagent_start",
  "subagent_stop",
  "gateway_platform_event",
  "pre_command",
  "pre_auxiliary_call",
  "post_auxiliary_call",
  "agent_loop_stopped",
  "on_human_input_request",
  "on_human_input_resolved",
  "on_room_member_activity",
  "pre_approval_request",
  "post_approval_response",
  "kanban_task_claimed",
  "kanban_task_completed",
  "kanban_task_blocked",
  "on_kanban_worker_spawned",
  "on_kanban_worker_exited",
  "on_kanban_worker_stale_claim",
  "on_kanban_task_updated",
  "on_kanban_dispatch_tick",
];
const GATEWAY = [
  "gateway:startup",
  "session:start",
  "session:end",
  "session:reset",
  "session:compress",
  "agent:start",
  "agent:step",
  "agent:end",
  "reaction:added",
  "reaction:removed",
  "command:<name>",
];

// The fields each event is known to carry, in order; `?` where one may be missing.
const FIELDS: Record<string, string> = {
  pre_tool_call:
    "tool_name args task_id session_id tool_call_id turn_id api_request_id middleware_trace",
  post_tool_call:
    "tool_name args result task_id session_id tool_call_id turn_id api_request_id duration_ms status error_type error_message middleware_trace",
  transform_tool_result:
    "tool_name args result task_id session_id tool_call_id turn_id api_request_id duration_ms status error_type error_message",
  transform_terminal_output: "command output returncode task_id env_type",
  pre_transcription: "file_path provider model language prompt source",
  pre_llm_call:
    "session_id task_id turn_id user_message conversation_history is_first_turn model platform parent_session_id sender_id",
  post_llm_call:
    "session_id task_id turn_id user_message assistant_response conversation_history model platform",
  transform_llm_output: "response_text session_id model platform",
  pre_verify: "session_id platform model coding attempt final_response changed_paths",
  pre_api_request:
    "task_id turn_id api_request_id session_id user_message conversation_history system_prompt? platform model provider base_url api_mode api_call_count retry_count request_messages message_count tool_count approx_input_tokens request_char_count max_tokens started_at middleware_trace request",
  post_api_request:
    "task_id turn_id api_request_id session_id platform model provider base_url api_mode api_call_count api_duration started_at ended_at first_chunk_at? finish_reason message_count response_model response usage context_length? assistant_message assistant_content_chars assistant_tool_call_count moa_references?",
  api_request_error:
    "task_id turn_id api_request_id session_id platform model provider base_url api_mode api_call_count api_duration started_at ended_at status_code retry_count max_retries retryable reason error request",
  on_stream_start: "turn_id? iteration session_id model provider surface",
  on_stream_delta: "delta kind turn_id? iteration session_id model provider surface",
  on_stream_end: "final_text finished error turn_id? iteration session_id model provider surface",
  on_interim_message: "text already_streamed turn_id? iteration session_id model provider surface",
  transform_api_error_classification:
    "provider model status_code error_type error_code error_message error_body error approx_tokens context_length num_messages",
  on_session_start: "session_id model platform",
  on_skill_lifecycle:
    "action skill_name provenance task_id session_id use_count reused reuse_after_patch",
  subagent_start:
    "parent_session_id parent_turn_id parent_subagent_id child_session_id child_subagent_id child_role child_goal",
  subagent_stop:
    "parent_session_id parent_turn_id child_session_id child_role child_summary child_status tool_call_history duration_ms",
  pre_gateway_dispatch: "event gateway? session_store?",
  post_gateway_admission: "session_key platform source message_id text",
  gateway_platform_event: "platform event_type payload",
  pre_command: "surface command alias_used args_raw session_key platform",
  pre_auxiliary_call: "aux_task api_request_id session_id provider model base_url api_mode",
  post_auxiliary_call:
    "aux_task api_request_id session_id provider model base_url api_mode api_duration ended_at finish_reason response_model usage response error error_type",
  agent_loop_stopped: "session_key platform reason invalidation_reason",
  on_human_input_request: "kind request_id session_id session_key platform prompt extras",
  on_human_input_resolved: "kind request_id session_id session_key platform prompt extras outcome",
  on_room_member_activity:
    "room_id thread_id member_id turn_id task_id execution_generation kind seq payload",
  pre_approval_request:
    "command description pattern_key pattern_keys session_key surface turn_id tool_call_id",
  post_approval_response:
    "command description pattern_key pattern_keys session_key surface turn_id tool_call_id choice decided_by?",
  kanban_task_claimed: "task_id profile_name board assignee run_id",
  kanban_task_completed: "task_id profile_name board assignee run_id summary",
  kanban_task_blocked: "task_id profile_name board assignee run_id reason",
  on_kanban_worker_spawned: "task_id profile_name board assignee run_id worker_pid workspace_path",
  on_kanban_worker_exited:
    "task_id profile_name board assignee run_id worker_pid exit_kind exit_code outcome retry_status",
  on_kanban_worker_stale_claim:
    "task_id profile_name board assignee run_id worker_pid heartbeat_stale retry_status",
  on_kanban_task_updated: "task_id profile_name board assignee run_id changed_fields",
  on_kanban_dispatch_tick: "board profile_name dry_run outcome result",
  "gateway:startup": "platforms",
  "session:start": "platform user_id session_id session_key",
  "session:end": "platform user_id session_key",
  "session:reset": "platform user_id session_key",
  "session:compress": "platform session_id old_session_id in_place compression_count",
  "agent:start": "platform user_id chat_id thread_id chat_type session_id message",
  "agent:step": "platform user_id session_id iteration tool_names tools",
  "agent:end":
    "platform user_id chat_id thread_id chat_type session_id message response model provider",
  "reaction:added":
    "platform reaction user_id item_user_id item_type channel_id message_ts team_id event_ts raw_event",
  "reaction:removed":
    "platform reaction user_id item_user_id item_type channel_id message_ts team_id event_ts raw_event",
  "command:<name>": "platform user_id command raw_command args raw_args",
};

// The same for the events that come in several shapes.
const BY_VARIANT: Record<string, Record<string, string>> = {
  on_session_end: {
    canonical:
      "session_id task_id turn_id completed failed interrupted turn_exit_reason model platform",
    cli_exit:
      "session_id task_id? turn_id? api_request_id? completed failed? interrupted turn_exit_reason? reason? model platform",
    tui_exit:
      "session_id task_id? turn_id? api_request_id? completed failed? interrupted turn_exit_reason? reason? model? platform",
  },
  on_session_finalize: {
    cli: "session_id platform reason?",
    tui: "session_id platform reason?",
    gateway: "session_id platform reason old_session_id new_session_id",
    gateway_shutdown: "session_id platform reason?",
  },
  on_session_reset: {
    cli: "session_id platform reason",
    tui: "session_id platform",
    gateway: "session_id platform reason old_session_id new_session_id",
  },
  pre_approval_request: { cli: "", gateway: "", smart: "" },
  post_approval_response: {
    cli:
      "command description pattern_key pattern_keys session_key surface turn_id tool_call_id choice",
    gateway:
      "command description pattern_key pattern_keys session_key surface turn_id tool_call_id choice",
    smart: FIELDS.post_approval_response!,
  },
  pre_command: { cli: "", gateway: "" },
  post_tool_call: { ok: "", error: "", blocked: "" },
  on_stream_delta: { text: "", reasoning: "" },
};

const PAYLOADS: Record<string, string> = {
  reaction: "emojis custom_emoji_ids chat_id message_id thread_id",
  message_edited: "chat_id message_id thread_id text edited_at",
  message_deleted: "chat_id message_id thread_id author_id",
  thread_created: "thread_id parent_chat_id name owner_id",
  thread_renamed: "thread_id parent_chat_id old_name new_name",
};

function row(name: string): EventRow {
  const found = findEvent(name);
  assert.ok(found, name);
  return found;
}

function namesOf(kind: string): string[] {
  return catalog().filter((each) => each.kind === kind).map((each) => each.name);
}

function listed(fields: readonly { name: string; required: boolean }[]): string {
  return fields.map((field) => field.name + (field.required ? "" : "?")).join(" ");
}

function changed(name: string, change: (fields: JsonObject) => void, variant?: string): string[] {
  const fields = sampleFields(name, variant);
  change(fields);
  return validateFields(row(name), variant ? variantOf(row(name), variant) : undefined, fields);
}

test("the catalogue holds exactly the events of rule 7, in its order, kind by kind", () => {
  assert.deepEqual(namesOf("directive"), DIRECTIVE);
  assert.deepEqual(namesOf("transform"), TRANSFORM);
  assert.deepEqual(namesOf("observe"), OBSERVE);
  assert.deepEqual(namesOf("gateway"), GATEWAY);
  const all = [...DIRECTIVE, ...TRANSFORM, ...OBSERVE, ...GATEWAY];
  assert.deepEqual(catalog().map((each) => each.name), all);
  assert.deepEqual(pluginEvents(), [...DIRECTIVE, ...TRANSFORM, ...OBSERVE]);
});

test("no event, variant, field or closed value stands twice", () => {
  const unique = (names: readonly string[], where: string) =>
    assert.equal(new Set(names).size, names.length, where);
  unique(catalog().map((each) => each.name), "events");
  for (const each of catalog()) {
    unique(each.fields.map((field) => field.name), each.name);
    unique(each.variants.map((variant) => variant.name), each.name);
    for (const field of each.fields) unique(field.values ?? [], `${each.name}.${field.name}`);
  }
});

test("every event carries the fields it is known to carry", () => {
  for (const each of catalog()) {
    const variants = BY_VARIANT[each.name] ?? {};
    if (FIELDS[each.name]) assert.equal(listed(each.fields), FIELDS[each.name], each.name);
    else assert.ok(Object.keys(variants).length > 0, `${each.name} is not in this test's tables`);
    if (!BY_VARIANT[each.name]) continue;
    assert.deepEqual(each.variants.map((variant) => variant.name), Object.keys(variants));
    for (const variant of each.variants) {
      const expected = variants[variant.name] || FIELDS[each.name];
      assert.equal(listed(fieldsOf(each, variant)), expected, `${each.name} ${variant.name}`);
    }
  }
});

test("gateway_platform_event has the five payloads with their own fields", () => {
  const { variants } = row("gateway_platform_event");
  assert.deepEqual(variants.map((variant) => variant.name), Object.keys(PAYLOADS));
  for (const variant of variants) {
    assert.equal(listed(variant.payloadFields ?? []), PAYLOADS[variant.name], variant.name);
    assert.deepEqual(variant.values?.event_type, [variant.name]);
  }
});

test("every event says when it fires, what is private in it and which answers count", () => {
  for (const each of catalog()) {
    assert.match(each.about, /^[A-Z].*\.$/s, each.name);
    assert.match(each.privacy, /\S/, each.name);
    const steers = each.kind === "directive" || each.kind === "transform" ||
      each.name === "command:<name>";
    assert.equal(each.answers.length > 0, steers, each.name);
    if (each.kind === "observe") {
      assert.match(each.about, /Return values are ignored\.$/, each.name);
    }
    for (const field of each.fields) assert.match(field.about, /\S/, `${each.name}.${field.name}`);
  }
});

test("the flags: what matches tools, what can block, what is for plugins, what is marked", () => {
  const having = (flag: "tool" | "canBlock" | "pluginOnly") =>
    catalog().filter((each) => each[flag]).map((each) => each.name);
  assert.deepEqual(having("tool"), ["pre_tool_call", "post_tool_call"]);
  assert.deepEqual(having("canBlock"), ["pre_tool_call"]);
  assert.deepEqual(having("pluginOnly"), ["transform_api_error_classification"]);
  const unmarked = catalog().filter((each) => !each.telemetry).map((each) => each.name);
  assert.deepEqual(unmarked, ["gateway_platform_event", ...GATEWAY]);
});

test("every variant of every event has a sample without a fault, in the event's order", () => {
  for (const each of catalog()) {
    assert.ok(each.variants.length > 0, each.name);
    for (const variant of each.variants) {
      const where = `${each.name} ${variant.name}`;
      const sample = sampleFields(each.name, variant.name);
      assert.ok(sample.size > 0, where);
      assert.deepEqual(validateFields(each, variant, sample), [], where);
      const order = each.fields.map((field) => field.name).filter((name) => sample.has(name));
      assert.deepEqual([...sample.keys()], order, where);
      assert.equal(sample.has("telemetry_schema_version"), false, where);
    }
  }
});

test("samples look real: no empty names, no placeholders", () => {
  for (const each of catalog()) {
    for (const variant of each.variants) {
      const text = writeJson(fromJs(variant.sample));
      assert.doesNotMatch(text, /\b(foo|bar|baz|todo|xxx|lorem|undefined)\b/i, each.name);
    }
  }
});

test("the lists of a variant name only fields of its event, and none as both", () => {
  for (const each of catalog()) {
    const names = new Set(each.fields.map((field) => field.name));
    for (const variant of each.variants) {
      const required = variant.required ?? [];
      const optional = variant.optional ?? [];
      const mentioned = [...required, ...optional, ...Object.keys(variant.values ?? {})];
      for (const name of mentioned) assert.ok(names.has(name), `${each.name}: ${name}`);
      assert.deepEqual(required.filter((name) => optional.includes(name)), [], each.name);
      for (const [name, values] of Object.entries(variant.values ?? {})) {
        const all = each.fields.find((field) => field.name === name)?.values ?? values;
        for (const value of values) assert.ok(all.includes(value), `${each.name}: ${value}`);
      }
    }
  }
});

test("a closed set is reached as a whole by the variants that divide it", () => {
  for (const name of ["gateway_platform_event", "post_tool_call", "on_stream_delta"]) {
    const divided = { gateway_platform_event: "event_type", post_tool_call: "status" }[name] ??
      "kind";
    const reached = row(name).variants.flatMap((variant) => variant.values?.[divided] ?? []);
    const all = row(name).fields.find((field) => field.name === divided)?.values;
    assert.deepEqual(reached, all, name);
  }
});

test("findEvent() takes any command for the row command:<name>, but no wildcard", () => {
  assert.equal(findEvent("command:model")?.name, "command:<name>");
  assert.equal(findEvent("command:my-skill")?.name, "command:<name>");
  assert.equal(findEvent("command:<name>")?.name, "command:<name>");
  for (
    const name of ["command:*", "command:", "command", "command: x", "xcommand:model", "agent:*"]
  ) {
    assert.equal(findEvent(name), undefined, name);
  }
});

test("findEvent() finds every event, exactly as spelt, and always the same row", () => {
  for (const each of catalog()) assert.equal(findEvent(each.name), each);
  for (const name of ["", "PRE_TOOL_CALL", "pre_tool_call ", "__proto__", "constructor"]) {
    assert.equal(findEvent(name), undefined, name);
  }
});

test("isGatewayEvent() knows HOOK.yaml's events from all others", () => {
  for (const name of [...GATEWAY, "command:reset"]) assert.equal(isGatewayEvent(name), true, name);
  for (const name of ["pre_tool_call", "gateway_platform_event", "agent:*", "nope"]) {
    assert.equal(isGatewayEvent(name), false, name);
  }
});

test("sampleFields() gives the usual variant, a fresh copy each time", () => {
  const first = sampleFields("pre_tool_call");
  const args = first.get("args");
  assert.ok(isObject(args));
  args.set("command", "changed");
  first.delete("session_id");
  const second = sampleFields("pre_tool_call");
  assert.equal(second.get("tool_name"), "terminal");
  assert.match(writeJson(second), /"command": "git status --short"/);
  assert.ok(second.has("session_id"));
});

test("sampleFields() names the command asked for", () => {
  const sample = sampleFields("command:reset");
  assert.deepEqual([sample.get("command"), sample.get("raw_command")], ["reset", "reset"]);
});

test("sampleFields() refuses an unknown event or variant by name", () => {
  assert.throws(() => sampleFields("nope"), /unknown event "nope"/);
  assert.throws(() => sampleFields("pre_command", "tui"), /"pre_command" has no variant "tui"/);
});

test("validateFields() names a missing field and what was expected", () => {
  assert.deepEqual(changed("pre_tool_call", (fields) => fields.delete("args")), [
    '"args" is missing, expected object',
  ]);
});

test("validateFields() names an unknown field and lists the known ones", () => {
  const [problem] = changed("on_session_start", (fields) => fields.set("modle", "m"));
  assert.equal(
    problem,
    '"modle" is unknown, expected one of "session_id", "model", "platform"',
  );
});

test("validateFields() holds types: lists, whole numbers, null only where it is allowed", () => {
  const table: [string, string, Json, string | undefined][] = [
    ["pre_tool_call", "args", "ls", '"args" is "ls", expected object'],
    ["pre_tool_call", "turn_id", null, undefined],
    ["pre_tool_call", "tool_name", null, '"tool_name" is null, expected string'],
    ["pre_verify", "attempt", fromJs(0.5), '"attempt" is 0.5, expected integer'],
    ["pre_verify", "coding", "yes", '"coding" is "yes", expected boolean'],
    ["pre_verify", "changed_paths", ["a.py", null], undefined],
    ["post_tool_call", "duration_ms", fromJs(1.5), undefined],
    ["pre_transcription", "model", true, '"model" is true, expected string or null'],
    ["pre_llm_call", "conversation_history", ["hi"], undefined],
  ];
  for (const [name, field, value, problem] of table) {
    const problems = changed(name, (fields) => fields.set(field, value));
    if (problem !== undefined) assert.deepEqual(problems, [problem]);
    else if (Array.isArray(value)) assert.match(problems[0] ?? "", /expected list of /);
    else assert.deepEqual(problems, []);
  }
});

test("validateFields() holds closed sets, and a variant's narrower ones", () => {
  assert.deepEqual(changed("on_stream_delta", (fields) => fields.set("kind", "thought"), "text"), [
    '"kind" is "thought", expected "text"',
  ]);
  assert.deepEqual(changed("pre_command", (fields) => fields.set("surface", "gateway"), "cli"), [
    '"surface" is "gateway", expected "cli"',
  ]);
  assert.deepEqual(changed("post_approval_response", (f) => f.set("choice", "once"), "smart"), [
    '"choice" is "once", expected "smart_approve", "smart_deny"',
  ]);
});

test("validateFields() looks into the payload of a platform event", () => {
  const inPayload = (change: (payload: JsonObject) => void) =>
    changed("gateway_platform_event", (fields) => {
      const payload = fields.get("payload");
      assert.ok(isObject(payload));
      change(payload);
    }, "reaction");
  assert.deepEqual(inPayload((payload) => payload.delete("emojis")), [
    '"payload.emojis" is missing, expected list of strings',
  ]);
  assert.deepEqual(inPayload((payload) => payload.set("message_id", fromJs(4821))), [
    '"payload.message_id" is 4821, expected string',
  ]);
  assert.match(
    inPayload((payload) => payload.set("text", "x"))[0] ?? "",
    /^"payload\.text" is unknown/,
  );
});

test("validateFields() without a variant takes the one that fits best", () => {
  const deleted = sampleFields("gateway_platform_event", "message_deleted");
  assert.deepEqual(validateFields(row("gateway_platform_event"), undefined, deleted), []);
  const tui = sampleFields("on_session_end", "tui_exit");
  assert.deepEqual(validateFields(row("on_session_end"), undefined, tui), []);
});

test("validateFields() lets the wire form's own keys and the marker pass, off the gateway", () => {
  const beside = (fields: JsonObject) => {
    fields.set("cwd", "/home/ada/project");
    fields.set("session_id", "sess_1");
  };
  assert.deepEqual(changed("kanban_task_claimed", beside), []);
  const marked = (fields: JsonObject) =>
    fields.set("telemetry_schema_version", "hermes.observer.v1");
  assert.deepEqual(changed("kanban_task_claimed", marked), []);
  assert.equal(changed("gateway_platform_event", marked).length, 1);
  assert.equal(changed("agent:step", (fields) => fields.set("cwd", "/")).length, 1);
});
