import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";
import { argsOf, commandOf } from "../lib/cli/exec_command.ts";
import * as facts from "../lib/cli/exec_facts.ts";
import type { ExecFacts, ExecOutcome } from "../lib/cli/exec_facts.ts";
import { findEvent } from "../lib/events/catalog.ts";
import { fromJs, type Json, toJs, writeJson } from "../lib/events/json.ts";
import type { Fields, Verdict } from "../lib/events/outcome.ts";
import { toWire } from "../lib/events/payload.ts";
import { payloadSchema } from "../lib/events/payload_schema.ts";

const GIVEN = ["echo", "a b", "it's", ""];

function changed(args: object): ReturnType<typeof commandOf> {
  return commandOf(new Map([["args", fromJs(args)]]) as Verdict, GIVEN);
}

const own = () => ({ ...toJs(argsOf(GIVEN) as Json) as object });

test("the command is quoted as Python's shlex.join quotes it, and argv stands beside it", () => {
  assert.deepEqual(own(), { command: `echo 'a b' 'it'"'"'s' ''`, argv: GIVEN });
});

test("a verdict without args, or with the ones that were given, leaves the command as it is", () => {
  assert.deepEqual(commandOf(new Map() as Verdict, GIVEN), { ok: true, argv: GIVEN });
  assert.deepEqual(changed(own()), { ok: true, argv: GIVEN });
  assert.deepEqual(changed({ ...own(), note: "more" }), { ok: true, argv: GIVEN });
});

test("a changed command is split, a changed argv is taken as it is and wins", () => {
  assert.deepEqual(changed({ ...own(), command: `ls "a  b" $HOME` }), {
    ok: true,
    argv: ["ls", "a  b", "$HOME"],
  });
  assert.deepEqual(changed({ command: "rm", argv: ["ls", "", "~"] }), {
    ok: true,
    argv: ["ls", "", "~"],
  });
});

for (
  const [what, args] of Object.entries({
    "no argv": { argv: [] },
    "an empty program": { argv: [""] },
    "a number in argv": { argv: ["ls", 1] },
    "an argv that is a string": { argv: "ls" },
    "an argv of null": { argv: null },
    "a NUL in argv": { argv: ["ls", "a\0b"] },
    "an empty command": { command: "" },
    "a blank command": { command: " \t" },
    "a command that is a list": { command: ["ls"] },
    "a command of null": { command: null },
    "quotes that are not closed": { command: `ls "a` },
    "a bad argv beside a good command": { command: "ls", argv: [] },
  })
) {
  test(`a change to ${what} is refused, and the original is not run instead`, () => {
    const said = changed({ ...own(), ...args });
    assert.ok(!said.ok);
    assert.match(said.reason, /not run$/);
  });
}

const FACTS: ExecFacts = { tool: "terminal", session: "", cwd: "/", callId: "exec-1", argv: GIVEN };
const ENDS: Readonly<Record<string, ExecOutcome>> = {
  ok: { status: "ok", exit: 0, durationMs: 3, output: "x\ufffd" },
  "an exit code": { status: "error", exit: 7, durationMs: 3 },
  "a signal": { status: "error", exit: 143, signal: "SIGTERM", durationMs: 3 },
  "not found": { status: "error", exit: 127, message: "command not found", durationMs: 0 },
  blocked: { status: "blocked", exit: 2, message: "no", durationMs: 0 },
};

function assertShape(event: string, fields: Fields): void {
  const schema = payloadSchema(event) as Parameters<typeof z.fromJSONSchema>[0];
  const { telemetry } = findEvent(event)!;
  const wire = toWire(event, fields, { cwd: "/", profile: "default", telemetry });
  const said = z.fromJSONSchema(schema).safeParse(JSON.parse(writeJson(wire)));
  assert.ok(said.success, `${event}: ${said.error?.message}`);
}

test("every event that exec fires has the shape of the catalogue", () => {
  assertShape("pre_tool_call", facts.beforeFields(FACTS));
  assertShape("pre_approval_request", facts.approvalFields(FACTS, "why", undefined));
  assertShape("post_approval_response", facts.approvalFields(FACTS, "why", "rule", "deny"));
  for (const end of Object.values(ENDS)) {
    assertShape("post_tool_call", facts.afterFields(FACTS, end));
    assertShape("on_session_end", facts.reportFields("on_session_end", FACTS, end));
  }
});

test("the result is a JSON text with the exit code, and with what else is so", () => {
  const result = (end: string) =>
    JSON.parse(facts.afterFields(FACTS, ENDS[end]!).get("result") as string);
  assert.deepEqual(result("ok"), { exit_code: 0, output: "x\ufffd", error: null });
  assert.deepEqual(result("a signal"), { exit_code: 143, signal: "SIGTERM", error: null });
  assert.deepEqual(result("blocked"), { exit_code: 2, error: "no" });
});
