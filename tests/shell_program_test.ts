import test from "node:test";
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import { join } from "node:path";
import { foreignFormatsRun } from "../lib/platform/binfmt.ts";
import { prepareCommand, relativeWords, scriptOf } from "../lib/sources/shell/program.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";

/** Two folders: the one we were started in, with these files, and the one the event names. */
function place(files: Record<string, string | Uint8Array> = {}, mode = 0o755) {
  const top = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), "hooks-program-")));
  const startFolder = join(top, "start"), elsewhere = join(top, "elsewhere");
  for (const folder of [startFolder, elsewhere, join(startFolder, "sub")]) fs.mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    fs.writeFileSync(join(startFolder, name), content);
    fs.chmodSync(join(startFolder, name), mode);
  }
  const env: Record<string, string> = { PATH };
  const expandTilde = (word: string) => word.replace(/^~(?=\/|$)/, startFolder);
  const here = { env, startFolder, cwd: startFolder, expandTilde };
  return {
    startFolder,
    elsewhere,
    here,
    /** Why the command is not started, or what is. */
    run(command: string, change: Partial<typeof here> = {}): string {
      const result = prepareCommand(command, { ...here, ...change });
      if (!result.ok) {
        assert.ok(result.reason.startsWith(`${result.code}: `), result.reason);
        return result.reason;
      }
      return [result.file, ...result.args].join(" ");
    },
    away(command: string): string {
      return this.run(command, { cwd: elsewhere });
    },
    [Symbol.dispose]: () => fs.rmSync(top, { recursive: true }),
  };
}

const SCRIPT = "#!/bin/sh\necho ok\n";

test("a command that cannot be parsed says why", () => {
  using p = place();
  assert.equal(p.run("sh -c 'oops"), "cannot be parsed: no closing quotation");
  assert.equal(p.run("sh \\"), "cannot be parsed: no escaped character");
  assert.match(p.run("  "), /^cannot be parsed: /);
  assert.match(p.run("sh -c 'a\0b'"), /^cannot be parsed: .*NUL/);
});

