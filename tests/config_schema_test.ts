/**
 * The schema of the config and the loaders, which are written by hand, say the same: the same keys,
 * the same defaults, the same bounds, and the same of every value of a corpus.
 */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { queueSchema, readQueueSettings } from "../lib/config/queue_settings.ts";
import { z } from "zod";
import {
  CALLBACK_TIMEOUT,
  HOOK_KEYS,
  HOOK_TIMEOUT,
  HOST_KEYS,
  KEPT_MAX_QUEUE,
  OWN_KEYS,
  TARGET_KEYS,
  TARGET_LIMITS,
} from "../lib/config/bounds.ts";
import type { ConfigNode } from "../lib/config/node.ts";
import { configSchema } from "../lib/config/schema/config.ts";
import { hookYamlSchema, pluginManifestSchema } from "../lib/config/schema/folders.ts";
import {
  describedSchema,
  editorSchema,
  type JsonSchema,
} from "../lib/config/schema/json_schema.ts";
import { readServeSettings, serveSchema } from "../lib/config/serve_settings.ts";
import { readSettings } from "../lib/config/settings.ts";
import { readYaml } from "../lib/config/yaml.ts";
import { catalog } from "../lib/events/catalog.ts";
import { hintFor } from "../lib/events/names.ts";
import { payloadSchema } from "../lib/events/payload_schema.ts";
import { toWire } from "../lib/events/payload.ts";
import { sampleFields } from "../lib/events/sample.ts";
import { writeJson } from "../lib/events/json.ts";
import { readTargets } from "../lib/outbound/target.ts";
import { readEntries } from "../lib/sources/shell/entry.ts";

const ROOT = describedSchema(configSchema);
const EDITOR = z.fromJSONSchema(
  editorSchema(configSchema, true) as Parameters<typeof z.fromJSONSchema>[0],
);

function schemaAt(...keys: string[]): JsonSchema {
  return keys.reduce((schema, key) => schema.properties![key]!, ROOT);
}
const keysOf = (schema: JsonSchema) => Object.keys(schema.properties ?? {});
const target = ROOT.definitions!.outbound_target!;
const gate = ROOT.definitions!.gate_hook!;

/** What the loaders say of a config, each problem as `path: message`. */
function loaded(yaml: string) {
  const { root } = readYaml(yaml, "config.yaml");
  const settings = readSettings(root, "config.yaml");
  const entries = readEntries(root, "config.yaml", hintFor);
  const serve = readServeSettings(settings.serve, "config.yaml");
  const targets = readTargets(root, "config.yaml", { SECRET: "s", OLD: "o" });
  const queue = readQueueSettings(root, "config.yaml");
  const problems = [settings, entries, serve, targets, queue]
    .flatMap((part) => part.problems.map(({ path, message }) => `${path}: ${message}`));
  return { settings, entries, serve, targets, problems };
}

function plain(node: ConfigNode | undefined): unknown {
  if (node === undefined) return {};
  if (node.kind === "list") return node.items.map(plain);
  if (node.kind === "map") {
    return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value)]));
  }
  return typeof node.value === "bigint" ? Number(node.value) : node.value;
}

test("schema and loaders know the same keys", () => {
  assert.deepEqual(keysOf(gate).sort(), [...HOOK_KEYS].sort());
  assert.deepEqual(keysOf(target).sort(), [...TARGET_KEYS].sort());
  assert.deepEqual(keysOf(schemaAt("hermes_hooks")).sort(), [...OWN_KEYS].sort());
  assert.deepEqual(
    keysOf(schemaAt("hermes_hooks", "outbound")),
    Object.keys(queueSchema.shape),
  );
  assert.deepEqual(keysOf(schemaAt("hermes_hooks", "hosts")), [...HOST_KEYS]);
  assert.deepEqual(keysOf(schemaAt("hermes_hooks", "serve")), Object.keys(serveSchema.shape));
});

