import assert from "node:assert/strict";
import test from "node:test";
import { parseJson } from "../lib/events/json.ts";
import type { Host, HostSpec, Loaded } from "../lib/sources/host/host.ts";
import type { BrokenPlugin, Plugin } from "../lib/sources/plugin/discover.ts";
import { Plugins } from "../lib/sources/plugin/plugins.ts";
import { callOf, fakeHost, registered, settingsOf } from "./programs/plugin_home.ts";

const found = (name: string, provides?: readonly string[]): Plugin => ({
  name,
  folder: `/home/plugins/${name}`,
  file: `/home/plugins/${name}/plugin.ts`,
  language: "script",
  provides,
});

interface Set {
  readonly plugins: Plugins;
  readonly hosts: Map<string, Host & { closed: boolean; loads: number }>;
  readonly log: string[];
}

/** Plugins on hosts that answer with their own name. */
function setUp(
  loads: ReadonlyMap<Plugin, Loaded>,
  options: { yaml?: string; broken?: readonly BrokenPlugin[] } = {},
): Set {
  const hosts: Set["hosts"] = new Map();
  const log: string[] = [];
  const byFile = new Map([...loads].map(([{ file }, loaded]) => [file, loaded]));
  const plugins = new Plugins({
    plugins: [...loads.keys()],
    broken: options.broken ?? [],
    problems: [],
  }, {
    settings: settingsOf(options.yaml),
    env: { A: "1" },
    home: "/home",
    cwd: "/",
    log: (level, line) => void log.push(`${level} ${line}`),
    createHost: (spec: HostSpec) => {
      const answer = `{"context": "${spec.label.replaceAll('"', "")}"}`;
      const host = fakeHost(spec, byFile.get(spec.file)!, (callback) => ({
        kind: "returned",
        value: parseJson(answer.replace('"}', ` ${callback}"}`)),
      }));
      hosts.set(spec.file.split("/")[3]!, host);
      return host;
    },
  });
  return { plugins, hosts, log };
}

test("only the plugins that may want an event are started, each in a host of its own, once", async () => {
  const { plugins, hosts } = setUp(
    new Map([
      [found("a", ["post_tool_call"]), registered(["post_tool_call"])],
      [found("b", ["pre_tool_call"]), registered(["pre_tool_call"])],
      [found("c"), registered(["pre_llm_call"])],
    ]),
  );
  const { hooks, warnings } = await plugins.hooksFor("pre_tool_call");
  assert.deepEqual(hooks.map(({ name }) => name), ["b"]);
  assert.deepEqual(warnings, []);
  assert.deepEqual([...hosts.keys()], ["b", "c"]);
  await plugins.hooksFor("pre_tool_call");
  assert.deepEqual([...hosts.values()].map(({ loads }) => loads), [1, 1]);
  assert.deepEqual(hosts.get("b")!.spec, {
    language: "script",
    mode: "plugin",
    label: 'plugin "b"',
    file: "/home/plugins/b/plugin.ts",
    folder: "/home/plugins/b",
    env: { A: "1", HERMES_HOME: "/home" },
    cwd: "/",
    memoryMb: 512,
  });
});

test("hooks come by the plugins' names, then in each one's order of registration", async () => {
  const event = "pre_llm_call";
  const { plugins } = setUp(
    new Map([
      [found("a"), registered([event, "post_tool_call", event])],
      [found("b"), registered([event])],
    ]),
  );
  const { hooks } = await plugins.hooksFor(event);
  const outcomes = await Promise.all(hooks.map((hook) => hook.run(callOf(event))));
  assert.deepEqual(
    outcomes.map(({ directive }) => directive?.get("context")),
    ["plugin a 0", "plugin a 2", "plugin b 0"],
  );
});

