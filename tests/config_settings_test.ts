import assert from "node:assert/strict";
import test from "node:test";
import { readSettings } from "../lib/config/settings.ts";
import { readYaml } from "../lib/config/yaml.ts";

const read = (yaml: string) => readSettings(readYaml(yaml, "config.yaml").root, "config.yaml");

test("without a config every setting has its default and nothing is a problem", () => {
  const settings = readSettings(undefined, "config.yaml");
  assert.deepEqual(settings.problems, []);
  assert.equal(settings.maxVerifyNudges, 3);
  assert.deepEqual(settings.spill, {
    enabled: true,
    maxChars: 10_000,
    previewHead: 500,
    previewTail: 500,
    directory: undefined,
  });
});

test("a bad value falls back to its default and is one located problem", () => {
  const bad: [string, string][] = [
    ["agent: {max_verify_nudges: lots}", "agent.max_verify_nudges"],
    ["agent: {max_verify_nudges: -1}", "agent.max_verify_nudges"],
    ["hooks: {output_spill: {max_chars: 1.5}}", "hooks.output_spill.max_chars"],
    ["hooks: {output_spill: {enabled: maybe}}", "hooks.output_spill.enabled"],
    ["hooks: {output_spill: {directory: [x]}}", "hooks.output_spill.directory"],
    ["hooks: {output_spill: 7}", "hooks.output_spill"],
    ["hooks_auto_accept: 1", "hooks_auto_accept"],
    ["hermes_hooks: 5", "hermes_hooks"],
    ["hermes_hooks: {sevre: {}}", "hermes_hooks.sevre"],
  ];
  for (const [yaml, path] of bad) {
    const { problems, maxVerifyNudges, spill } = read(yaml);
    assert.deepEqual(problems.map((p) => [p.path, p.line]), [[path, 1]], yaml);
    assert.equal(maxVerifyNudges, 3);
    assert.equal(spill.maxChars, 10_000);
  }
});

test("an unknown key of ours is met with the nearest known one", () => {
  assert.match(read("hermes_hooks: {sevre: {}}").problems[0]!.message, /did you mean "serve"/);
});

test("the variables that hold secrets are known by name", () => {
  const { secretNames } = read(
    "hooks:\n  outbound:\n    - {url: x, secret_env: A}\n    - {secret_env: [B, C]}\n" +
      "    - {secret_env: D E}\n    - nonsense\nhermes_hooks: {serve: {token_env: T}}\n",
  );
  assert.deepEqual([...secretNames].sort(), ["A", "B", "C", "D", "E", "T"]);
});
