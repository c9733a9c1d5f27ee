import assert from "node:assert/strict";
import test from "node:test";
import { readListen, readServeSettings } from "../lib/config/serve_settings.ts";
import { readYaml } from "../lib/config/yaml.ts";

function read(text: string) {
  const { settings, problems } = readServeSettings(
    readYaml(text, "config.yaml").root,
    "config.yaml",
  );
  return {
    settings,
    problems: problems.map((p) => `${p.severity} ${p.path}:${p.line} ${p.message}`),
  };
}

test("without settings every one has its default", () => {
  assert.deepEqual(readServeSettings(undefined, "config.yaml"), {
    settings: {
      allowed_hosts: [],
      max_inflight: 256,
      stop_timeout: 10,
      body_timeout: 10,
      log_format: "auto",
      log_level: "info",
    },
    problems: [],
  });
});

test("good settings are taken, and null is as if absent", () => {
  const { settings, problems } = read(
    "listen: '[::1]:9000'\ntoken_env: HOOKS_TOKEN\nallowed_hosts: [hooks.example]\n" +
      "max_inflight: 8\nstop_timeout: 2.5\nlog_level: debug\nlog_format: json\nbody_timeout:\n",
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(settings, {
    listen: { host: "::1", port: 9000 },
    token_env: "HOOKS_TOKEN",
    allowed_hosts: ["hooks.example"],
    max_inflight: 8,
    stop_timeout: 2.5,
    body_timeout: 10,
    log_format: "json",
    log_level: "debug",
  });
});

test("a bad setting falls back alone, with its place and what was expected", () => {
  const { settings, problems } = read("max_inflight: 0\nstop_timeout: 5\nlog_level: loud\n");
  assert.equal(settings.max_inflight, 256);
  assert.equal(settings.stop_timeout, 5);
  assert.deepEqual(problems, [
    "warning hermes_hooks.serve.max_inflight:1 expected a whole number from 1 to 100000: events at work at the same time; using 256",
    'warning hermes_hooks.serve.log_level:3 expected debug, info, warning or error; using "info"',
  ]);
});

test("an unknown key is named with the nearest one", () => {
  assert.deepEqual(read("max_inflght: 3\n").problems, [
    'warning hermes_hooks.serve.max_inflght:1 unknown key "max_inflght", ignored: did you mean "max_inflight"?',
  ]);
});

test("a bad address or token variable is an error: nothing opens by accident", () => {
  const { settings, problems } = read("listen: 'a b'\ntoken_env: [x]\n");
  assert.equal(settings.listen, undefined);
  assert.deepEqual(problems.map((text) => text.split(" ").slice(0, 2).join(" ")), [
    "error hermes_hooks.serve.listen:1",
    "error hermes_hooks.serve.token_env:2",
  ]);
});

test("an address may be a host, a port, both, or nothing", () => {
  const cases: [string, string | undefined][] = [
    ["", "127.0.0.1 8645"],
    ["9000", "127.0.0.1 9000"],
    ["0.0.0.0", "0.0.0.0 8645"],
    ["localhost:0", "localhost 0"],
    ["[::1]:80", "::1 80"],
    ["::1", "::1 8645"],
    ["127.0.0.1:70000", undefined],
    [":8645", undefined],
    ["http://x", undefined],
  ];
  for (const [text, expected] of cases) {
    const address = readListen(text);
    assert.equal(address && `${address.host} ${address.port}`, expected, text);
  }
});
