import assert from "node:assert/strict";
import test from "node:test";
import type { ConfigNode, ScalarNode } from "../lib/config/node.ts";
import { acceptedWithoutAsking } from "../lib/consent/accept.ts";

const scalar = (value: ScalarNode["value"], type = "str"): ConfigNode => (
  { kind: "scalar", value, type, line: 1, column: 1 }
);
const accepted = (flag: boolean, env: Record<string, string>, configValue?: ConfigNode) =>
  acceptedWithoutAsking({ flag, env, configValue });

test("nothing given approves nothing", () => {
  assert.equal(accepted(false, {}), undefined);
});

test("the flag comes before the environment, the environment before the config", () => {
  const env = { HERMES_ACCEPT_HOOKS: "1" };
  assert.equal(accepted(true, env, scalar(true)), "--accept-hooks");
  assert.equal(accepted(false, env, scalar(true)), "HERMES_ACCEPT_HOOKS");
  assert.equal(accepted(false, {}, scalar(true)), "hooks_auto_accept");
});

test("the environment says yes with 1, true, yes or on, in any case, and with nothing else", () => {
  for (const text of ["1", "true", "YES", " On "]) {
    assert.equal(accepted(false, { HERMES_ACCEPT_HOOKS: text }), "HERMES_ACCEPT_HOOKS", text);
  }
  for (const text of ["", "0", "y", "2", "false", "no", "off", "1 1", "enable"]) {
    assert.equal(accepted(false, { HERMES_ACCEPT_HOOKS: text }), undefined, text);
  }
});

test("the config says yes with true or one of those strings, but not with a bare 1", () => {
  for (const value of [true, "1", "yes", " ON", "true"]) {
    assert.equal(accepted(false, {}, scalar(value)), "hooks_auto_accept", String(value));
  }
  for (const value of [1n, 1, false, null, "y", ""]) {
    assert.equal(accepted(false, {}, scalar(value)), undefined, String(value));
  }
  const list: ConfigNode = { kind: "list", items: [scalar(true)], line: 1, column: 1 };
  assert.equal(accepted(false, {}, list), undefined);
});
