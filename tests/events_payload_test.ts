import test from "node:test";
import assert from "node:assert/strict";
import { readFields, toWire } from "../lib/events/payload.ts";
import { parseJson, writeJson } from "../lib/events/json.ts";
import type { JsonObject } from "../lib/events/json.ts";

const MARK = '"telemetry_schema_version": "hermes.observer.v1"';

function wire(event: string, fields: string, telemetry = true): string {
  const read = parseJson(fields) as JsonObject;
  return writeJson(toWire(event, read, { cwd: "/w", profile: "custom", telemetry }));
}

/** The part between `profile` and the end. */
function extra(fields: string, telemetry = true): string {
  return wire("e", fields, telemetry).replace(/^.*?"extra": /, "").slice(0, -1);
}

function read(text: string, event?: string): string {
  const got = readFields(text, event);
  return got.ok ? `${got.event} ${writeJson(got.fields)}` : `${got.kind} ${got.exit}`;
}

test("the wire form has its keys in order, Python's separators and the marker last", () => {
  assert.equal(
    wire(
      "pre_tool_call",
      '{"task_id": "t", "args": {"command": "echo é"}, "tool_name": "terminal", "session_id": "s", "cwd": "/x"}',
    ),
    '{"hook_event_name": "pre_tool_call", "tool_name": "terminal", "tool_input": {"command": "echo é"}, ' +
      `"session_id": "s", "cwd": "/w", "profile": "custom", "extra": {"task_id": "t", ${MARK}}}`,
  );
});

test("off tool events tool_name and tool_input are null", () => {
  assert.match(wire("subagent_stop", "{}"), /"tool_name": null, "tool_input": null, /);
});

test("session_id is session_id, else the parent's, else empty, always a string", () => {
  const cases: [string, string][] = [
    ['{"session_id": "s", "parent_session_id": "p"}', '"s"'],
    ['{"parent_session_id": "p"}', '"p"'],
    ['{"session_id": "", "parent_session_id": "p"}', '"p"'],
    ['{"session_id": null, "parent_session_id": "p"}', '"p"'],
    ['{"session_id": null}', '""'],
    ['{"session_id": 12345678901234567890}', '"12345678901234567890"'],
    ['{"session_id": true}', '"true"'],
    ['{"session_id": {"a": 1}}', '"{\\"a\\": 1}"'],
    ["{}", '""'],
  ];
  for (const [fields, id] of cases) {
    const text = wire("e", fields);
    assert.ok(text.includes(`"session_id": ${id}, `), `${fields}: ${text}`);
    assert.ok(text.endsWith(`"extra": {${MARK}}}`), text);
  }
});

test("extra keeps every other field in the event's order, and numbers keep their digits", () => {
  assert.equal(
    extra('{"b": 1.0, "10": 12345678901234567890, "9": null, "__proto__": {"x": 1}, "a": []}'),
    `{"b": 1.0, "10": 12345678901234567890, "9": null, "__proto__": {"x": 1}, "a": [], ${MARK}}`,
  );
});

test("args that are no object go to extra as text, in their place", () => {
  const cases: [string, string][] = [
    ['"ls"', '"args": "ls", '],
    ["[1, 2.0]", '"args": "[1, 2.0]", '],
    ["7", '"args": "7", '],
    ["true", '"args": "true", '],
    ["null", ""],
    ['{"a": 1}', ""],
  ];
  for (const [args, expected] of cases) {
    assert.equal(
      extra(`{"a": 1, "args": ${args}, "z": 2}`),
      `{"a": 1, ${expected}"z": 2, ${MARK}}`,
    );
  }
});

test("a tool_name that is no string goes to extra as it is", () => {
  const text = wire("e", '{"tool_name": 7}');
  assert.match(text, /"tool_name": null, /);
  assert.ok(text.endsWith(`"extra": {"tool_name": 7, ${MARK}}}`), text);
  assert.equal(extra('{"tool_name": null}'), `{${MARK}}`);
});

test("a marker the caller sent moves last with our value, and no marker is added without telemetry", () => {
  assert.equal(extra('{"telemetry_schema_version": "x", "a": 1}'), `{"a": 1, ${MARK}}`);
  assert.equal(extra('{"a": 1}', false), '{"a": 1}');
});

test("toWire leaves the fields as they were", () => {
  const fields = parseJson('{"session_id": "s", "telemetry_schema_version": "x"}') as JsonObject;
  toWire("e", fields, { cwd: "/", profile: "p", telemetry: true });
  assert.equal(writeJson(fields), '{"session_id": "s", "telemetry_schema_version": "x"}');
});