test("a command that is not there is named as written", () => {
  using p = place();
  assert.equal(p.run("no-such-command x"), 'command not found: "no-such-command"');
  assert.equal(p.run("/no/such/command"), 'command not found: "/no/such/command"');
  assert.match(
    p.run("./gone.sh"),
    /^command not found: "\.\/gone\.sh" \(there is no ".*start\/gone/,
  );
  assert.equal(p.run("''"), 'command not found: ""');
});

test("a file without the executable bit comes with the chmod to run", () => {
  using p = place({ "a b.sh": SCRIPT }, 0o644);
  const path = join(p.startFolder, "a b.sh");
  assert.equal(p.run(`'${path}'`), `not executable: "${path}" (run: chmod +x '${path}')`);
});

test("a folder is no command", () => {
  using p = place();
  assert.match(p.run("~/sub"), /^not executable: ".*start\/sub" is a folder/);
  assert.doesNotMatch(p.run("~/sub"), /chmod/);
});

test("PATH is searched as execvp does it", () => {
  using p = place({ tool: SCRIPT });
  const closed = join(p.startFolder, "sub", "tool");
  fs.writeFileSync(closed, SCRIPT);
  const open = join(p.startFolder, "tool");
  assert.equal(
    p.run("tool", { env: { PATH: `/nowhere:${p.startFolder}/sub:${p.startFolder}` } }),
    open,
  );
  assert.match(
    p.run("tool", { env: { PATH: `${p.startFolder}/sub` } }),
    /^not executable: .*chmod/,
  );
  assert.equal(p.run("tool", { env: { PATH: "" }, cwd: p.elsewhere }), open);
  assert.equal(p.run("tool", { env: { PATH: "sub:." }, cwd: p.elsewhere }), open);
  assert.match(p.run("sh", { env: {} }), /\/sh$/);
});

test("the program's own name stays as written unless it would mean another file", () => {
  using p = place({ "check.sh": SCRIPT });
  const name = (command: string, cwd: string) => {
    const result = prepareCommand(command, { ...p.here, cwd });
    return result.ok && result.argv0;
  };
  assert.equal(name("sh -c :", p.elsewhere), "sh");
  assert.equal(name("./check.sh", p.startFolder), "./check.sh");
  assert.equal(name("./check.sh", p.elsewhere), join(p.startFolder, "check.sh"));
});

test("a bad shebang is told apart: missing, CRLF, BOM, UTF-16, empty, too long", () => {
  using p = place({
    gone: "#!/no/such/interp -x\n",
    crlf: "#!/bin/sh\r\necho\r\n",
    crlfenv: "#!/usr/bin/env python3\r\n",
    crlfarg: "#!/bin/sh -e\r\n",
    perl: "#!/usr/bin/perl -w\r\n",
    bom: "\ufeff#!/bin/sh\n",
    utf16: Uint8Array.from([0xff, 0xfe, 0x23, 0, 0x21, 0]),
    none: "#!  \n",
    long: "#!/" + "x".repeat(300) + "\n",
    folder: "#!/usr\n",
    env: "#!/usr/bin/env no-such-python\n",
    fine: "#! /bin/sh -e",
    nested: "#!" + "/no/such/../../bin/sh\n",
  });
  const bad = (name: string, pattern: RegExp) => {
    assert.match(p.run(`./${name}`), /^bad interpreter: /, name);
    assert.match(p.run(`./${name}`), pattern, name);
  };
  bad("gone", /"\/no\/such\/interp" does not exist \(first line of ".*\/gone"\)/);
  for (const name of ["crlf", "crlfenv", "crlfarg"]) bad(name, /CRLF line endings/);
  bad("bom", /byte order mark \(BOM\)/);
  bad("utf16", /UTF-16/);
  bad("none", /none is named/);
  bad("long", /too long/);
  bad("folder", /"\/usr" is not executable/);
  bad("env", /"no-such-python" is not in PATH/);
  bad("nested", /does not exist/);
  assert.equal(p.run("./fine"), join(p.startFolder, "fine"));
  if (fs.existsSync("/usr/bin/perl")) assert.equal(p.run("./perl"), join(p.startFolder, "perl"));
});

test("an interpreter given by a relative path is never read from the event's cwd", () => {
  using p = place({ interp: SCRIPT, hook: "#!./interp\n" });
  assert.equal(p.run("./hook"), join(p.startFolder, "hook"));
  assert.match(p.away("./hook"), /^bad interpreter: "\.\/interp" is no absolute path/);
});

test("an interpreter that is a script is looked into, and circles end", () => {
  using p = place({ text: "echo" });
  const via = (name: string, to: string) => {
    fs.writeFileSync(join(p.startFolder, name), `#!${p.startFolder}/${to}\n`, { mode: 0o755 });
  };
  via("a", "text");
  via("b", "b");
  assert.match(p.run("./a"), /^bad interpreter: .*exec format error/);
  assert.match(p.run("./b"), /^bad interpreter: .*too many/);
});

test("a text file without a shebang is an exec format error, a binary is not", () => {
  const elf = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0]);
  using p = place({ text: "echo hi\n", empty: "", data: Uint8Array.from([1, 0, 2]), elf });
  assert.match(p.run("./text"), /^exec format error: ".*\/text" has no "#!" line/);
  assert.match(p.run("./empty"), /^exec format error: ".*\/empty" is empty/);
  assert.equal(p.run("./elf"), join(p.startFolder, "elf"));
  const data = p.run("./data");
  if (foreignFormatsRun()) assert.equal(data, join(p.startFolder, "data"));
  else assert.match(data, /^exec format error: ".*\/data" is no program of this system/);
  assert.match(p.run("/bin/sh -c :"), /^\/bin\/sh /);
});

