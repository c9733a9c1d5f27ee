/** `init`: a home laid out, ready-made hooks installed, a config added to; nothing replaced. */
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { type Io, processIo } from "../lib/cli/io.ts";
import { main } from "../lib/cli/main.ts";
import { readYaml } from "../lib/config/yaml.ts";
import { CONFIG_TEXT } from "../lib/ready/config_text.ts";
import { insertEntries } from "../lib/ready/insert.ts";
import { readyHooks } from "../lib/ready/ready.ts";

const fresh = () => fs.mkdtempSync(path.join(os.tmpdir(), "init-"));

async function cli(home: string, ...argv: string[]) {
  let out = "";
  let err = "";
  const io: Io = {
    ...processIo(),
    stdoutTty: false,
    out: (text) => (out += text, true),
    err: (text) => (err += text, true),
  };
  return { code: await main([...argv, "--home", home], io), out, err };
}

/** Every file and folder below, with mode and text. */
function snapshot(folder: string): string[] {
  return (fs.readdirSync(folder, { recursive: true }) as string[]).sort().map((name) => {
    const file = path.join(folder, name);
    const stat = fs.lstatSync(file);
    const text = stat.isFile() ? fs.readFileSync(file, "utf8") : "";
    return `${name} ${stat.mode.toString(8)} ${text}`;
  });
}
const modeOf = (file: string) => fs.statSync(file).mode & 0o777;

test("init lays out a home for its owner alone, whose config turns nothing on", async () => {
  const home = path.join(fresh(), "deep", "home");
  const { code, out, err } = await cli(home, "init");
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(out.match(/made /g)?.length, 6);
  for (const name of ["", "agent-hooks", "hooks", "plugins", "logs"]) {
    assert.equal(modeOf(path.join(home, name)), 0o700);
  }
  const file = path.join(home, "config.yaml");
  assert.equal(modeOf(file), 0o600);
  assert.equal(fs.readFileSync(file, "utf8"), CONFIG_TEXT);
  assert.equal(readYaml(CONFIG_TEXT, "config.yaml").root, undefined);
  assert.equal((await cli(home, "list")).code, 0);
});

test("the new config is one without problems once its lines are turned on", async () => {
  const home = fresh();
  const on = CONFIG_TEXT.replace(/^# /gm, "").replace(/^##.*$/gm, "").replace(
    /^ +secret_env.*\n/m,
    "",
  );
  fs.writeFileSync(path.join(home, "config.yaml"), on);
  const { out } = await cli(home, "list", "--json");
  const { hooks, problems } = JSON.parse(out) as { hooks: unknown[]; problems: unknown[] };
  assert.deepEqual([hooks.length, problems], [2, []]);
});

test("init on a home with everything in it changes nothing and says so", async () => {
  const home = fresh();
  await cli(home, "init", "--with", "block-rm-rf,boot-md");
  fs.writeFileSync(path.join(home, "config.yaml"), "hooks: # mine\n", { mode: 0o644 });
  fs.chmodSync(home, 0o755);
  fs.writeFileSync(path.join(home, "agent-hooks", "block-rm-rf.sh"), "# mine\n");
  fs.appendFileSync(path.join(home, "hooks", "boot-md", "HOOK.yaml"), "# mine\n");
  const before = snapshot(home);
  const { code, out } = await cli(home, "init", "--with", "block-rm-rf", "--with", "boot-md");
  assert.equal(code, 0);
  assert.deepEqual(snapshot(home), before);
  assert.equal(modeOf(home), 0o755);
  assert.doesNotMatch(out, /✓/);
  assert.match(out, /kept .*config\.yaml: it is there already/);
  assert.match(out, /⚠ kept .*block-rm-rf\.sh: is not the ready-made one/);
  assert.match(out, /⚠ kept .*boot-md: is not the ready-made one/);
});

