/** The ready-made shell hooks, run as they are run: a payload on stdin, an answer on stdout. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { embedded } from "../scripts/embed.ts";

const root = path.dirname(import.meta.dirname!);
const fresh = () => fs.mkdtempSync(path.join(os.tmpdir(), "ready-"));

/** A folder with links to these programs: all that is on PATH. */
function onlyPrograms(...names: string[]): string {
  const folder = fresh();
  for (const name of names) {
    const found = (process.env["PATH"] ?? "").split(":").map((each) => path.join(each, name))
      .find((file) => fs.existsSync(file));
    if (found) fs.symlinkSync(fs.realpathSync(found), path.join(folder, name));
  }
  return folder;
}
const INPUT = path.join(fresh(), "payload.json");
const BARE = ["sh", "awk", "cat", "mkdir", "date", "git"];
/** With all that is here, and with nothing but what the hooks ask for: no jq, no python3, no node. */
const PATHS = [process.env["PATH"]!, onlyPrograms(...BARE)];

interface Setting {
  readonly path?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

function run(hook: string, input: string, { path: programs, cwd, env }: Setting = {}) {
  // From a file: a hook may end without reading, and Deno's spawnSync then tells of EPIPE, not of the end.
  fs.writeFileSync(INPUT, input);
  const script = path.join(root, "hooks", `${hook}.sh`);
  const ran = spawnSync("/bin/sh", ["-c", 'exec /bin/sh "$0" <"$1"', script, INPUT], {
    encoding: "utf8",
    ...(cwd ? { cwd } : {}),
    env: { HOME: "/home/ada", PATH: programs ?? PATHS[0]!, ...env },
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}

const payload = (tool: string, input: unknown, more: object = {}) =>
  JSON.stringify({
    hook_event_name: "pre_tool_call",
    tool_name: tool,
    tool_input: input,
    session_id: "s",
    cwd: "/home/ada/project",
    profile: "default",
    extra: { task_id: "", status: "ok" },
    ...more,
  });

function blocks(hook: string, input: string, setting: Setting = {}): void {
  const { code, out, err } = run(hook, input, setting);
  const { action, message } = JSON.parse(out || "{}") as { action?: string; message?: string };
  assert.deepEqual([code, action, err], [0, "block", ""], `must block: ${input}`);
  assert.match(message!, /^blocked by /);
}
function passes(hook: string, input: string, setting: Setting = {}): void {
  assert.deepEqual(run(hook, input, setting), { code: 0, out: "{}\n", err: "" }, input);
}

const command = (text: string, more?: object) => payload("terminal", { command: text }, more);

const DANGEROUS = String.raw`
rm -rf /|rm -fr /|rm -r -f /|rm -f -r /|rm -Rf /|rm --recursive --force /|rm --force --recurs /
rm / -rf|rm -rf -- /|rm -rf "/"|rm -rf '/'|rm -rf \/|rm -rf //|rm -rf /.|rm -rf /*|rm -rf /tmp/../..
rm -rf --no-preserve-root /x|rm -rf ~|rm -rf ~/|rm -rf ~/*|rm -rf ~/.*|rm -rf ~bob|rm -rf ~root/
rm -rf $HOME|rm -rf "$HOME"|rm -rf "${"$"}{HOME}/"|rm -rf ${"$"}{HOME:?}/*|rm -rf ${"$"}{X:-/}
rm -rf /home/ada|rm -rf /home|rm -rf /etc /tmp/x|rm -rf /usr/*|rm -rf ../../..|rm -rf /b*|rm -rf /*/*
sudo rm -rf /|sudo -u root rm -rf /|ls; rm -rf /|ls;rm -rf /|ls && rm -rf /|ls & rm -rf /|(rm -rf /)
{ rm -rf /; }|$(rm -rf /)|echo "$(rm -rf /)"|echo ${"`"}rm -rf /${"`"}|cat <(rm -rf /)
sh -c 'rm -rf /'|bash -lc "rm -rf /"|sudo sh -c "cd / && rm -rf *"|sudo bash -c "bash -c 'rm -rf /'"
env A=1 rm -rf /|A=1 rm -rf /|eval "rm -rf /"|eval rm -rf /|\rm -rf /|r\m -rf /|r''m -rf /|"rm" -rf /
/bin/rm -rf /|$'\x72m' -rf /|$'\162m' -rf $'\057'|rm$IFS-rf$IFS/|rm${"$"}{IFS}-rf${"$"}{IFS}/
X=/; rm -rf $X|C="rm -rf /"; $C|D=~; rm -rf $D|rm -rf {/,tmp}|rm -rf /{bin,etc}|rm -{r,f} /
rm -rf "$DIR"/*|rm -rf $DIR/|rm -rf /$DIR|cd / && rm -rf *|cd ~; rm -rf .|cd; rm -rf ./*
if true; then rm -rf /; fi|for d in / /x; do rm -rf $d; done|! rm -rf /|timeout 5 rm -rf /|xargs rm -rf /
find . -exec rm -rf / \;|ssh host 'rm -rf /'|rm -rf / 2>/dev/null|2>/dev/null rm -rf /|f() { rm -rf /; }; f
sh -c 'rm -rf "$1"' x /|set -- /; rm -rf "$@"|case x in x) rm -rf /;; esac|rm -rf $(echo /)|trap 'rm -rf ~' 0
`.trim().split(/[|\n]/);
const PIPED = [
  "ls | rm -rf /",
  "ls || rm -rf /",
  "echo / | xargs rm -rf",
  "echo 'rm -rf /' | sh",
  "printf 'ls\\nrm -rf /\\n' | bash",
  "bash <<< 'rm -rf /'",
  "bash <<EOF\nrm -rf /\nEOF",
  "cat <<'EOF' | sh\nrm -rf /\nEOF",
  "cat <<EOF\n$(rm -rf /)\nEOF",
  "cat <<'EOF'\ndon't\nEOF\nrm -rf /",
  "ls # don't\nrm -rf /",
  "rm \\\n-rf /",
  "ls\nrm -rf /\t",
  "\u0000rm -rf /",
];
const HARMLESS = [
  "",
  "git status --short",
  "rm -rf build",
  "rm -rf ./build node_modules",
  "rm -rf /tmp/x /tmp/*",
  'rm -rf "$DIR"',
  'rm -rf "${DIR:?}"/*',
  "rm -rf $HOME/project/*",
  "rm -rf /home/ada/project/dist",
  "rm -f /etc/x.conf",
  "rm -rf *",
  "cd build && rm -rf *",
  "rm /",
  "rmdir /",
  "farm -rf /",
  'echo "rm -rf /" > notes.md',
  "git commit -m 'refuse rm -rf / and rm -rf ~'",
  'grep -rn "rm -rf /" .',
  "cat > notes.md <<'EOF'\nrm -rf / is bad, don't: $(rm -rf /)\nEOF",
  "cat <<-EOF\n\trm -rf /\n\tEOF\nls",
  "ls # rm -rf /",
  "docker run --rm -v /:/host alpine ls",
  "find . -name '*.pyc' -exec rm -rf {} +",
  'x=$(mktemp -d) && cd "$x" && rm -rf ./*',
  "awk '{print $1}' f | sort; echo $((1+2)) done > /",
  'echo "unclosed',
  "echo 'unclosed",
  "echo $(unclosed",
  "echo ${unclosed",
  "cat <<EOF",
];
const HOSTILE = [
  "$(touch pwned) `touch pwned`; touch pwned\n' \" \\ ' $(",
  "\u0001\u0002\u0003 \u001b[31m \u007f \ud83d\ude00 \u2028",
  "%s%n\\0 -e -n --",
];

for (const programs of PATHS) {
  const which = programs === PATHS[0] ? "all programs there" : "sh and awk alone";
  test(`block-rm-rf refuses recursive deletes of root, home and system folders, ${which}`, () => {
    for (const text of [...DANGEROUS, ...PIPED]) {
      blocks("block-rm-rf", command(text), { path: programs });
    }
  });

  test(`block-rm-rf lets other commands pass and runs nothing of them, ${which}`, () => {
    const cwd = fresh();
    for (const text of [...HARMLESS, ...HOSTILE]) {
      passes("block-rm-rf", command(text), { path: programs, cwd });
    }
    assert.deepEqual(fs.readdirSync(cwd), []);
  });
}

test("block-rm-rf knows where the session stands and what other shape a command has", () => {
  for (const cwd of ["/", "/home/ada", "/etc"]) {
    for (const text of ["rm -rf *", "rm -rf .", "rm -rf ./*"]) {
      blocks("block-rm-rf", command(text, { cwd }));
    }
  }
  blocks("block-rm-rf", payload("terminal", { command: ["rm", "rm -rf /"] }));
  blocks("block-rm-rf", payload("terminal", { workdir: "/", command: "rm -rf *" }));
  passes("block-rm-rf", payload("terminal", null));
  passes("block-rm-rf", payload("process", { "action/command": "rm -rf /" }));
});

test("a gate refuses a payload that it cannot read, and when awk is missing", () => {
  const noAwk = onlyPrograms("sh", "cat");
  const broken = [
    "",
    "x",
    "[]",
    "{",
    '{"tool_input": {"command": "ls"}',
    '{"a": 1 "b": 2}',
    "{}{}",
  ];
  for (const hook of ["block-rm-rf", "secret-scan"]) {
    for (const text of broken) {
      const { code, out, err } = run(hook, text);
      assert.deepEqual([code, out], [2, ""], text);
      assert.match(err, /^(block-rm-rf|secret-scan): the payload is not a JSON object\n$/);
    }
    const { code, err } = run(hook, command("ls"), { path: noAwk });
    assert.equal(code, 2);
    assert.match(err, /awk was not found/);
  }
});

test("block-rm-rf refuses a command that is nested beyond judging", () => {
  const { code, out } = run("block-rm-rf", command("$(".repeat(2000)));
  assert.ok(code === 2 || JSON.parse(out).action === "block");
});

// In pieces, so that no scanner takes this file for a leak.
const SECRETS = [
  ["AKIA", "IOSFODNN7EXAMPLE"],
  ["x='ASIA", "Z".repeat(16) + "'"],
  ["ghp", "_" + "a1B2".repeat(9)],
  ["gho", "_" + "A".repeat(36)],
  ["github", "_pat_" + "a".repeat(82)],
  ["glpat", "-" + "a1-b".repeat(5)],
  ["xoxb", "-123456789012-abcdefABCDEF"],
  ["xapp", "-1-A0B-12345-abc"],
  ["https://hooks.slack", ".com/services/T00000000/B00000000/" + "X".repeat(24)],
  ["sk", "-" + "a".repeat(48)],
  ["OPENAI_API_KEY=sk", "-proj-" + "ab_c".repeat(10)],
  ["sk", "-ant-api03-" + "x".repeat(30)],
  ["sk", "_live_" + "a".repeat(24)],
  ["whsec", "_" + "M".repeat(32)],
  ["AIza", "b".repeat(35)],
  ["npm", "_" + "c".repeat(36)],
  ["pypi", "-AgEI" + "c".repeat(60)],
  ["hf", "_" + "d".repeat(34)],
  ["SG", "." + "a".repeat(22) + "." + "b".repeat(43)],
  ["dop", "_v1_" + "a".repeat(64)],
  ["123456789", ":AA" + "e".repeat(33)],
  ["eyJ", "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.abcDEF123_-x"],
  ["-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA"],
  ["-----BEGIN ", "PRIVATE KEY-----"],
  ["-----BEGIN OPENSSH ", "PRIVATE KEY-----"],
  ["-----BEGIN PGP ", "PRIVATE KEY BLOCK-----"],
  ["aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
  ['"SecretAccessKey": "', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"'],
].map((parts) => parts.join(""));
const NO_SECRETS = [
  "ls -la",
  "sk-",
  "task-" + "a".repeat(48),
  "AKIA",
  "xAKIA" + "A".repeat(16),
  "AKIA" + "A".repeat(17),
  "ghp_short",
  "eyJhbGci.foo.bar",
  "-----BEGIN PUBLIC KEY-----",
  "-----BEGIN CERTIFICATE-----",
  'curl -H "Authorization: Bearer $GITHUB_TOKEN"',
  "class='sk-folding-cube-loading-spinner'",
  "0123456789abcdef".repeat(8),
  "secret_access_key = os.environ['X']",
];

for (const programs of PATHS) {
  const which = programs === PATHS[0] ? "all programs there" : "sh and awk alone";
  test(`secret-scan refuses well-known secrets at any depth and never prints one, ${which}`, () => {
    for (const secret of SECRETS) {
      for (
        const [tool, input] of [
          ["terminal", { command: `echo "${secret}" | x` }],
          ["write_file", { path: "a", content: `before\n${secret}\nafter` }],
          ["patch", { edits: [{ 'new "text"': [secret] }] }],
        ] as const
      ) {
        const text = payload(tool, input);
        blocks("secret-scan", text, { path: programs });
        const { out } = run("secret-scan", text, { path: programs });
        assert.ok(!out.includes(secret.slice(-12)), out);
      }
    }
  });
}

test("secret-scan lets the rest pass and runs nothing of it", () => {
  const cwd = fresh();
  for (const text of [...NO_SECRETS, ...HOSTILE]) {
    for (const programs of PATHS) {
      passes("secret-scan", payload("write_file", { content: text }), { path: programs, cwd });
    }
  }
  assert.deepEqual(fs.readdirSync(cwd), []);
});

test("secret-scan names several kinds once each and reads arguments that are no object", () => {
  const two = `${SECRETS[2]} ${SECRETS[3]} ${SECRETS[23]}`;
  const { out } = run("secret-scan", payload("terminal", { command: two }));
  assert.match(JSON.parse(out).message, /looks like a GitHub token, a private key;/);
  blocks("secret-scan", payload("terminal", null, { extra: { args: SECRETS[0] } }));
  passes("secret-scan", payload("terminal", {}, { extra: { result: SECRETS[0] } }));
});

test("a megabyte of quotes and backslashes is read in time", () => {
  const content = '<a href="x">\\n\\\\\n'.repeat(60_000);
  const begun = Date.now();
  passes("secret-scan", payload("write_file", { content }));
  assert.ok(Date.now() - begun < 10_000);
});

/** A PATH whose formatters only note how they were called. */
function notingFormatters(folder: string, ...names: string[]): string {
  const programs = onlyPrograms(...BARE);
  for (const name of names) {
    const text =
      `#!/bin/sh\nprintf '%s\\n' "${name}" "$@" >>'${folder}/called'\necho noise\nexit 1\n`;
    fs.writeFileSync(path.join(programs, name), text, { mode: 0o755 });
  }
  return programs;
}

test("auto-format calls the right formatter on the file that was written", () => {
  const cases: [string, string[], string[]][] = [
    ["a.py", ["black", "ruff"], ["black", "--quiet", "--", "./a.py"]],
    ["a.py", ["ruff"], ["ruff", "format", "--quiet", "--", "./a.py"]],
    ["a.go", ["gofmt"], ["gofmt", "-w", "./a.go"]],
    ["a.ts", ["prettier", "deno"], ["prettier", "--no-config", "--write", "--", "./a.ts"]],
    ["a.css", ["deno"], ["deno", "fmt", "--quiet", "--", "./a.css"]],
    ["a.md", ["prettier", "deno"], []],
    ["a.py", [], []],
    ["-rf.py", ["black"], ["black", "--quiet", "--", "./-rf.py"]],
    ["$(touch pwned) `x` \"'; é\\.py", ["black"], [
      "black",
      "--quiet",
      "--",
      "./$(touch pwned) `x` \"'; é\\.py",
    ]],
  ];
  for (const [name, there, expected] of cases) {
    const cwd = fresh();
    const noted = fresh();
    fs.writeFileSync(path.join(cwd, name), "x");
    const setting = { cwd, path: notingFormatters(noted, ...there) };
    passes("auto-format", payload("write_file", { path: name, content: "x" }), setting);
    const file = path.join(noted, "called");
    const called = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : [];
    assert.deepEqual(called, expected, name);
    assert.deepEqual(fs.readdirSync(cwd), [name]);
  }
});

test("auto-format reads the files of a patch and leaves links, failed calls and absent files alone", () => {
  const cwd = fresh();
  const noted = fresh();
  const setting = { cwd, path: notingFormatters(noted, "black") };
  for (const name of ["a.py", "b.py", "c.py"]) fs.writeFileSync(path.join(cwd, name), "x");
  fs.symlinkSync("c.py", path.join(cwd, "link.py"));
  passes("auto-format", payload("write_file", { path: "link.py" }), setting);
  passes("auto-format", payload("write_file", { path: "absent.py" }), setting);
  passes("auto-format", payload("write_file", { path: "a\n.py" }), setting);
  passes("auto-format", payload("write_file", { path: 7 }), setting);
  const blocked = { extra: { status: "blocked" } };
  passes("auto-format", payload("write_file", { path: "a.py" }, blocked), setting);
  assert.ok(!fs.existsSync(path.join(noted, "called")));
  const patch = "*** Begin Patch\n*** Update File: a.py\n+x\n*** Add File: b.py\n+y\n*** End Patch";
  passes("auto-format", payload("patch", { patch }), setting);
  const called = fs.readFileSync(path.join(noted, "called"), "utf8");
  assert.deepEqual(called.match(/[^/\n]+\.py/g), ["a.py", "b.py"]);
  assert.equal(run("auto-format", "{").code, 1);
});

function repository(): string {
  const folder = fresh();
  for (const words of [["init", "-q", "-b", "main"]]) spawnSync("git", words, { cwd: folder });
  return folder;
}

test("inject-cwd-context gives branch and changes as JSON, whatever the files are named", () => {
  const folder = repository();
  for (
    const name of ["a b", 'q"uote', "ta\tb", "new\nline", "back\\slash", "é", "$(touch pwned)"]
  ) {
    fs.writeFileSync(path.join(folder, name), "x");
  }
  for (const programs of PATHS) {
    const { code, out, err } = run("inject-cwd-context", "{}", { cwd: folder, path: programs });
    assert.deepEqual([code, err], [0, ""]);
    const { context } = JSON.parse(out) as { context: string };
    assert.match(context, /^Git branch: main\nUncommitted changes in the working folder:\n/);
    assert.ok(context.includes("?? é"));
    assert.ok(context.includes("$(touch pwned)"));
    assert.equal(context.split("\n").length, 2 + 7);
  }
  assert.ok(!fs.existsSync(path.join(folder, "pwned")));
});

test("inject-cwd-context cuts visibly, and is silent off a repository and without git", () => {
  const folder = repository();
  for (let n = 0; n < 60; n++) fs.writeFileSync(path.join(folder, `file${n}`), "x");
  const { context } = JSON.parse(run("inject-cwd-context", "{}", { cwd: folder }).out);
  assert.match(context, /\n… and 10 more$/);
  passes("inject-cwd-context", "{}", {
    cwd: fresh(),
    env: { GIT_CEILING_DIRECTORIES: os.tmpdir() },
  });
  passes("inject-cwd-context", "", { cwd: folder, path: onlyPrograms("sh", "awk", "cat") });
  passes("inject-cwd-context", "", { cwd: repository() });
});

test("inject-cwd-context does not run the project's fsmonitor program", () => {
  const folder = repository();
  const program = path.join(fresh(), "monitor");
  fs.writeFileSync(program, `#!/bin/sh\ntouch '${program}.ran'\n`, { mode: 0o755 });
  spawnSync("git", ["config", "core.fsmonitor", program], { cwd: folder });
  fs.writeFileSync(path.join(folder, "a"), "x");
  assert.match(run("inject-cwd-context", "{}", { cwd: folder }).out, /Git branch/);
  assert.ok(!fs.existsSync(`${program}.ran`));
});

test("log-orchestration writes one line of JSON for each subagent to a file of the user's own", () => {
  for (const programs of PATHS) {
    const home = fresh();
    const setting = { path: programs, env: { HERMES_HOME: path.join(home, "it's $(x)") } };
    const extra = { child_summary: HOSTILE.join("\n") + '"\\', child_status: "completed", n: 1 };
    const stop = (more: object) =>
      payload("", null, { tool_name: null, session_id: 'p"\n', ...more });
    passes("log-orchestration", stop({ extra }), setting);
    passes("log-orchestration", JSON.stringify(JSON.parse(stop({ extra })), null, 2), setting);
    passes("log-orchestration", "{}", setting);
    const log = path.join(home, "it's $(x)", "logs", "orchestration.log");
    assert.equal(fs.statSync(log).mode & 0o777, 0o600);
    assert.equal(fs.statSync(path.dirname(log)).mode & 0o777, 0o700);
    const lines = fs.readFileSync(log, "utf8").trimEnd().split("\n").map((text) =>
      JSON.parse(text)
    );
    assert.deepEqual(lines.map(({ parent }) => parent), ['p"\n', 'p"\n', null]);
    assert.deepEqual(lines.map((line) => line.extra), [extra, extra, null]);
    assert.match(lines[0].ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  }
});

test("log-orchestration says what went wrong and keeps a payload that is broken out of the log", () => {
  const home = fresh();
  const { code, out, err } = run("log-orchestration", '{"extra": ', { env: { HERMES_HOME: home } });
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /^log-orchestration: the payload is not a JSON object\n$/);
  assert.ok(!fs.existsSync(path.join(home, "logs")));
});

test("every ready-made hook reads JSON with the same lines, and is executable", () => {
  const folder = path.join(root, "hooks");
  const readers = fs.readdirSync(folder).filter((name) => name.endsWith(".sh")).map((name) => {
    assert.equal(fs.statSync(path.join(folder, name)).mode & 0o111, 0o111, name);
    return /# ---- reading JSON[^]*# ---- end of reading JSON/.exec(
      fs.readFileSync(path.join(folder, name), "utf8"),
    )?.[0];
  });
  assert.equal(readers.length, 5);
  assert.equal(new Set(readers.filter((text) => text !== undefined)).size, 1);
});

test("the files in the executable are those of hooks/: else run scripts/embed.ts", () => {
  const file = path.join(root, "lib", "ready", "files.ts");
  assert.equal(fs.readFileSync(file, "utf8"), embedded(root));
});