test("a script that is not there is found before its interpreter looks for it", () => {
  using p = place({ "here.py": "", "mod.js": "" });
  const gone = (command: string, name = "gone.py") =>
    assert.equal(p.run(command), `script not found: "${p.startFolder}/${name}"`, command);
  gone("python3 gone.py");
  gone("env A=1 python3 gone.py");
  gone("env -i -u B -- A=1 PATH=/usr/bin:/bin python3 -u -W ignore ./gone.py");
  gone("/usr/bin/env sh sub/gone", "sub/gone");
  gone("bash --norc -euo pipefail +x gone.sh", "gone.sh");
  gone("bash --rcfile here.py gone.sh", "gone.sh");
  gone("sh -- gone.sh -c x", "gone.sh");
  gone("sh -e ~/gone.sh", "gone.sh");
  gone("perl -w gone.pl", "gone.pl");
});

test("whatever is less sure is started", () => {
  using p = place({ "here.py": "", "mod.js": "" });
  for (
    const command of [
      "sh -c a/b",
      "sh -ec a/b",
      "bash -lc 'gone.sh --x'",
      "python3 -m gone.py",
      "python3 -c a/b",
      "python3 -Im gone.py",
      "python3 - gone.py",
      "sh -s gone.sh",
      "sh - gone.sh",
      "python3 --unknown gone.py",
      "python3 -W gone.py",
      "python3 gone",
      "python3 here.py gone.py",
      "python3 /dev/fd/9.py",
      "perl -ne a/b",
      "perl -E a/b",
      "bash -o gone.sh",
      "bash -O a/b here.py",
      "env -S 'python3 gone.py'",
      "timeout 5 python3 gone.py",
      "cat gone.py",
      "python3",
    ]
  ) {
    assert.doesNotMatch(p.run(command), /^\w[^:/]*: /, command);
  }
});

test("node finds a script by its module name", (t) => {
  using p = place({ "mod.js": "", "gone.txt": "" });
  if (p.run("node").startsWith("command not found")) {
    console.log("skipped: node is not here");
    t.skip?.("node is not here");
    return;
  }
  assert.doesNotMatch(p.run("node ./mod"), /script not found/);
  assert.doesNotMatch(p.run("node -e a/b"), /script not found/);
  assert.match(p.run("node -r ./mod.js gone.js"), /^script not found: ".*gone\.js"/);
  assert.doesNotMatch(p.run("node --import ./gone.mjs"), /script not found/);
});

test("a program behind env is checked as env will look it up", () => {
  using p = place({ "noshebang": "echo\n", "plain.sh": SCRIPT });
  fs.chmodSync(join(p.startFolder, "plain.sh"), 0o644);
  assert.equal(p.run("env A=1 no-such-command"), 'command not found: "no-such-command"');
  assert.match(p.run("env ./gone"), /^command not found: "\.\/gone"/);
  assert.match(p.run("env ./plain.sh"), /^not executable: /);
  assert.match(p.run("env PATH=/nowhere sh"), /^command not found: "sh"/);
  assert.match(p.run("env ./noshebang"), /env \.\/noshebang$/);
  assert.match(p.run("env -C /nowhere ./gone"), /env -C \/nowhere \.\/gone$/);
  assert.match(p.run("env A=1"), /env A=1$/);
});

test("paths that are run mean our start folder, never the event's cwd", () => {
  using p = place({ "check.sh": SCRIPT, "check.py": "", "rules.txt": "" });
  fs.chmodSync(join(p.startFolder, "rules.txt"), 0o644);
  const start = p.startFolder;
  const args = (command: string) => p.away(command).split(" ").slice(1).join(" ");
  assert.equal(p.away("./check.sh --x"), `${start}/check.sh --x`);
  assert.equal(p.away("sub/../check.sh"), `${start}/sub/../check.sh`);
  assert.equal(args("python3 -u check.py check.py"), `-u ${start}/check.py check.py`);
  assert.equal(args("sh check"), `${start}/check`);
  assert.equal(args("env A=1 ./check.sh"), `A=1 ${start}/check.sh`);
  assert.equal(args("env A=1 sh ./check.sh"), `A=1 sh ${start}/check.sh`);
  assert.equal(args("env PATH=. check.sh"), `PATH=. ${start}/check.sh`);
  assert.equal(args("timeout -k 1 5 ./check.sh"), `-k 1 5 ${start}/check.sh`);
  assert.equal(args("timeout 5 python3 check.py"), `5 python3 ${start}/check.py`);
  assert.equal(args("nice -n 5 nohup sub/gone"), `-n 5 nohup ${start}/sub/gone`);
  assert.equal(args("cat ./check.sh"), `${start}/check.sh`);
  assert.equal(args("cat ./rules.txt check.py"), "./rules.txt check.py");
  assert.equal(args("sh -c './check.sh'"), `-c ${start}/check.sh`);
  assert.equal(args("sh -c './check.sh x'"), "-c ./check.sh x");
});