test("a wire form that went through comes back to the same bytes", () => {
  for (
    const fields of [
      '{"tool_name": "terminal", "args": {"c": "ls"}, "session_id": "s", "cwd": "/w", "x": 1.0}',
      '{"parent_session_id": "p", "9": 1, "8": 2, "__proto__": 3}',
      '{"a": 1, "args": "ls", "tool_name": 7, "z": 2}',
      '{"args": [1], "profile": "mine", "extra": {"in": {"in": 1}}, "hook_event_name": 5}',
      '{"extra": "text", "tool_input": {"a": 1}, "session_id": 5}',
      "{}",
    ]
  ) {
    const first = wire("pre_tool_call", fields);
    const back = readFields(first);
    assert.ok(back.ok);
    assert.equal(back.event, "pre_tool_call");
    const options = { cwd: "/w", profile: "custom", telemetry: true };
    assert.equal(writeJson(toWire(back.event, back.fields, options)), first);
  }
});

test("bare fields and the wire form are told apart and both read", () => {
  const cases: [string, string | undefined, string][] = [
    ['{"tool_name": "t", "args": {}}', "e", 'e {"tool_name": "t", "args": {}}'],
    ["", "e", "e {}"],
    [" \n\t", "e", "e {}"],
    ["\ufeff", "e", "e {}"],
    [
      '{"extra": {"b": 1, "a": 2}, "hook_event_name": "e", "tool_input": {"x": 1}, "tool_name": "t", "session_id": "s", "cwd": "/", "profile": "p"}',
      undefined,
      'e {"tool_name": "t", "args": {"x": 1}, "session_id": "s", "cwd": "/", "b": 1, "a": 2}',
    ],
    ['{"hook_event_name": "e", "tool_name": null, "tool_input": null, "extra": null}', "e", "e {}"],
    [
      '{"hook_event_name": "e", "args": {"x": 1}, "delivery_id": "d"}',
      "e",
      'e {"args": {"x": 1}, "delivery_id": "d"}',
    ],
    ['{"hook_event_name": "e", "extra": [1]}', "e", 'e {"extra": [1]}'],
    ['{"hook_event_name": "e", "extra": {"a": 1}, "a": 2}', "e", 'e {"a": 1}'],
    [
      '{"hook_event_name": "e", "tool_input": "ls", "extra": {"telemetry_schema_version": "x"}}',
      "e",
      'e {"args": "ls"}',
    ],
    ['{"hook_event_name": 7}', "e", 'e {"hook_event_name": 7}'],
  ];
  for (const [text, event, expected] of cases) assert.equal(read(text, event), expected, text);
});

test("what cannot be read, or names no or another event, is told apart by exit code", () => {
  const cases: [string, string | undefined, string][] = [
    ["not json", "e", "not-json 1"],
    ['{"a": 1', "e", "not-json 1"],
    ["[1]", "e", "not-an-object 1"],
    ["null", "e", "not-an-object 1"],
    ['"e"', undefined, "not-an-object 1"],
    ['{"hook_event_name": "e"}', "f", "mismatch 64"],
    ["{}", undefined, "no-event 64"],
    ["", undefined, "no-event 64"],
  ];
  for (const [text, event, expected] of cases) assert.equal(read(text, event), expected, text);
});

test("a refusal says what is wrong and what to do", () => {
  const bad = readFields('{"a": ?}', "e");
  assert.ok(!bad.ok);
  assert.match(
    bad.message,
    /not JSON: unexpected character at line 1 column 7; expected an object/,
  );
  const other = readFields('{"hook_event_name": "post_tool_call"}', "pre_tool_call");
  assert.ok(!other.ok);
  assert.match(other.message, /"post_tool_call".*"pre_tool_call"/);
});

test("tool_input without args is the wire form, whoever left the event's name out", () => {
  const got = readFields('{"tool_name": "terminal", "tool_input": {"command": "ls"}, "x": 1}', "e");
  assert.ok(got.ok);
  assert.equal(
    writeJson(got.fields),
    '{"tool_name": "terminal", "args": {"command": "ls"}, "x": 1}',
  );
  const bare = readFields('{"args": {}, "tool_input": {}}', "e");
  assert.ok(bare.ok);
  assert.equal(writeJson(bare.fields), '{"args": {}, "tool_input": {}}');
});
