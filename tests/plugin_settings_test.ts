import assert from "node:assert/strict";
import test from "node:test";
import { readSettings } from "../lib/config/settings.ts";
import { readYaml } from "../lib/config/yaml.ts";
import { settingsOf } from "./programs/plugin_home.ts";

const problemsOf = (yaml: string) =>
  readSettings(readYaml(yaml, "config.yaml").root, "config.yaml").problems;

test("without a plugins block none is enabled and the rest has its defaults", () => {
  for (const yaml of ["", "plugins:\n", "plugins: {enabled: }\n"]) {
    assert.deepEqual(settingsOf(yaml), {
      enabled: [],
      callbackTimeout: 30,
      streamReasoning: false,
      failClosed: false,
      memoryMb: 512,
    });
  }
});

test("enabled plugins are sorted by name, whatever the order in the config", () => {
  const { enabled } = settingsOf("plugins:\n  enabled:\n    - zeta\n    - Alpha\n    - beta\n");
  assert.deepEqual(enabled, [
    { name: "Alpha", path: "plugins.enabled[1]", line: 4 },
    { name: "beta", path: "plugins.enabled[2]", line: 5 },
    { name: "zeta", path: "plugins.enabled[0]", line: 3 },
  ]);
});

test("a bad item of plugins.enabled is one located problem and takes no sibling down", () => {
  const yaml = 'plugins:\n  enabled: [good, 7, "", ../up, a/b, .., good, "a\\\\b"]\n';
  assert.deepEqual(settingsOf(yaml).enabled.map(({ name }) => name), ["good"]);
  const problems = problemsOf(yaml);
  assert.deepEqual(problems.map((p) => [p.path, p.line]), [
    ["plugins.enabled[1]", 2],
    ["plugins.enabled[2]", 2],
    ["plugins.enabled[3]", 2],
    ["plugins.enabled[4]", 2],
    ["plugins.enabled[5]", 2],
    ["plugins.enabled[6]", 2],
    ["plugins.enabled[7]", 2],
  ]);
  assert.match(problems[2]!.message, /"\.\.\/up" is no name of a folder/);
});

test("a list that is none enables nothing and says so", () => {
  for (const yaml of ["plugins: [a]", "plugins: {enabled: a}", "plugins: {enabled: {a: 1}}"]) {
    assert.deepEqual(settingsOf(yaml).enabled, [], yaml);
    assert.equal(problemsOf(yaml).length, 1, yaml);
  }
});

test("the callback timeout goes from 0 to 600 seconds, and is 30 when it cannot be read", () => {
  const cases: [string, number, number][] = [
    ["0", 0, 0],
    ["2.5", 2.5, 0],
    ["600", 600, 0],
    ["601", 600, 1],
    ["-1", 30, 1],
    ["soon", 30, 1],
    [".nan", 30, 1],
    [".inf", 600, 1],
    ["null", 30, 0],
  ];
  for (const [value, seconds, problems] of cases) {
    const yaml = `plugins: {hook_callback_timeout: ${value}}`;
    assert.equal(settingsOf(yaml).callbackTimeout, seconds, value);
    assert.equal(problemsOf(yaml).length, problems, value);
  }
});

test("fail_closed and stream_reasoning_deltas are booleans; a word that says yes counts, warned", () => {
  const cases: [string, boolean, number][] = [
    ["true", true, 0],
    ["false", false, 0],
    ['"yes"', true, 1],
    ["1", false, 1],
    ["maybe", false, 1],
  ];
  for (const [value, on, problems] of cases) {
    for (const key of ["fail_closed", "stream_reasoning_deltas"]) {
      const yaml = `plugins: {${key}: ${value}}`;
      const settings = settingsOf(yaml);
      assert.equal(key === "fail_closed" ? settings.failClosed : settings.streamReasoning, on);
      assert.deepEqual(problemsOf(yaml).map((p) => p.path), Array(problems).fill(`plugins.${key}`));
    }
  }
});

test("a host's memory is a whole number of MiB, 0 for no bound", () => {
  assert.equal(settingsOf("hermes_hooks: {hosts: {memory_mb: 64}}").memoryMb, 64);
  assert.equal(settingsOf("hermes_hooks: {hosts: {memory_mb: 0}}").memoryMb, 0);
  for (const value of ["-1", "1.5", "lots"]) {
    const yaml = `hermes_hooks: {hosts: {memory_mb: ${value}}}`;
    assert.equal(settingsOf(yaml).memoryMb, 512);
    assert.equal(problemsOf(yaml)[0]!.path, "hermes_hooks.hosts.memory_mb");
  }
  assert.match(problemsOf("hermes_hooks: {hosts: {memory: 1}}")[0]!.message, /"memory_mb"/);
});

test("other keys of the plugins block belong to others", () => {
  assert.deepEqual(problemsOf("plugins: {disabled: [x], entries: {y: 1}}"), []);
});