test("a bare script name that bash finds in PATH stays the one in PATH", () => {
  using p = place({ "tool.sh": SCRIPT });
  const env = { PATH: `${PATH}:${p.startFolder}/sub` };
  fs.writeFileSync(join(p.startFolder, "sub", "pathed.sh"), SCRIPT);
  const at = `${p.startFolder}/sub/pathed.sh`;
  assert.match(p.run("bash pathed.sh", { env }), /bash pathed\.sh$/);
  assert.ok(p.run("bash pathed.sh", { env, cwd: p.elsewhere }).endsWith(` ${at}`));
  assert.match(p.run("sh pathed.sh", { env }), /^script not found/);
});

test("words stay as written when the hook runs in our start folder", () => {
  using p = place({ "check.sh": SCRIPT, "check.py": "" });
  assert.match(p.run("env A=1 ./check.sh ./check.sh"), /env A=1 \.\/check\.sh \.\/check\.sh$/);
  assert.match(p.run("python3 check.py"), /python3 check\.py$/);
});

test("a tilde is expanded at the start of every word", () => {
  using p = place({ "check.sh": SCRIPT });
  assert.equal(p.run("~/check.sh ~/x a~/y"), `${p.startFolder}/check.sh ${p.startFolder}/x a~/y`);
});

test("the file that matters to consent is the script, or a program given by its path", () => {
  using p = place({ "check.sh": SCRIPT });
  const start = p.startFolder;
  const script = (command: string) => scriptOf(command, p.here);
  assert.equal(script("~/check.sh --x"), `${start}/check.sh`);
  assert.equal(script("./check.sh"), `${start}/check.sh`);
  assert.equal(script("env A=1 python3 -u gone.py x"), `${start}/gone.py`);
  assert.equal(script("bash -lc './check.sh'"), undefined);
  assert.equal(script("/usr/bin/python3 -m mod"), undefined);
  assert.equal(script("jq ."), undefined);
  assert.equal(script("timeout 5 ./check.sh"), `${start}/check.sh`);
  assert.equal(script("sudo ./check.sh"), `${start}/check.sh`);
  assert.equal(script("/usr/bin/env"), undefined);
  assert.equal(script("oops '"), undefined);
  assert.equal(script(""), undefined);
});

test("the words that depend on our start folder are named", () => {
  using p = place({ "check.sh": SCRIPT });
  const words = (command: string) => relativeWords(command, p.here);
  assert.deepEqual(words("./check.sh ./other"), ["./check.sh"]);
  assert.deepEqual(words("env A=1 python3 gone.py"), ["gone.py"]);
  assert.deepEqual(words("timeout 5 ./check.sh"), ["./check.sh"]);
  assert.deepEqual(words("~/check.sh a/b"), []);
  assert.deepEqual(words("sh -c './check.sh x'"), ["./check.sh x"]);
});

test("on Windows words are left to the system, backslashes and all", () => {
  using p = place();
  const change = { windows: true };
  const result = prepareCommand("C:\\hooks\\check.exe a\\b", { ...p.here, ...change });
  assert.ok(result.ok);
  assert.deepEqual([result.file, result.args], ["C:\\hooks\\check.exe", ["a\\b"]]);
});
