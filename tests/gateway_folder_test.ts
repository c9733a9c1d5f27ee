import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { problemText } from "../lib/events/problem.ts";
import { findGatewayFolders } from "../lib/sources/gateway/folder.ts";
import { gatewayHome, hookYaml } from "./programs/gateway_home.ts";

const TS = "export function handle() {}\n";

async function found(files: Record<string, string>) {
  const home = gatewayHome(files);
  const { hooks, problems } = await findGatewayFolders(home);
  fs.rmSync(home, { recursive: true });
  return { home, hooks, said: problems.map(problemText) };
}

test("hooks come in directory order, with what HOOK.yaml says of them", async () => {
  const { home, hooks, said } = await found({
    "b/HOOK.yaml": "name: second\ndescription: it's b\nevents: [agent:start, 'command:*']\n",
    "b/handler.py": "",
    "a/HOOK.yaml": hookYaml("agent:end"),
    "a/handler.mjs": TS,
    "Z/HOOK.yaml": hookYaml("gateway:startup"),
    "Z/handler.js": TS,
  });
  assert.deepEqual(said, []);
  assert.deepEqual(hooks.map(({ directory, name }) => [directory, name]), [
    ["Z", "Z"],
    ["a", "a"],
    ["b", "second"],
  ]);
  assert.deepEqual(hooks[2], {
    directory: "b",
    folder: path.join(home, "hooks", "b"),
    name: "second",
    description: "it's b",
    events: ["agent:start", "command:*"],
    handler: path.join(home, "hooks", "b", "handler.py"),
    language: "python",
  });
  assert.deepEqual(hooks.map(({ language }) => language), ["script", "script", "python"]);
});

test("a home without a hooks folder has no gateway hooks and no problems", async () => {
  const { hooks, said } = await found({});
  assert.deepEqual([hooks, said], [[], []]);
});

test("events given as one string are read as one item, and each event counts once", async () => {
  const one = await found({ "a/HOOK.yaml": "events: agent:end\n", "a/handler.ts": TS });
  assert.deepEqual(one.hooks[0]?.events, ["agent:end"]);
  const twice = await found({
    "a/HOOK.yaml": hookYaml("agent:end", "agent:*", "agent:end"),
    "a/handler.ts": TS,
  });
  assert.deepEqual(twice.hooks[0]?.events, ["agent:end", "agent:*"]);
  const several = await found({
    "a/HOOK.yaml": "events: agent:end, agent:start\n",
    "a/handler.ts": TS,
  });
  assert.deepEqual(several.hooks, []);
  assert.match(
    several.said[0]!,
    /unknown event "agent:end, agent:start".*several events are a list/,
  );
});

test("what is no event is told with its line and left out, the rest count", async () => {
  const { hooks, said } = await found({
    "a/HOOK.yaml": [
      "events:",
      "  - agent:end",
      "  - agent:ends",
      "  - 7",
      '  - "*"',
      '  - "a:b:*"',
      '  - "agents:*"',
      "  - pre_tool_call",
      "  - command:<name>",
      "  - [x]",
      "  - on",
      '  - "agent:*"',
      "",
    ].join("\n"),
    "a/handler.ts": TS,
  });
  assert.deepEqual(hooks[0]?.events, ["agent:end", "agent:*"]);
  const at = (index: number, line: number) => `hooks/a.events[${index}] (HOOK.yaml:${line}): `;
  assert.deepEqual(said, [
    `${at(1, 3)}unknown event "agent:ends": did you mean "agent:end"?; left out`,
    `${at(2, 4)}expected the name of an event; left out`,
    `${at(3, 5)}"*" alone is no event: name a base, such as "agent:*"; left out`,
    `${at(4, 6)}"a:b:*" is no event: a wildcard is a base and ":*", such as "command:*"; left out`,
    `${at(5, 7)}no event starts with "agents:"; left out`,
    `${
      at(6, 8)
    }unknown event "pre_tool_call": plugin event: belongs under hooks: in config.yaml, ` +
    "or in a plugin; left out",
    `${at(7, 9)}"command:<name>" stands for any: name one, or "command:*"; left out`,
    `${at(8, 10)}expected the name of an event; left out`,
    `${at(9, 11)}expected the name of an event; left out`,
  ]);
});