test("init follows no link that stands where a file should be made", async () => {
  const home = fresh();
  const outside = path.join(fresh(), "outside");
  fs.mkdirSync(path.join(home, "agent-hooks"));
  fs.symlinkSync(outside, path.join(home, "agent-hooks", "secret-scan.sh"));
  fs.symlinkSync(outside, path.join(home, "config.yaml"));
  const { code } = await cli(home, "init", "--with", "secret-scan");
  assert.equal(code, 0);
  assert.ok(!fs.existsSync(outside));
});

test("init installs every ready-made hook as it stands in hooks/, shell hooks executable", async () => {
  const home = fresh();
  const all = readyHooks();
  assert.ok(all.length >= 5);
  const { code, out } = await cli(home, "init", "--with", all.map(({ name }) => name).join(","));
  assert.equal(code, 0);
  const hooks = path.join(path.dirname(import.meta.dirname!), "hooks");
  for (const { name, kind, files } of all) {
    for (const file of files.keys()) {
      const shell = kind === "shell";
      const to = shell
        ? path.join(home, "agent-hooks", file)
        : path.join(home, "hooks", name, file);
      const from = shell ? path.join(hooks, file) : path.join(hooks, "gateway", name, file);
      assert.equal(fs.readFileSync(to, "utf8"), fs.readFileSync(from, "utf8"));
      if (shell) assert.equal(modeOf(to), 0o755);
    }
  }
  assert.match(out, /add to .*config\.yaml, or run it again with --write/);
  assert.equal(fs.readFileSync(path.join(home, "config.yaml"), "utf8"), CONFIG_TEXT);
  assert.ok(!fs.existsSync(path.join(home, "shell-hooks-allowlist.json")));
});

test("hooks written by init are listed, unapproved until allowed, and then pass doctor", async () => {
  const home = path.join(fresh(), "it's a home");
  const names = readyHooks().filter(({ kind }) => kind === "shell").map(({ name }) => name);
  const made = await cli(home, "init", "--write", ...names.flatMap((name) => ["--with", name]));
  assert.equal(made.code, 0);
  assert.match(made.out, /they run once you approve them:\n {2}hermes-hooks allow /);
  assert.ok(fs.readFileSync(path.join(home, "config.yaml"), "utf8").startsWith(CONFIG_TEXT));
  const listed = JSON.parse((await cli(home, "list", "--json")).out);
  assert.deepEqual(listed.problems, []);
  assert.equal(listed.hooks.length, names.length);
  assert.equal((await cli(home, "doctor")).code, 1);
  assert.equal((await cli(home, "allow", "--all")).code, 0);
  const doctor = await cli(home, "doctor");
  assert.equal(doctor.code, 0, doctor.out);
  for (
    const [event, tool] of [["pre_tool_call", "terminal"], ["post_tool_call", "patch"]] as const
  ) {
    assert.equal((await cli(home, "test", event, "--for-tool", tool)).code, 0);
  }
  for (const event of ["pre_llm_call", "subagent_stop"]) {
    assert.equal((await cli(home, "test", event)).code, 0);
  }
});

test("--write adds once, keeps mode and comments, and goes through a link", async () => {
  const home = fresh();
  const target = path.join(fresh(), "real.yaml");
  const text =
    "# top\nmodel: x   # of others\nhooks:\n  # before\n  on_session_start: []   # none\n" +
    "  pre_tool_call:\n  - command: ./mine.sh   # mine\n    # about mine\n\nother: 'y' # end";
  fs.writeFileSync(target, text);
  fs.chmodSync(target, 0o640);
  fs.symlinkSync(target, path.join(home, "config.yaml"));
  const first = await cli(home, "init", "--with", "block-rm-rf", "--write");
  assert.equal(first.code, 0, first.err);
  const after = fs.readFileSync(target, "utf8");
  const command = path.join(home, "agent-hooks", "block-rm-rf.sh");
  const lines =
    `  - matcher: terminal\n    command: ${command}\n    timeout: 5\n    fail_closed: true\n`;
  assert.equal(after, text.replace("    # about mine\n", `    # about mine\n${lines}`));
  assert.equal(modeOf(target), 0o640);
  assert.ok(fs.lstatSync(path.join(home, "config.yaml")).isSymbolicLink());
  const second = await cli(home, "init", "--with", "block-rm-rf", "--write");
  assert.match(second.out, /already: hooks\.pre_tool_call/);
  assert.equal(fs.readFileSync(target, "utf8"), after);
});

