import assert from "node:assert/strict";
import test from "node:test";
import { type Json, parseJson, writeJson } from "../lib/events/json.ts";
import type { Outcome } from "../lib/events/outcome.ts";
import { Failures } from "../lib/sources/failures.ts";
import { closedGate, pluginHook } from "../lib/sources/plugin/hook.ts";
import type { CallResult } from "../lib/sources/host/host.ts";
import { callOf } from "./programs/plugin_home.ts";

interface Options {
  readonly failClosed?: boolean;
  readonly callbackTimeout?: number;
  readonly fields?: string;
}

/** Runs one callback that ends so; what it was given and what was logged are kept. */
async function run(event: string, result: CallResult, options: Options = {}) {
  const given: { fields: Json; timeoutMs: number }[] = [];
  const log: string[] = [];
  const hook = pluginHook({
    plugin: "p",
    event,
    call: (fields, timeoutMs) => {
      given.push({ fields, timeoutMs });
      return Promise.resolve(result);
    },
  }, {
    callbackTimeout: options.callbackTimeout ?? 30,
    failClosed: options.failClosed ?? false,
    failures: new Failures((level, line) => void log.push(`${level} ${line}`)),
  });
  const outcome = await hook.run(callOf(event, options.fields));
  return { outcome, given: given[0]!, log, hook };
}

const returned = (json: string): CallResult => ({ kind: "returned", value: parseJson(json) });
const directiveOf = ({ directive }: Outcome) => directive && writeJson(directive);

test("a callback gets the bare fields, digits kept, with the telemetry marker last", async () => {
  const fields = '{"tool_name": "t", "telemetry_schema_version": "x", "args": {"n": 1.0, "2": 1}}';
  const { given } = await run("pre_tool_call", returned("null"), { fields });
  assert.equal(
    writeJson(given.fields),
    '{"tool_name": "t", "args": {"n": 1.0, "2": 1}, "telemetry_schema_version": "hermes.observer.v1"}',
  );
  const without = await run("gateway_platform_event", returned("null"), { fields: "{}" });
  assert.equal(writeJson(without.given.fields), "{}");
});

test("the setting bounds each callback, but subagent_stop, which ends at 600 s all the same", async () => {
  for (const [callbackTimeout, ms] of [[30, 30_000], [2.5, 2500], [0, 0]] as const) {
    const { given } = await run("post_tool_call", returned("null"), { callbackTimeout });
    assert.equal(given.timeoutMs, ms);
    const stop = await run("subagent_stop", returned("null"), { callbackTimeout });
    assert.equal(stop.given.timeoutMs, 600_000);
  }
});

test("what is returned is read as a plugin's answer", async () => {
  const block = await run("pre_tool_call", returned('{"action": "block", "message": "no"}'));
  assert.equal(directiveOf(block.outcome), '{"action": "block", "message": "no"}');
  assert.deepEqual([block.outcome.source, block.outcome.name], ["plugin", "p"]);
  const mute = await run("pre_tool_call", returned('{"action": "block"}'));
  assert.equal(mute.outcome.directive, undefined);
  assert.match(mute.outcome.warnings[0]!, /non-empty "message"/);
  const text = await run("pre_llm_call", returned('"remember"'));
  assert.equal(directiveOf(text.outcome), '{"context": "remember"}');
  const result = await run("transform_tool_result", returned('""'));
  assert.equal(directiveOf(result.outcome), '{"result": ""}');
  const none = await run("pre_tool_call", returned("null"));
  assert.equal(none.outcome.outcome, "none");
  assert.deepEqual(none.outcome.warnings, []);
  for (const odd of ["7", "[1]", "true", '"text"']) {
    assert.equal((await run("pre_tool_call", returned(odd))).outcome.outcome, "none", odd);
  }
});

test("an API error's classification is a plugin's to give", async () => {
  const answer = '{"reason": " Overloaded ", "retryable": true, "should_x": 1, "other": 2}';
  const { outcome } = await run("transform_api_error_classification", returned(answer));
  assert.equal(
    directiveOf(outcome),
    '{"classification": {"reason": "overloaded", "retryable": true}}',
  );
});

test("a callback that throws is a warning that names the plugin, and no opinion", async () => {
  const { outcome, log } = await run("pre_tool_call", { kind: "threw", error: "boom" });
  assert.equal(outcome.outcome, "failed");
  assert.equal(outcome.directive, undefined);
  assert.deepEqual(outcome.warnings, ['plugin "p": pre_tool_call callback threw: boom']);
  assert.deepEqual(log, ['warning plugin "p": pre_tool_call callback threw: boom']);
});

test("plugins.fail_closed makes a throw, or a lost host, a block on pre_tool_call alone", async () => {
  const lost: CallResult[] = [{ kind: "threw", error: "boom" }, { kind: "gone", error: "exited" }];
  for (const result of lost) {
    const { outcome } = await run("pre_tool_call", result, { failClosed: true });
    const { error } = result as { error: string };
    assert.equal(outcome.directive?.get("action"), "block");
    assert.match(String(outcome.directive?.get("message")), /^plugin "p": failed closed: .*/);
    assert.ok(String(outcome.directive?.get("message")).endsWith(error));
    for (const other of ["post_tool_call", "pre_llm_call"]) {
      const open = await run(other, result, { failClosed: true });
      assert.equal(open.outcome.directive, undefined);
      assert.equal(open.outcome.warnings.length, 1);
    }
    assert.equal((await run("pre_tool_call", result)).outcome.directive, undefined);
  }
});

test("an overrun, or one still running, blocks pre_tool_call with a message that says so", async () => {
  const cases: [CallResult, RegExp][] = [
    [{ kind: "overran", afterMs: 1500 }, /timed out after 1\.5s, so the tool call is blocked/],
    [{ kind: "stillRunning" }, /still running .* so the tool call is blocked/],
  ];
  for (const [result, message] of cases) {
    const { outcome } = await run("pre_tool_call", result);
    assert.equal(outcome.directive?.get("action"), "block");
    assert.match(String(outcome.directive?.get("message")), message);
    assert.match(String(outcome.directive?.get("message")), /plugin "p"/);
    const other = await run("pre_llm_call", result);
    assert.equal(other.outcome.directive, undefined);
    assert.equal(other.outcome.outcome, "failed");
    assert.equal(other.outcome.warnings.length, 1);
  }
});

test("an identical failure is logged once at warning, then at debug; another is new", () => {
  const log: string[] = [];
  const failures = new Failures((level, line) => void log.push(`${level} ${line}`));
  for (const line of ["a", "a", "b", "a"]) failures.say(line);
  assert.deepEqual(log, ["warning a", "debug a", "warning b", "debug a"]);
});

test("a gate that could not be loaded stands closed and says why", async () => {
  const { directive } = await closedGate("p", "could not be loaded: boom")
    .run(callOf("pre_tool_call"));
  assert.equal(
    directive && writeJson(directive),
    '{"action": "block", "message": "plugin \\"p\\": failed closed: could not be loaded: boom"}',
  );
});