test("every key of the schema is read: a wrong kind of value under it is told by a loader", () => {
  const wrong = "[[{}]]";
  const inBlock = (block: string[], key: string) =>
    block.reduceRight((inner, name) => `{${name}: ${inner}}`, `{${key}: ${wrong}}`);
  for (
    const block of [
      ["hooks"],
      ["hooks", "output_spill"],
      ["plugins"],
      ["agent"],
      ["hermes_hooks"],
      ["hermes_hooks", "serve"],
      ["hermes_hooks", "hosts"],
    ]
  ) {
    for (const key of keysOf(schemaAt(...block))) {
      const path = [...block, key].join(".");
      const { problems } = loaded(inBlock(block, key));
      assert.ok(problems.some((problem) => problem.startsWith(path)), `${path} is not read`);
    }
  }
  const rest = (keys: string[], key: string) => keys.filter((each) => each !== key).join(", ");
  for (const key of keysOf(gate)) {
    const entry = `{${rest(["command: x"], key === "command" ? "command: x" : "")}}`;
    const yaml = `hooks: {pre_tool_call: [${
      entry.replace(/}$/, `, ${key}: ${wrong}}`).replace("{, ", "{")
    }]}`;
    assert.match(
      loaded(yaml).problems.join("\n"),
      new RegExp(`pre_tool_call\\[0\\]\\.${key}`),
      key,
    );
  }
  for (const key of keysOf(target)) {
    const base = { url: "https://a.example", events: "[post_tool_call]" };
    const entry = Object.entries({ ...base, [key]: wrong }).map(([k, v]) => `${k}: ${v}`).join(
      ", ",
    );
    const { problems } = loaded(`hooks: {outbound: [{${entry}}]}`);
    assert.ok(problems.some((p) => p.startsWith(`hooks.outbound[0].${key}`)), `${key} is not read`);
  }
});

test("schema and loaders have the same defaults", () => {
  const { settings, serve } = loaded("");
  const defaultOf = (...keys: string[]) => schemaAt(...keys).default;
  const { spill, plugins } = settings;
  const pairs: [unknown, unknown][] = [
    [defaultOf("hooks", "output_spill", "enabled"), spill.enabled],
    [defaultOf("hooks", "output_spill", "max_chars"), spill.maxChars],
    [defaultOf("hooks", "output_spill", "preview_head"), spill.previewHead],
    [defaultOf("hooks", "output_spill", "preview_tail"), spill.previewTail],
    [defaultOf("plugins", "enabled"), plugins.enabled],
    [defaultOf("plugins", "hook_callback_timeout"), plugins.callbackTimeout],
    [defaultOf("plugins", "stream_reasoning_deltas"), plugins.streamReasoning],
    [defaultOf("plugins", "fail_closed"), plugins.failClosed],
    [defaultOf("agent", "max_verify_nudges"), settings.maxVerifyNudges],
    [defaultOf("hermes_hooks", "hosts", "memory_mb"), plugins.memoryMb],
  ];
  for (const [said, used] of pairs) assert.deepEqual(said, used);
  for (const [key, used] of Object.entries(serve.settings)) {
    assert.deepEqual(defaultOf("hermes_hooks", "serve", key), used, key);
  }
  const [entry] = loaded("hooks: {pre_tool_call: [{command: x}]}").entries.entries;
  assert.equal(gate.properties!.timeout!.default, entry!.timeout);
  assert.equal(gate.properties!.fail_closed!.default, entry!.failClosed);
  const [made] = loaded("hooks: {outbound: [{url: 'https://a.example', events: [post_tool_call]}]}")
    .targets.targets;
  const { options } = made!;
  const { timeout, concurrency, max_queue, rate_limit_per_second, format, redact, network } = target
    .properties!;
  assert.equal(timeout!.default, options.timeout);
  assert.equal(concurrency!.default, options.concurrency);
  assert.equal(max_queue!.default, options.maxQueue);
  assert.equal(rate_limit_per_second!.default, options.ratePerSecond);
  assert.equal(format!.default, options.format);
  assert.equal(redact!.default, options.redact);
  assert.equal(network!.properties!.private!.default, options.network.private);
});

/** A number at, just inside and just outside its bounds, and what a loader says of it. */
function edges({ from, to }: { from: number; to: number }): [number, boolean][] {
  return [[from, true], [to, true], [from - 0.01, false], [to + 1, false]];
}