const ENTRY = { event: "pre_tool_call", keys: { matcher: "a|b", command: "/x/y.sh", timeout: 5 } };
const insert = (text: string) => insertEntries(text, "config.yaml", [ENTRY], (a, b) => a === b);

test("an entry is inserted at its place, and the rest of the file stays byte by byte", async () => {
  const item = (pad: string) =>
    `${pad}- matcher: a|b\n${pad}  command: /x/y.sh\n${pad}  timeout: 5\n`;
  const whole = `hooks:\n  pre_tool_call:\n${item("    ")}`;
  const cases: [string, string][] = [
    ["", whole],
    ["# only this", `# only this\n\n${whole}`],
    ["a: 1\n", `a: 1\n\n${whole}`],
    ["a: 1\n\n", `a: 1\n\n${whole}`],
    ["\ufeffa: 1\n", `\ufeffa: 1\n\n${whole}`],
    ["a: 1\r\n", `a: 1\r\n\r\n${whole.replaceAll("\n", "\r\n")}`],
    ["hooks:   # c\na: 1\n", `hooks:   # c\n  pre_tool_call:\n${item("    ")}a: 1\n`],
    [
      "hooks:\n    pre_tool_call: # c\n    x: []\n",
      `hooks:\n    pre_tool_call: # c\n${item("      ")}    x: []\n`,
    ],
    [
      "hooks:\n    x: [] # c\n      # deeper\n# top\na: 1\n",
      `hooks:\n    x: [] # c\n      # deeper\n    pre_tool_call:\n${item("      ")}# top\na: 1\n`,
    ],
    [
      "hooks:\n  pre_tool_call:\n    - command: |\n        x\n\n    - {command: z}",
      `hooks:\n  pre_tool_call:\n    - command: |\n        x\n\n    - {command: z}\n${
        item("    ")
      }`,
    ],
    [
      "a: &x 1\nhooks:\n  pre_tool_call:\n  - command: z\n    timeout: *x\n",
      `a: &x 1\nhooks:\n  pre_tool_call:\n  - command: z\n    timeout: *x\n${item("  ")}`,
    ],
  ];
  for (const [text, expected] of cases) {
    const done = await insert(text);
    assert.ok(done.ok, `${JSON.stringify(text)} ${JSON.stringify(done)}`);
    assert.equal(done.text, expected);
    const again = await insert(done.text);
    assert.ok(again.ok && again.added.length === 0 && again.text === done.text);
  }
});

test("a config that cannot be edited safely is refused with the reason", async () => {
  const cases: [string, RegExp][] = [
    ["hooks:\n  x: []\nhooks:\n  y: []\n", /"hooks" stands in it 2 times/],
    ["hooks:\n  pre_tool_call:\n  pre_tool_call:\n", /"hooks\.pre_tool_call" stands in it 2 times/],
    ["hooks: &h\n  x: []\nb: *h\n", /"hooks" has an anchor/],
    ["b: &h\n  x: []\nhooks: *h\n", /"hooks" is no mapping/],
    [
      "hooks:\n  x: &l\n    - command: z\n  pre_tool_call: *l\n",
      /"hooks\.pre_tool_call" is no list/,
    ],
    ["hooks:\n  pre_tool_call: &l\n    - command: z\n  x: *l\n", /has an anchor/],
    ["hooks: {x: []}\n", /"hooks" is written in brackets/],
    ["hooks:\n  pre_tool_call: [{command: z}]\n", /written in brackets/],
    ["{}\n", /the top is written in brackets/],
    ["{hooks: {}}\n", /the top is written in brackets/],
    ["hooks: null\n", /"hooks" is no mapping/],
    ["hooks: 7\n", /"hooks" is no mapping/],
    ["hooks: []\n", /"hooks" is no mapping/],
    ["hooks:\n  pre_tool_call: x\n", /"hooks\.pre_tool_call" is no list/],
    ["b: &h {hooks: {x: [{command: z}]}}\n<<: *h\n", /not safe to edit/],
    ["a: 1\n...\n", /not safe to edit/],
    ["- a\n", /no mapping at the top/],
  ];
  for (const [text, reason] of cases) {
    const done = await insert(text);
    assert.ok(!done.ok, `${JSON.stringify(text)} became ${JSON.stringify(done)}`);
    assert.match(done.refused, reason);
  }
});

