import assert from "node:assert/strict";
import test from "node:test";
import { fromJs, type JsonObject, toJs, writeJson } from "../lib/events/json.ts";
import { isSecretName, redactText, redactWire } from "../lib/outbound/redact.ts";
import { call } from "./programs/outbound_outbox.ts";

// Put together at run time, so that no scanner takes this file for a leak.
const shape = (...parts: string[]) => parts.join("");

test("keys named like secrets are known, and those that only sound like it are not", () => {
  const yes = [
    "password",
    "DB_PASSWORD",
    "apiKey",
    "API_KEY",
    "x-api-key",
    "client_secret",
    "accessToken",
    "Authorization",
    "Set-Cookie",
    "aws_secret_access_key",
    "private_key",
    "PGPASSWORD",
    "accesstoken",
    "SecretKey",
    "password2",
  ];
  const no = [
    "max_tokens",
    "total_tokens",
    "rule_key",
    "session_key",
    "author",
    "key",
    "keys",
    "tokenizer",
    "path",
    "secretary",
    "tokens",
    "keyword",
    "monkey",
    "idempotency_key",
  ];
  assert.deepEqual(yes.filter((name) => !isSecretName(name)), []);
  assert.deepEqual(no.filter(isSecretName), []);
});

test("well-known token shapes go from any text, and what is around them stays", () => {
  const tokens = [
    shape("sk", "-ant-api03-", "A".repeat(40)),
    shape("gh", "p_", "a1B2".repeat(9)),
    shape("github", "_pat_", "a".repeat(30)),
    shape("xox", "b-1234567890-abcdefghij"),
    shape("AK", "IA", "ABCDEFGHIJKLMNOP"),
    shape("AI", "za", "x".repeat(35)),
    shape("ey", "JhbGciOiJI.", "eyJzdWIiOiIx.", "c2lnbmF0dXJl"),
    shape("gl", "pat-", "abcdefghij0123456789"),
    shape("-----BEGIN ", "PRIVATE KEY-----\nMII\n-----END ", "PRIVATE KEY-----"),
  ];
  for (const token of tokens) {
    const { text, count } = redactText(`before ${token} after`);
    assert.deepEqual([text, count], ["before [redacted] after", 1], token.slice(0, 12));
  }
});

test("what a telling word announces goes: headers, URLs with passwords, assignments, options", () => {
  const redacted = (text: string) => redactText(text).text;
  assert.equal(
    redacted("curl -H 'Authorization: Bearer abc.def-123' https://x.test"),
    "curl -H 'Authorization: Bearer [redacted]' https://x.test",
  );
  assert.equal(
    redacted("git clone https://me:pa55@x.test/r"),
    "git clone https://me:[redacted]@x.test/r",
  );
  assert.equal(redacted("export DB_PASSWORD=hunter2; ls"), "export DB_PASSWORD=[redacted]; ls");
  assert.equal(redacted('{"api_key": "abcdef"}'), '{"api_key": "[redacted]"}');
  assert.equal(redacted("tool --password hunter2 -v"), "tool --password [redacted] -v");
  for (
    const text of ["max_tokens=4096", "PASSWORD=$PASSWORD make", "--token-file x", "see key: value"]
  ) {
    assert.equal(redacted(text), text);
  }
});

test("a wire form is redacted by key and by shape, says so in extra, and is itself untouched", () => {
  const { wire } = call("pre_tool_call", {
    headers: { authorization: "Basic abcd", accept: "*/*" },
    max_tokens: 5,
    items: [{ password: 1234 }, { password: null }],
  }, "terminal");
  const before = writeJson(wire);
  const redacted = redactWire(wire);
  assert.equal(writeJson(wire), before);
  assert.equal(
    writeJson(redacted.get("extra")!),
    '{"headers": {"authorization": "[redacted]", "accept": "*/*"}, "max_tokens": 5, ' +
      '"items": [{"password": "[redacted]"}, {"password": null}], "redacted_values": 2, ' +
      '"telemetry_schema_version": "hermes.observer.v1"}',
  );
});

test("a wire form without anything of the kind comes back as it is", () => {
  const { wire } = call("on_session_end", { completed: true });
  assert.equal(redactWire(wire), wire);
});

test("tool_input is redacted too, and a count joins an extra that had none", () => {
  const wire = fromJs({ tool_input: { env: { TOKEN: "abc" } }, extra: {} }) as JsonObject;
  assert.deepEqual(JSON.parse(JSON.stringify(toJs(redactWire(wire)))), {
    tool_input: { env: { TOKEN: "[redacted]" } },
    extra: { redacted_values: 1 },
  });
});

test("a megabyte of hostile text takes no longer than it should", () => {
  const hostile = [
    "eyJ-".repeat(250_000),
    "-----BEGIN PRIVATE KEY-----".repeat(40_000),
    "a".repeat(1_000_000),
    "password".repeat(120_000),
    "a:".repeat(500_000),
    "--a ".repeat(250_000),
    "http://".repeat(150_000),
    "bearer ".repeat(150_000),
  ];
  for (const text of hostile) {
    const began = performance.now();
    redactText(text);
    assert.ok(performance.now() - began < 2_000, text.slice(0, 10));
  }
});