test("schema and loaders have the same bounds", () => {
  const own = (name: string, key: string, value: number) =>
    `hermes_hooks: {${name}: {${key}: ${value}}}`;
  const hook = (value: number) => `hooks: {pre_tool_call: [{command: x, timeout: ${value}}]}`;
  const outbound = (key: string, value: number) =>
    `hooks: {outbound: [{url: "https://a.example", events: [post_tool_call], ${key}: ${value}}]}\n` +
    "hermes_hooks: {outbound: {queue: sqlite}}";
  const plugin = (value: number) => `plugins: {hook_callback_timeout: ${value}}`;
  const cases: [string, boolean][] = [
    ...edges(HOOK_TIMEOUT).map(([value, good]): [string, boolean] => [hook(value), good]),
    ...edges(CALLBACK_TIMEOUT).map(([value, good]): [string, boolean] => [plugin(value), good]),
    // With a queue that keeps deliveries max_queue goes higher; the schema cannot know which it is.
    ...Object.entries({ ...TARGET_LIMITS, max_queue: KEPT_MAX_QUEUE }).flatMap(([key, bounds]) =>
      edges(bounds).map(([value, good]): [string, boolean] => [outbound(key, value), good])
    ),
    ...["max_inflight", "stop_timeout", "body_timeout"].flatMap((key) => {
      const { minimum: from, maximum: to } = schemaAt("hermes_hooks", "serve", key);
      return edges({ from: from!, to: to! })
        .map(([value, good]): [string, boolean] => [own("serve", key, value), good]);
    }),
    [own("hosts", "memory_mb", 0), true],
    [own("hosts", "memory_mb", -1), false],
  ];
  for (const [yaml, good] of cases) judgeAlike(yaml, good);
});

function judgeAlike(yaml: string, good: boolean): void {
  const value = plain(readYaml(yaml, "config.yaml").root);
  const { problems } = loaded(yaml);
  assert.equal(
    problems.length === 0,
    good,
    `loaders of ${yaml}: ${problems.join("\n") || "silent"}`,
  );
  const said = configSchema.safeParse(value);
  assert.equal(said.success, good, `schema of ${yaml}: ${said.error?.message ?? "silent"}`);
}

const hook = (rest: string) => `hooks: {pre_tool_call: [{command: x, ${rest}}]}`;
const send = (rest: string) =>
  `hooks: {outbound: [{url: "https://a.example/x", events: [post_tool_call], ${rest}}]}`;
const serve = (rest: string) => `hermes_hooks: {serve: {${rest}}}`;

const GOOD = [
  "",
  "hooks:",
  "hooks: {}",
  "plugins:",
  "agent:",
  "hermes_hooks:",
  "model: {name: x}",
  "hooks: {pre_tool_call: }",
  "hooks: {pre_tool_call: []}",
  "hooks: {outbound: }",
  "hooks: {output_spill: }",
  "hooks: {output_spill: {enabled: no, max_chars: 0, other: 1}}",
  "hooks: {output_spill: {max_chars: , directory: spill}}",
  hook("matcher: terminal"),
  hook("matcher: "),
  hook("timeout: 10"),
  hook('timeout: "10"'),
  hook('timeout: " +1_0 "'),
  hook("timeout: 5.9"),
  hook("timeout: 1:30"),
  hook("fail_closed: yes"),
  hook("fail_closed: "),
  hook("failClosed: true"),
  "hooks: {post_tool_call: [{command: x, matcher: t, fail_closed: false}]}",
  'hooks: {on_session_end: [{command: " x ", matcher: ""}]}',
  "hooks_auto_accept: ",
  "hooks_auto_accept: on",
  'hooks_auto_accept: " Yes "',
  'hooks_auto_accept: "0"',
  "plugins: {enabled: }",
  "plugins: {enabled: [a, b.c]}",
  "plugins: {hook_callback_timeout: 0.5}",
  "plugins: {fail_closed: , stream_reasoning_deltas: true, entries: {a: 1}}",
  "agent: {max_verify_nudges: 0, max_turns: 90}",
  "hermes_hooks: {serve: , outbound: , hosts: }",
  "hermes_hooks: {outbound: {}}",
  "hermes_hooks: {hosts: {memory_mb: }}",
  serve("listen: true"),
  serve("listen: false"),
  serve("listen: 8645"),
  serve('listen: "[::1]:1"'),
  serve("listen: , token_env: TOKEN, allowed_hosts: [a.example]"),
  serve("log_level: error"),
  send("name: 7"),
  send("name: x"),
  send("matcher: t"),
  send('timeout: "1.5"'),
  send("timeout: "),
  send("secret_env: SECRET"),
  send("secret_env: SECRET OLD"),
  send("secret_env: [SECRET, OLD]"),
  send("secret: s"),
  send("secrets: [s, t]"),
  send("headers: {X-A: b, X-B: 7}"),
  send("format: standard, secret: s"),
  send("redact: true, network: {private: deny}"),
  send("network: , headers: , redact: , format: "),
  send("rate_limit_per_second: 0.5"),
];