test("a refused config is left as it is: the hook is installed, its lines printed, exit 1", async () => {
  const home = fresh();
  const file = path.join(home, "config.yaml");
  fs.writeFileSync(file, "hooks: {}\n");
  const { code, out, err } = await cli(home, "init", "--with", "secret-scan", "--write");
  assert.equal(code, 1);
  assert.equal(fs.readFileSync(file, "utf8"), "hooks: {}\n");
  assert.match(out, /add these lines by hand:\n\nhooks:\n {2}pre_tool_call:\n/);
  assert.match(err, /was left as it is: "hooks" is written in brackets; add the lines by hand/);
  assert.ok(fs.existsSync(path.join(home, "agent-hooks", "secret-scan.sh")));
});

test("a config that is no YAML stops init --write before anything is made", async () => {
  const home = fresh();
  fs.writeFileSync(path.join(home, "config.yaml"), "hooks: [\n");
  const { code, err } = await cli(home, "init", "--with", "secret-scan", "--write");
  assert.equal(code, 1);
  assert.match(err, /config\.yaml:\d+:\d+: /);
  assert.deepEqual(fs.readdirSync(home), ["config.yaml"]);
});

test("what cannot be made is one clear line and exit 1", async () => {
  const home = fresh();
  fs.writeFileSync(path.join(home, "logs"), "");
  const { code, err } = await cli(home, "init");
  assert.equal(code, 1);
  assert.match(err, /^hermes-hooks: init stopped: ".*logs" is there, and is no folder\n$/);
});

test("init --list names every ready-made hook with its event, and wrong words are usage errors", async () => {
  const home = path.join(fresh(), "none");
  const { code, out } = await cli(home, "init", "--list", "--json");
  const { ready_made: list } = JSON.parse(out) as { ready_made: Record<string, unknown>[] };
  assert.equal(code, 0);
  assert.deepEqual(list.map(({ name }) => name), readyHooks().map(({ name }) => name));
  for (const { about, events } of list) assert.ok(about && (events as string[]).length > 0);
  assert.match((await cli(home, "init", "--list")).out, /secret-scan +pre_tool_call\n/);
  const wrong: [string[], RegExp][] = [
    [["--with", "secret-scam"], /did you mean "secret-scan"\?/],
    [["--with", "nothing-like-it"], /no ready-made hook is named/],
    [["--with", ","], /--with needs the name/],
    [["--write"], /--write adds the lines of --with/],
    [["secret-scan"], /named by --with/],
  ];
  for (const [words, message] of wrong) {
    const { code, err } = await cli(home, "init", ...words);
    assert.equal(code, 64);
    assert.match(err, message);
  }
  assert.ok(!fs.existsSync(home));
});

test("init --json says what was made, added and is to be approved", async () => {
  const home = fresh();
  const { code, out } = await cli(home, "init", "--with", "auto-format", "--write", "--json");
  const said = JSON.parse(out);
  const command = path.join(home, "agent-hooks", "auto-format.sh");
  assert.equal(code, 0);
  assert.deepEqual(said.added, [{ event: "post_tool_call", command }]);
  assert.deepEqual([said.approve, said.lines_to_add, said.refused], [[command], "", undefined]);
  assert.ok(
    said.paths.some((each: { path: string; did: string }) =>
      each.path === command && each.did === "made"
    ),
  );
});