test("a directory that cannot be a hook is rejected by name, and the rest load", async () => {
  const { hooks, said } = await found({
    "bad-yaml/HOOK.yaml": "events: [agent:end\n",
    "bad-yaml/handler.ts": TS,
    "both/HOOK.yaml": hookYaml("agent:end"),
    "both/handler.py": "",
    "both/handler.ts": TS,
    "empty/HOOK.yaml": "",
    "empty/handler.ts": TS,
    "good/HOOK.yaml": hookYaml("agent:end"),
    "good/handler.ts": TS,
    "list/HOOK.yaml": "- agent:end\n",
    "list/handler.ts": TS,
    "no-events/HOOK.yaml": "name: x\n",
    "no-events/handler.ts": TS,
    "no-handler/HOOK.yaml": hookYaml("agent:end"),
    "no-yaml/handler.py": "",
    "none-left/HOOK.yaml": hookYaml("nothing"),
    "none-left/handler.ts": TS,
    "notes/README.md": "no hook, and no word about it",
    "null/HOOK.yaml": "events:\n",
    "null/handler.ts": TS,
    "yml/HOOK.yml": hookYaml("agent:end"),
    "yml/handler.ts": TS,
  });
  assert.deepEqual(hooks.map(({ directory }) => directory), ["good"]);
  const rejected = said.flatMap((text) =>
    /gateway hook "([^"]+)" is not loaded: (.*)/.exec(text)?.slice(1).join(": ") ?? []
  );
  assert.match(rejected.shift()!, /^bad-yaml: HOOK\.yaml:\d+:\d+: /);
  assert.deepEqual(rejected, [
    "both: it has handler.ts and handler.py, expected one",
    "empty: HOOK.yaml: expected a mapping",
    "list: HOOK.yaml: expected a mapping",
    "no-events: no events: name what it listens to",
    "no-handler: it has no handler.ts, handler.js, handler.mjs or handler.py",
    "no-yaml: it has no HOOK.yaml",
    "none-left: no events are left",
    "null: no events: name what it listens to",
    "yml: the file is called HOOK.yaml, not HOOK.yml",
  ]);
});

test("a name or description that is no text is told and passed over", async () => {
  const { hooks, said } = await found({
    "a/HOOK.yaml": "name: 7\ndescription: [x]\nevents: [agent:end]\nevents: [agent:start]\n",
    "a/handler.ts": TS,
  });
  assert.deepEqual([hooks[0]?.name, hooks[0]?.description], ["a", ""]);
  assert.deepEqual(hooks[0]?.events, ["agent:start"]);
  assert.equal(said.length, 3);
  assert.match(said[0]!, /^hooks\/a \(HOOK\.yaml:\d\): .*duplicate.*events/i);
  assert.match(said[1]!, /^hooks\/a\.name \(HOOK\.yaml:1\): expected text; ignored$/);
});

test("a HOOK.yaml that is a folder, or no UTF-8, rejects its directory", async () => {
  const home = gatewayHome({ "a/handler.ts": TS, "b/handler.ts": TS });
  fs.mkdirSync(path.join(home, "hooks/a/HOOK.yaml"));
  fs.writeFileSync(path.join(home, "hooks/b/HOOK.yaml"), new Uint8Array([0xff, 0xfe, 0x80]));
  const { hooks, problems } = await findGatewayFolders(home);
  assert.deepEqual(hooks, []);
  assert.deepEqual(problems.map(({ message, severity }) => [severity, message]), [
    ["error", 'gateway hook "a" is not loaded: HOOK.yaml is a folder, expected a file'],
    ["error", 'gateway hook "b" is not loaded: HOOK.yaml is not UTF-8 text'],
  ]);
  fs.rmSync(home, { recursive: true });
});