const BAD = [
  "hooks: 5",
  "hooks: []",
  "hooks: {pre_tool_cal: []}",
  "hooks: {agent:end: []}",
  "hooks: {transform_api_error_classification: []}",
  "hooks: {pre_tool_call: x}",
  "hooks: {pre_tool_call: {command: x}}",
  "hooks: {pre_tool_call: [x]}",
  "hooks: {pre_tool_call: [{}]}",
  'hooks: {pre_tool_call: [{command: " "}]}',
  "hooks: {pre_tool_call: [{command: }]}",
  hook("args: [a]"),
  hook("tiemout: 3"),
  hook("matcher: 5"),
  hook("timeout: soon"),
  hook("timeout: "),
  hook('timeout: "5.9"'),
  hook('timeout: "500"'),
  hook("timeout: [5]"),
  hook('fail_closed: "true"'),
  hook("fail_closed: 1"),
  hook("failClosed: maybe"),
  "hooks: {on_session_end: [{command: x, matcher: t}]}",
  "hooks: {on_session_end: [{command: x, fail_closed: true}]}",
  "hooks: {output_spill: 5}",
  "hooks: {output_spill: {enabled: 1}}",
  "hooks: {output_spill: {enabled: }}",
  "hooks: {output_spill: {max_chars: 1.5}}",
  "hooks: {output_spill: {preview_tail: '5'}}",
  "hooks: {output_spill: {directory: 5}}",
  "hooks_auto_accept: 1",
  "hooks_auto_accept: maybe",
  "hooks_auto_accept: []",
  "plugins: 5",
  "plugins: {enabled: a}",
  "plugins: {enabled: [a/b]}",
  "plugins: {enabled: ['..']}",
  "plugins: {enabled: [a, a]}",
  "plugins: {enabled: [5]}",
  "plugins: {enabled: ['']}",
  "plugins: {hook_callback_timeout: '30'}",
  "plugins: {fail_closed: 'yes'}",
  "agent: {max_verify_nudges: '3'}",
  "hermes_hooks: 5",
  "hermes_hooks: {sevre: 1}",
  "hermes_hooks: {outbound: 5}",
  "hermes_hooks: {outbound: {queue: disk}}",
  "hermes_hooks: {hosts: 5}",
  "hermes_hooks: {hosts: {memory: 5}}",
  "hermes_hooks: {hosts: {memory_mb: 1.5}}",
  "hermes_hooks: {serve: 5}",
  serve("listen: 'a b'"),
  serve("listen: 70000"),
  serve("token_env: 'a b'"),
  serve("allowed_hosts: a"),
  serve("allowed_hosts: ['']"),
  serve("max_inflight: 1.5"),
  serve("log_level: loud"),
  serve("port: 1"),
  "hooks: {outbound: 5}",
  "hooks: {outbound: [x]}",
  "hooks: {outbound: [{}]}",
  "hooks: {outbound: [{url: 'ftp://a', events: [post_tool_call]}]}",
  "hooks: {outbound: [{url: 'https://', events: [post_tool_call]}]}",
  "hooks: {outbound: [{url: 'https://a.example', events: []}]}",
  "hooks: {outbound: [{url: 'https://a.example', events: post_tool_call}]}",
  "hooks: {outbound: [{url: 'https://a.example', events: [agent:end]}]}",
  send("nmae: x"),
  send("name: ''"),
  send("name: []"),
  send("matcher: 5"),
  send("timeout: soon"),
  send('timeout: "61"'),
  send("secret_env: 'a-b'"),
  send("secret_env: []"),
  send("secret: 5"),
  send("secret: ''"),
  send("secrets: x"),
  send("secrets: ['']"),
  send("headers: x"),
  send("headers: {'a b': c}"),
  send("headers: {X-A: true}"),
  send("ca_file: 5"),
  send("format: xml"),
  send("redact: 'yes'"),
  send("network: deny"),
  send("network: {private: maybe}"),
  send("network: {privat: deny}"),
];

test("what the loaders take in silence the schema accepts, and what one refuses the other does", () => {
  for (const yaml of GOOD) judgeAlike(yaml, true);
  for (const yaml of BAD) judgeAlike(yaml, false);
});

test("the schema is stricter only where Python's int() is odd", () => {
  for (const yaml of [hook("timeout: true"), hook("timeout: 300.5"), hook("timeout: '٣'")]) {
    assert.deepEqual(loaded(yaml).problems, [], yaml);
    assert.equal(configSchema.safeParse(plain(readYaml(yaml, "c").root)).success, false, yaml);
  }
});