test("a plugin that cannot be loaded is a warning for the events it may want, others run", async () => {
  const { plugins, log } = setUp(
    new Map<Plugin, Loaded>([
      [found("a"), { ok: false, error: "boom" }],
      [found("b"), registered(["pre_tool_call"])],
      [found("c", ["pre_llm_call"]), { ok: false, error: "boom" }],
    ]),
  );
  const { hooks, warnings } = await plugins.hooksFor("pre_tool_call");
  assert.deepEqual(hooks.map(({ name }) => name), ["b"]);
  assert.deepEqual(warnings, ['plugin "a" could not be loaded: boom']);
  assert.deepEqual(log, ['warning plugin "a" could not be loaded: boom']);
});

test("with plugins.fail_closed a plugin that may be a gate and is not there blocks", async () => {
  const { plugins } = setUp(
    new Map<Plugin, Loaded>([
      [found("a", ["pre_tool_call"]), { ok: false, error: "boom" }],
      [found("c", ["post_tool_call"]), { ok: false, error: "boom" }],
    ]),
    {
      yaml: "plugins: {fail_closed: true}",
      broken: [{ name: "b", reason: "no plugin.yaml in its folder" }],
    },
  );
  const { hooks } = await plugins.hooksFor("pre_tool_call");
  const messages = await Promise.all(
    hooks.map(async (hook) => (await hook.run(callOf("pre_tool_call"))).directive?.get("message")),
  );
  assert.deepEqual(messages, [
    'plugin "a": failed closed: could not be loaded: boom',
    'plugin "b": failed closed: no plugin.yaml in its folder',
  ]);
  assert.deepEqual((await plugins.hooksFor("pre_llm_call")).hooks, []);
});

test("declared but not registered, the reverse, and an unknown event are warnings", async () => {
  const { plugins } = setUp(
    new Map([[
      found("a", ["pre_tool_call", "pre_llm_call"]),
      registered(["pre_llm_call", "post_tool_call", "pre_tool_cal", "agent:end"]),
    ]]),
  );
  const [one] = await plugins.loadAll();
  const { warnings, hooks } = one!;
  assert.equal(hooks.length, 2);
  assert.equal(warnings.length, 4);
  assert.match(warnings[0]!, /unknown event "pre_tool_cal", ignored: did you mean "pre_tool_call"/);
  assert.match(warnings[1]!, /unknown event "agent:end", ignored: gateway event/);
  assert.match(warnings[2]!, /declares pre_tool_call in provides_hooks and registers no callback/);
  assert.match(warnings[3]!, /registers post_tool_call and does not declare it/);
  // What guards nothing is said where it was to guard.
  assert.deepEqual((await plugins.hooksFor("pre_tool_call")).warnings, [warnings[2]]);
});

test("a plugin that is loaded counts with all it registered, declared or not", async () => {
  const { plugins } = setUp(
    new Map([[found("a", ["pre_llm_call"]), registered(["pre_llm_call", "pre_tool_call"])]]),
  );
  assert.deepEqual((await plugins.hooksFor("pre_tool_call")).hooks, []);
  await plugins.hooksFor("pre_llm_call");
  assert.equal((await plugins.hooksFor("pre_tool_call")).hooks.length, 1);
});

test("what is not provided here is a note, and the plugin's hooks still work", async () => {
  const warning = "not provided by hermes-hooks: register_tool";
  const loaded = registered(["pre_llm_call"], { warnings: [warning] } as Partial<Loaded>);
  const { plugins } = setUp(new Map([[found("a"), loaded]]));
  const [one] = await plugins.loadAll();
  assert.deepEqual(one!.notes, [`plugin "a": ${warning}`]);
  assert.deepEqual(one!.warnings, []);
  assert.equal(one!.hooks.length, 1);
});

test("closing ends every host; retiring waits until nobody holds them", async () => {
  const { plugins, hosts } = setUp(new Map([[found("a"), registered([])]]));
  await plugins.loadAll();
  const release = plugins.hold();
  plugins.retire();
  assert.equal(hosts.get("a")!.closed, false);
  release();
  assert.equal(hosts.get("a")!.closed, true);
  await plugins.close();
});
