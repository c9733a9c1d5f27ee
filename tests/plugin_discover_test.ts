import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { problemText } from "../lib/events/problem.ts";
import { discoverPlugins } from "../lib/sources/plugin/discover.ts";
import { inHome, plugin } from "./programs/plugin_home.ts";

const CODE = "export function register() {}\n";

const discover = (home: string, ...names: string[]) =>
  discoverPlugins(
    home,
    names.map((name, i) => ({ name, path: `plugins.enabled[${i}]`, line: i + 3 })),
    path.join(home, "config.yaml"),
  );

test("a plugin is its folder, its plugin.yaml and the one file to load", async () => {
  const yaml = "name: guard\nversion: 1.0\ndescription: guards\nprovides_hooks: [pre_tool_call]\n";
  await inHome(plugin("guard", CODE, { yaml }), async (home) => {
    const { plugins, broken, problems } = await discover(home, "guard");
    const folder = path.join(home, "plugins", "guard");
    assert.deepEqual(problems, []);
    assert.deepEqual(broken, []);
    assert.deepEqual(plugins, [{
      name: "guard",
      folder,
      file: path.join(folder, "plugin.ts"),
      language: "script",
      version: "1.0",
      description: "guards",
      provides: ["pre_tool_call"],
    }]);
  });
});

test("plugin.ts, plugin.js, plugin.mjs and __init__.py are loaded, each in its language", async () => {
  const files = ["plugin.ts", "plugin.js", "plugin.mjs", "__init__.py"];
  const all = files.map((file, i) => plugin(`p${i}`, "", { file }));
  await inHome(Object.assign({}, ...all), async (home) => {
    const { plugins } = await discover(home, "p0", "p1", "p2", "p3");
    assert.deepEqual(plugins.map(({ file }) => path.basename(file)), files);
    assert.deepEqual(plugins.map((p) => p.language), ["script", "script", "script", "python"]);
  });
});

test("a plugin that cannot be read is one clear problem and takes no other down", async () => {
  const files = {
    ...plugin("good", CODE),
    ...plugin("both", CODE, { file: "plugin.ts" }),
    "plugins/both/__init__.py": "",
    "plugins/neither/plugin.yaml": "name: neither\n",
    "plugins/nameless/plugin.ts": CODE,
    ...plugin("broken", CODE, { yaml: "name: [x\n" }),
    ...plugin("list", CODE, { yaml: "- a\n" }),
  };
  await inHome(files, async (home) => {
    const names = ["absent", "both", "broken", "good", "list", "nameless", "neither"];
    const { plugins, broken, problems } = await discover(home, ...names);
    assert.deepEqual(plugins.map(({ name }) => name), ["good"]);
    assert.deepEqual(
      broken.map(({ name }) => name),
      ["absent", "both", "broken", "list", "nameless", "neither"],
    );
    const said = problems.map(problemText);
    assert.match(said[0]!, /^plugins\.enabled\[0\] \(config\.yaml:3\): no plugin "absent"/);
    assert.match(said[1]!, /plugin "both" is not loaded: plugin\.ts and __init__\.py/);
    assert.match(said[2]!, /^plugin\.yaml:1:7: plugin "broken" is not loaded: .*YAML/);
    assert.match(said[3]!, /plugin "list" is not loaded: plugin\.yaml is no mapping/);
    assert.match(said[4]!, /plugin "nameless" is not loaded: no plugin\.yaml/);
    assert.match(said[5]!, /plugin "neither" is not loaded: no plugin\.ts, .* or __init__\.py/);
    assert.equal(said.length, 6);
  });
});

test("hooks in place of provides_hooks gets a hint with its line", async () => {
  const yaml = "name: p\nhooks:\n  - pre_tool_call\n";
  await inHome(plugin("p", CODE, { yaml }), async (home) => {
    const { plugins, problems } = await discover(home, "p");
    assert.equal(plugins[0]!.provides, undefined);
    assert.deepEqual(problems.map((p) => [p.path, p.line]), [["hooks", 2]]);
    assert.match(problems[0]!.message, /provides_hooks/);
  });
});

test("an event that provides_hooks gets wrong is named, and the plugin is loaded to find out", async () => {
  const cases: [string, RegExp][] = [
    ["[pre_tool_cal]", /did you mean "pre_tool_call"/],
    ["[pre_tool_call, agent:end]", /HOOK\.yaml/],
    ["[pre_tool_call, 7]", /expected an event/],
    ["pre_tool_call", /expected a list of events/],
  ];
  for (const [value, message] of cases) {
    const yaml = `name: p\nprovides_hooks: ${value}\n`;
    await inHome(plugin("p", CODE, { yaml }), async (home) => {
      const { plugins, problems } = await discover(home, "p");
      assert.equal(plugins[0]!.provides, undefined, value);
      assert.equal(problems.length, 1);
      assert.match(problems[0]!.message, message);
      assert.match(problems[0]!.message, /plugin "p"/);
    });
  }
});

test("an empty provides_hooks, or none, says nothing about what is registered", async () => {
  for (const more of ["", "provides_hooks: []\n", "provides_hooks:\n"]) {
    await inHome(plugin("p", CODE, { yaml: `name: p\n${more}` }), async (home) => {
      const { plugins, problems } = await discover(home, "p");
      assert.equal(plugins[0]!.provides, undefined);
      assert.deepEqual(problems, []);
    });
  }
});

test("another name in plugin.yaml than the folder's is said, and the folder's counts", async () => {
  await inHome(plugin("p", CODE, { yaml: "name: q\n" }), async (home) => {
    const { plugins, problems } = await discover(home, "p");
    assert.equal(plugins[0]!.name, "p");
    assert.match(problems[0]!.message, /is "q", but the folder's name counts: "p"/);
  });
});