test("the JSON Schema for editors accepts all that is good, and most of what is not is marked", () => {
  for (const yaml of GOOD) {
    const said = EDITOR.safeParse(plain(readYaml(yaml, "c").root));
    assert.ok(said.success, `${yaml}: ${said.error?.message}`);
  }
  // What only code can tell, such as a repeated name, is left to config check.
  const missed = BAD.filter((yaml) => EDITOR.safeParse(plain(readYaml(yaml, "c").root)).success);
  assert.ok(missed.length <= 8, missed.join("\n"));
});

test("a ${NAME} where a pattern stands is not marked in an editor", () => {
  for (
    const yaml of [
      hook('timeout: "${T}"'),
      "hooks: {outbound: [{url: '${U}', events: [post_tool_call]}]}",
    ]
  ) {
    assert.ok(EDITOR.safeParse(plain(readYaml(yaml, "c").root)).success, yaml);
  }
});

test("the JSON Schema describes every key, is draft 7, and points to nothing outside", () => {
  const text = JSON.stringify(editorSchema(configSchema, true));
  assert.match(text, /^\{"\$schema":"http:\/\/json-schema.org\/draft-07\/schema#"/);
  const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!);
  assert.ok(refs.length > 40);
  for (const ref of refs) assert.ok(ROOT.definitions![ref.replace("#/definitions/", "")], ref);
  const bare = (schema: JsonSchema, path: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, each]) => [
      ...(each.description || each.$ref ? [] : [`${path}.${key}`]),
      ...bare(each, `${path}.${key}`),
    ]);
  assert.deepEqual(bare(ROOT, ""), []);
  for (const [name, each] of Object.entries(ROOT.definitions!)) {
    assert.deepEqual(bare(each, name), []);
  }
  assert.doesNotMatch(text, /"rule":|"doc":|9007199254740991/);
});

test("plugin.yaml and HOOK.yaml have schemas that know a good file from a bad one", () => {
  const judge = (schema: z.ZodType, yaml: string) =>
    schema.safeParse(plain(readYaml(yaml, "c").root)).success;
  const hooks = [
    "events: [agent:end, 'command:*', command:model]",
    "events: agent:end",
    "name: a\nevents: ['session:*']",
  ];
  for (const yaml of hooks) assert.ok(judge(hookYamlSchema, yaml), yaml);
  for (
    const yaml of [
      "name: x",
      "events: []",
      "events: [agent:ends]",
      "events: ['*']",
      "events: [pre_tool_call]",
    ]
  ) {
    assert.ok(!judge(hookYamlSchema, yaml), yaml);
  }
  for (
    const yaml of ["name: a", "name: a\nversion: 1.0\nprovides_hooks: [pre_tool_call]", "kind: x"]
  ) {
    assert.ok(judge(pluginManifestSchema, yaml), yaml);
  }
  for (
    const yaml of ["hooks: [a]", "provides_hooks: pre_tool_call", "provides_hooks: [agent:end]"]
  ) {
    assert.ok(!judge(pluginManifestSchema, yaml), yaml);
  }
});

test("the sample of every variant of every event is good by the schema of its payload", () => {
  for (const row of catalog()) {
    const schema = z.fromJSONSchema(
      payloadSchema(row.name) as Parameters<typeof z.fromJSONSchema>[0],
    );
    for (const { name } of row.variants) {
      const fields = sampleFields(row, name);
      const { telemetry } = row;
      const whole = row.kind === "gateway"
        ? fields
        : toWire(row.name, fields, { cwd: "/p", profile: "default", telemetry });
      const said = schema.safeParse(JSON.parse(writeJson(whole)));
      assert.ok(said.success, `${row.name} ${name}: ${said.error?.message}`);
    }
    assert.equal(
      schema.safeParse({}).success,
      row.kind === "gateway" && row.fields.every((f) => !f.required),
    );
  }
  assert.equal(payloadSchema("pre_tool_cal"), undefined);
});

/** The files that `file` loads at once, and those that they load; imports on demand do not count. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.endsWith(".ts")) return seen;
  const text = fs.readFileSync(file, "utf8");
  for (const [, what = ""] of text.matchAll(/^(?:import|export)(?! type)[^;]*? from "([^"]+)"/gm)) {
    loadedBy(what.startsWith(".") ? path.join(path.dirname(file), what) : what, seen);
  }
  return seen;
}

test("what fire loads at its start knows nothing of zod and the schemas", () => {
  const files = [...loadedBy(path.join(import.meta.dirname!, "..", "lib", "cli", "main.ts"))];
  assert.ok(files.some((file) => file.endsWith("bounds.ts")));
  assert.deepEqual(files.filter((file) => /^zod|config\/schema\/|serve_settings/.test(file)), []);
});
