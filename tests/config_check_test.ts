import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { readArgs, UsageError } from "../lib/cli/args.ts";
import { configCommand } from "../lib/cli/config_check.ts";
import { KINDS } from "../lib/cli/config_check/kinds.ts";
import { sarifLog } from "../lib/cli/config_check/sarif.ts";
import type { Io } from "../lib/cli/io.ts";

interface Problem {
  severity: string;
  rule: string;
  file: string;
  path?: string;
  line?: number;
  column?: number;
  message: string;
}

/** Lays files (by path, below a fresh folder), and takes the folder away again. */
async function withFiles(
  files: Readonly<Record<string, string>>,
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "hooks-check-")));
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text, { mode: 0o644 });
    }
    fs.chmodSync(folder, 0o755);
    await run(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function check(folder: string, words: readonly string[], env = {}) {
  let out = "";
  const io = { stdoutTty: false, out: (text: string) => (out += text, true) } as unknown as Io;
  const context = {
    home: folder,
    configFile: path.join(folder, "config.yaml"),
    profile: "custom",
    env: { HOME: folder, PATH: "/usr/bin:/bin", ...env },
    startFolder: folder,
    now: () => new Date(),
    log: () => {},
  };
  const exit = await configCommand(readArgs(["config", "check", ...words]), io, context);
  return { exit, out };
}

async function problemsOf(folder: string, words: readonly string[], env = {}) {
  const { exit, out } = await check(folder, [...words, "--json"], env);
  const shown = JSON.parse(out) as { problems: Problem[]; ok: boolean; files: string[] };
  assert.equal(shown.ok, exit === 0);
  return { exit, ...shown };
}

async function inConfig(yaml: string) {
  let found: Problem[] = [];
  await withFiles({ "c.yaml": yaml }, async (folder) => {
    found = (await problemsOf(folder, ["c.yaml"])).problems;
  });
  return found;
}

const brief = ({ severity, rule, path = "", line, column }: Problem) =>
  `${line ?? ""}:${column ?? ""} ${severity} ${rule} ${path}`;

test("each kind of problem has its rule, its level and its place", async () => {
  const cases: [string, string][] = [
    ["hooks: [", "1:8 error yaml-syntax "],
    ["- a", "1:1 error yaml-syntax "],
    ["agent: {a: 1, a: 2}", "1:15 warning duplicate-key agent.a"],
    ["hooks:\n  pre_tool_cal: []", "2:3 warning unknown-event hooks.pre_tool_cal"],
    ["hooks: {on_session_end: x}", "1:9 warning hook-entry hooks.on_session_end"],
    [
      "hooks: {pre_tool_call: [{command: x, a: 1}]}",
      "1:38 warning unknown-key hooks.pre_tool_call[0].a",
    ],
    [
      "hooks: {pre_tool_call: [{command: x, matcher: '(('}]}",
      "1:38 warning matcher hooks.pre_tool_call[0].matcher",
    ],
    [
      'hooks: {pre_tool_call: [{command: "\'x"}]}',
      "1:25 error hook-command hooks.pre_tool_call[0]",
    ],
    [
      "hooks: {output_spill: {max_chars: x}}",
      "1:24 warning setting hooks.output_spill.max_chars",
    ],
    ["hooks: {outbound: [{url: 5}]}", "1:21 warning outbound-target hooks.outbound[0].url"],
    [
      "hooks: {outbound: [{url: 'https://a', events: [on_session_end], secret: 5}]}",
      "1:65 error outbound-secret hooks.outbound[0].secret",
    ],
    ["plugins: {enabled: [a/b]}", "1:21 warning plugin plugins.enabled[0]"],
    ["hermes_hooks: {serve: {listen: 'a b'}}", "1:24 error setting hermes_hooks.serve.listen"],
    ["hermes_hooks: {x: 1}", "1:16 warning unknown-key hermes_hooks.x"],
  ];
  for (const [yaml, expected] of cases) {
    assert.deepEqual((await inConfig(yaml)).map(brief), [expected], yaml);
  }
});

test("a fail_closed hook that will not run is an error, whatever costs it", async () => {
  const lost = [
    "hooks: {pre_tool_cal: [{command: x, fail_closed: true}]}",
    "hooks: {PreToolUse: [{matcher: a, hooks: [{command: x, fail_closed: true}]}]}",
    "hooks: {pre_tool_call: {command: x, fail_closed: true}}",
    "hooks: {pre_tool_call: [[{command: x, fail_closed: true}]]}",
    "hooks: [{command: x, fail_closed: true}]",
    "hooks: {pre_tool_call: [{command: '', failClosed: 'yes'}]}",
    "hooks: {pre_tool_call: [{fail_closed: true}]}",
    "hooks: {pre_tool_call: [{command: x, args: [a], fail_closed: true}]}",
    "hooks: {pre_tool_call: [{command: x}], pre_tool_cal: [{command: x, fail_closed: true}]}",
    "hooks: {transform_api_error_classification: [{command: x, fail_closed: true}]}",
    "hooks: {agent:end: [{command: x, fail_closed: true}]}",
    "hooks: {pre_tool_call: [{command: x, fail_closed: true}]}\nhooks: {}",
    "hooks:\n  pre_tool_call: [{command: x, fail_closed: true}]\n  pre_tool_call: []",
  ];
  for (const yaml of lost) {
    const errors = (await inConfig(yaml)).filter(({ severity }) => severity === "error");
    assert.equal(errors.length, 1, yaml);
    assert.match(errors[0]!.message, /UNARMED/, yaml);
  }
  const kept = [
    "hooks: {pre_tool_call: [{command: x, fail_closed: true}]}",
    "hooks: {pre_tool_call: [{command: x, fail_closed: true}, {command: ' x ', fail_closed: true}]}",
    "hooks: {on_session_end: [{command: x, fail_closed: true}]}",
    "hooks: {pre_tool_cal: [{command: x, fail_closed: false}]}",
    "hooks: {pre_tool_cal: [{command: x, fail_closed: , failClosed: maybe}]}",
  ];
  for (const yaml of kept) {
    const errors = (await inConfig(yaml)).filter(({ severity }) => severity === "error");
    assert.deepEqual(errors, [], yaml);
  }
});

test("a file alone says the same whatever the machine has, and notes what it does not ask", async () => {
  const yaml = `hooks:
  pre_tool_call:
    - command: \${HOOKS}/check.sh
    - command: /nowhere/check.sh
      fail_closed: true
  outbound:
    - url: \${CI_URL}
      events: [on_session_end]
    - url: https://a.example
      events: [on_session_end]
      secret_env: CI_SECRET
      ca_file: ./not-here.pem
    - url: https://b.example
      events: [on_session_end]
      secret: \${CI_SECRET}
plugins: {enabled: [not-here]}
`;
  await withFiles({ "c.yaml": yaml }, async (folder) => {
    const bare = await problemsOf(folder, ["c.yaml"]);
    assert.deepEqual(
      bare.problems.map(brief),
      [
        "3:7 note not-checked hooks.pre_tool_call[0].command",
        "7:7 note not-checked hooks.outbound[0].url",
        "11:7 note not-checked hooks.outbound[1].secret_env",
        "12:7 note not-checked hooks.outbound[1].ca_file",
        "15:7 note not-checked hooks.outbound[2].secret",
      ],
    );
    assert.equal(bare.exit, 0);
    const env = { CI_SECRET: "s", CI_URL: "nonsense", HOOKS: "/x" };
    assert.deepEqual(await problemsOf(folder, ["c.yaml"], env), bare);
  });
});

test("HOOK.yaml and plugin.yaml are told by name and checked with their folder", async () => {
  const files = {
    "good/HOOK.yaml": "events: [agent:end]\n",
    "good/handler.py": "",
    "nohandler/HOOK.yaml": "events:\n  - agent:end\n",
    "slip/HOOK.yaml": "events:\n  - agent:ends\n  - agent:end\n",
    "slip/handler.py": "",
    "broken/HOOK.yaml": "events: [\n",
    "misnamed/hook.yml": "events: [agent:end]\n",
    "guard/plugin.yaml": "name: guard\nprovides_hooks: [pre_tool_call]\n",
    "guard/plugin.ts": "",
    "empty/plugin.yaml": "name: other\n",
    "list/plugin.yaml": "- a\n",
    "list/plugin.ts": "",
  };
  const expected: [string, string[]][] = [
    ["good/HOOK.yaml", []],
    ["good", []],
    ["nohandler/HOOK.yaml", [": error gateway-hook hooks/nohandler"]],
    ["slip", ["2:5 warning unknown-event hooks/slip.events[0]"]],
    ["broken/HOOK.yaml", ["1:9 error yaml-syntax hooks/broken"]],
    ["misnamed/hook.yml", [": error gateway-hook hooks/misnamed"]],
    ["guard/plugin.yaml", []],
    ["guard", []],
    ["empty", ["1:1 warning plugin name", ": error plugin "]],
    ["list/plugin.yaml", ["1:1 error plugin "]],
    ["nowhere.yaml", [": error unreadable "]],
    [".", [": error unreadable "]],
  ];
  await withFiles(files, async (folder) => {
    for (const [word, briefs] of expected) {
      const { problems } = await problemsOf(folder, [word]);
      assert.deepEqual(problems.map(brief).sort(), briefs.sort(), word);
    }
  });
});

test("a folder that is a home is looked into, with every hook and plugin in it", async () => {
  const files = {
    "h/config.yaml": "plugins: {enabled: [a, missing]}\n",
    "h/plugins/a/plugin.yaml": "name: a\nhooks: [x]\n",
    "h/plugins/a/plugin.ts": "",
    "h/plugins/b/plugin.yaml": "provides_hooks: 5\n",
    "h/plugins/b/plugin.ts": "",
    "h/hooks/c/HOOK.yaml": "events: ['*']\n",
  };
  await withFiles(files, async (folder) => {
    const { problems, files: seen } = await problemsOf(folder, ["h"]);
    assert.deepEqual([...new Set(problems.map(({ file }) => path.relative(folder, file)))].sort(), [
      "h/config.yaml",
      "h/hooks/c/HOOK.yaml",
      "h/plugins/a/plugin.yaml",
      "h/plugins/b/plugin.yaml",
    ]);
    assert.equal(seen.length, 4);
  });
});

test("without FILE the home is checked with its machine: variables, commands, approvals, owners", async () => {
  const files = {
    "config.yaml":
      "hooks:\n  pre_tool_call:\n    - command: /nowhere/x.sh\n      fail_closed: true\n" +
      "    - command: cat\n  outbound:\n    - url: https://a.example\n" +
      "      events: [on_session_end]\n      secret_env: SECRET\n",
    "shell-hooks-allowlist.json": '{"approvals": 5}',
    "plugins/off/plugin.yaml": "- a\n",
  };
  await withFiles(files, async (folder) => {
    fs.chmodSync(path.join(folder, "config.yaml"), 0o666);
    const { problems, exit } = await problemsOf(folder, []);
    assert.equal(exit, 1);
    assert.deepEqual(problems.map(({ severity, rule }) => `${severity} ${rule}`).sort(), [
      "error hook-command",
      "error outbound-secret",
      "error plugin",
      "error unarmed-gate",
      "warning allowlist",
      "warning writable-by-others",
    ]);
    const { problems: fewer } = await problemsOf(folder, ["--accept-hooks"], { SECRET: "s" });
    const rules = fewer.map(({ rule }) => rule);
    assert.ok(!rules.includes("unarmed-gate") && !rules.includes("outbound-secret"));
  });
});

test("a broken config does not hide what is wrong beside it, and a home with nothing is fine", async () => {
  await withFiles({
    "config.yaml": "hooks: {\n",
    "hooks/a/HOOK.yaml": "name: a\n",
    "shell-hooks-allowlist.json": "[]",
  }, async (folder) => {
    const { problems } = await problemsOf(folder, []);
    assert.deepEqual(problems.map(({ rule }) => rule).sort(), [
      "allowlist",
      "gateway-hook",
      "yaml-syntax",
    ]);
  });
  await withFiles({}, async (folder) => {
    const { exit, out } = await check(folder, []);
    assert.equal(exit, 0);
    assert.match(out, /nothing to check/);
  });
});

test("for people there is one line a finding with its place, then the counts", async () => {
  const yaml = "hooks:\n  pre_tool_cal:\n    - command: x\nagent: {max_verify_nudges: x}\n";
  await withFiles({ "ci/c.yaml": yaml }, async (folder) => {
    const { exit, out } = await check(folder, ["ci/c.yaml"]);
    assert.equal(exit, 0);
    const lines = out.trimEnd().split("\n");
    assert.match(lines[0]!, /^ci\/c\.yaml:2:3 warning hooks\.pre_tool_cal: .* \[unknown-event\]$/);
    assert.match(lines[1]!, /^ci\/c\.yaml:4:9 warning agent\.max_verify_nudges: .* \[setting\]$/);
    assert.equal(lines.at(-1), "⚠ 0 errors, 2 warnings in 1 file");
  });
});

interface Sarif {
  $schema: string;
  version: string;
  runs: {
    tool: { driver: { name: string; version: string; rules: { id: string }[] } };
    columnKind: string;
    artifacts: { location: { uri: string } }[];
    results: {
      ruleId: string;
      ruleIndex: number;
      level: string;
      message: { text: string };
      locations: {
        physicalLocation: {
          artifactLocation: { uri: string };
          region?: { startLine: number; startColumn?: number };
        };
      }[];
    }[];
  }[];
}

test("SARIF has all that the standard requires, relative URIs and places", async () => {
  const yaml = "hooks:\n  pre_tool_cal: []\n  pre_tool_call: [{command: '${X}'}]\n";
  await withFiles({ "a b/ü.yaml": yaml, "d/HOOK.yaml": "events: [agent:end]" }, async (folder) => {
    const { exit, out } = await check(folder, ["a b/ü.yaml", "d", "gone.yaml", "--sarif"]);
    assert.equal(exit, 1);
    const log = JSON.parse(out) as Sarif;
    assert.equal(log.version, "2.1.0");
    assert.equal(log.runs.length, 1);
    const { tool, results, artifacts, columnKind } = log.runs[0]!;
    assert.equal(tool.driver.name, "hermes-hooks");
    assert.match(tool.driver.version, /^\d+\.\d+\.\d+/);
    assert.ok(!("informationUri" in tool.driver));
    assert.deepEqual(tool.driver.rules.map(({ id }) => id), Object.keys(KINDS));
    assert.equal(columnKind, "unicodeCodePoints");
    assert.equal(artifacts[0]!.location.uri, "a%20b/%C3%BC.yaml");
    assert.deepEqual(results.map(({ level }) => level), ["warning", "note", "error", "error"]);
    for (const { ruleId, ruleIndex, level, message, locations } of results) {
      assert.equal(tool.driver.rules[ruleIndex]!.id, ruleId);
      assert.ok(["error", "warning", "note"].includes(level));
      assert.ok(message.text.length > 0);
      assert.equal(locations.length, 1);
      const { artifactLocation, region } = locations[0]!.physicalLocation;
      assert.ok(!artifactLocation.uri.startsWith("/") && !artifactLocation.uri.includes("\\"));
      if (region) assert.ok(region.startLine >= 1 && (region.startColumn ?? 1) >= 1);
    }
    assert.deepEqual(results[0]!.locations[0]!.physicalLocation.region, {
      startLine: 2,
      startColumn: 3,
    });
  });
});

test("a SARIF message holds no placeholder and no link, and a file elsewhere is a whole URL", () => {
  const finding = { level: "error", kind: "plugin", file: "/x/c.yaml", path: "" } as const;
  const message = "expected {0} or [a](b), not [c]";
  const log = sarifLog({ files: [], findings: [{ ...finding, message }] }, "/y");
  const result = log.runs[0]!.results[0]!;
  assert.equal(result.message.text, "expected {{0}} or \\[a](b), not [c]");
  assert.equal(result.locations[0]!.physicalLocation.artifactLocation.uri, "file:///x/c.yaml");
});

test("what cannot be meant is a usage error", async () => {
  const run = (words: string[]) =>
    configCommand(
      readArgs(["config", ...words]),
      {} as Io,
      {} as Parameters<typeof configCommand>[2],
    );
  for (
    const words of [[], ["chek"], ["check", "--json", "--sarif"], ["check", "a", "--home", "b"]]
  ) {
    await assert.rejects(run(words), UsageError, words.join(" "));
  }
});
