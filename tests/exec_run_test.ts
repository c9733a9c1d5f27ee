import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn, spawnSync, type StdioOptions } from "node:child_process";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { SELF } from "./programs/host_home.ts";
import { receive } from "./programs/outbound_receiver.ts";

/** Off Linux, and under Deno, a command is started by the runtime's own means. */
const LIBC = process.platform === "linux" && "Bun" in globalThis;

interface Home {
  readonly folder: string;
  /** Writes an executable script and gives its path. */
  script(name: string, text: string): string;
  config(text: string): void;
  read(name: string): string;
}

async function withHome(body: (home: Home) => Promise<void>): Promise<void> {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "hooks-exec-")));
  try {
    await body({
      folder,
      script(name, text) {
        fs.writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
        return path.join(folder, name);
      },
      config: (text) => fs.writeFileSync(path.join(folder, "config.yaml"), text),
      read: (name) => fs.readFileSync(path.join(folder, name), "utf8"),
    });
  } finally {
    fs.rmSync(folder, { recursive: true, maxRetries: 5 });
  }
}

interface Ended {
  readonly exit: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

function start(home: Home, words: readonly string[], options: {
  readonly stdio?: StdioOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** Run by `sh`, with our command line as its arguments. */
  readonly through?: string;
} = {}): Started {
  const { stdio = ["ignore", "pipe", "pipe"], through, env } = options;
  const own = [SELF.file, ...SELF.args, "--home", home.folder, "exec", ...words];
  const [file, ...args] = through === undefined ? own : ["/bin/sh", "-c", through, "sh", ...own];
  const child = spawn(file!, args, { stdio, env: { ...process.env, ...env } });
  const out: Buffer[] = [];
  let stderr = "";
  child.stdout?.on("data", (data) => out.push(data));
  child.stderr?.on("data", (data) => stderr += data);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on(
      "close",
      (exit, signal) => resolve({ exit, signal, stdout: Buffer.concat(out), stderr }),
    );
  });
  return { child, ended };
}

const run = (home: Home, words: readonly string[], options?: Parameters<typeof start>[2]) =>
  start(home, words, options).ended;

const said = (child: ChildProcess, text: string) =>
  new Promise<void>((resolve) => {
    let all = "";
    child.stdout!.on("data", (data) => (all += data).includes(text) && resolve());
  });

test("--capture hands output on byte for byte, and keeps both streams as text", async () => {
  await withHome(async (home) => {
    const seen = home.script("seen.sh", "cat > $HERMES_HOME/seen");
    home.config(
      `hooks:\n  post_tool_call:\n    - command: ${seen}\nhooks_auto_accept: true\n`,
    );
    const code = "printf 'a\\351\\000b\\377'; sleep 0.2; printf 'err\\376' >&2; exit 5";
    const { exit, stdout, stderr } = await run(home, ["--capture", "--", "sh", "-c", code]);
    assert.equal(exit, 5);
    assert.deepEqual([...stdout], [0x61, 0xe9, 0, 0x62, 0xff]);
    assert.match(stderr, /err/);
    const { extra } = JSON.parse(home.read("seen"));
    assert.equal(JSON.parse(extra.result).output, "a\ufffd\0b\ufffderr\ufffd");
    assert.equal(extra.status, "error");
  });
});

test("--capture hands on what is far more than a pipe holds, and keeps its last 64 KiB", async () => {
  await withHome(async (home) => {
    const seen = home.script("seen.sh", "cat > $HERMES_HOME/seen");
    home.config(
      `hooks:\n  post_tool_call:\n    - command: ${seen}\nhooks_auto_accept: true\n`,
    );
    const code = "head -c 5000000 /dev/zero | tr '\\0' x; printf end";
    const { stdout } = await run(home, ["--capture", "--", "sh", "-c", code]);
    assert.equal(stdout.length, 5_000_003);
    const { output } = JSON.parse(JSON.parse(home.read("seen")).extra.result);
    assert.equal(output, "x".repeat(65_536 - 3) + "end");
  });
});

test("with --capture a command whose reader went away finds that out", async () => {
  await withHome(async (home) => {
    const { child, ended } = start(home, ["--capture", "--", "sh", "-c", "exec yes"]);
    await said(child, "y");
    child.stdout!.destroy();
    // By SIGPIPE; where the runtime hands it down ignored, yes says so and exits.
    assert.match(String((await ended).exit), LIBC ? /^141$/ : /^(?:141|1)$/);
  });
});

test("with --capture output that cannot be written is told of", {
  skip: !fs.existsSync("/dev/full"),
}, async () => {
  await withHome(async (home) => {
    const through = `"$@" >/dev/full`;
    const { stderr } = await run(home, ["--capture", "--", "echo", "lost"], { through });
    assert.match(stderr, /warning: .*cannot be written to stdout: ENOSPC/);
  });
});

test("a tool without a name is refused, for it would pass gates with a matcher by", async () => {
  await withHome(async (home) => {
    assert.equal((await run(home, ["--tool", "", "--", "true"])).exit, 64);
  });
});

test("signals are passed on, and the exit code tells of the one that ended it", async () => {
  await withHome(async (home) => {
    const codes: (number | null)[] = [];
    for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGTERM"] as const) {
      const { child, ended } = start(home, ["--", "sh", "-c", "echo up; exec sleep 20"]);
      await said(child, "up");
      await new Promise((resolve) => setTimeout(resolve, 50));
      // Not child.kill: Deno then says that the signal ended it, whatever did.
      process.kill(child.pid!, signal);
      codes.push((await ended).exit);
    }
    assert.deepEqual(codes, [129, 130, 131, 138, 143]);
  });
});

test("signals that whoever starts us ignores are ignored by the command too", {
  skip: !LIBC && "only through libc",
}, async () => {
  await withHome(async (home) => {
    const through = `trap '' HUP INT; exec "$@"`;
    const { stdout } = await run(home, ["--", "grep", "SigIgn", "/proc/self/status"], { through });
    const mask = BigInt(`0x${/[0-9a-f]{16}/.exec(stdout.toString())![0]}`);
    // Bits 31 and 32 are libc's own.
    assert.equal(mask & 0x7fffffffn, 3n);
  });
});

test("what the runtime ignores for itself is not ignored by the command", {
  skip: !LIBC && "only through libc",
}, async () => {
  await withHome(async (home) => {
    const { stdout } = await run(home, ["--", "grep", "SigIgn", "/proc/self/status"]);
    const mask = BigInt(`0x${/[0-9a-f]{16}/.exec(stdout.toString())![0]}`);
    assert.equal(mask & 0x7fffffffn, 0n);
  });
});

test("open descriptors above 2 are the command's too, and none of ours", {
  skip: !LIBC && "only through libc",
}, async () => {
  await withHome(async (home) => {
    const code = "echo three >&3; ls /proc/self/fd";
    const through = `exec 3>${home.folder}/three; exec "$@"`;
    const { stdout } = await run(home, ["--", "sh", "-c", code], { through });
    assert.equal(home.read("three"), "three\n");
    // The fifth is what ls itself opens.
    assert.deepEqual(stdout.toString().trim().split("\n"), ["0", "1", "2", "3", "4"]);
  });
});

test("a death by a real-time signal is told by its number", {
  skip: !LIBC && "only through libc",
}, async () => {
  await withHome(async (home) => {
    const { exit } = await run(home, ["--", "sh", "-c", "kill -40 $$"]);
    assert.equal(exit, 168);
  });
});

test("environment and words reach the command as they are", async () => {
  await withHome(async (home) => {
    const code = `printf '%s|' "$X" "$@"`;
    const words = ["", " a  b ", "--", "-x", "é\ufffd", "l1\nl2"];
    const { stdout } = await run(home, ["--", "sh", "-c", code, "sh", ...words], {
      env: { X: "=é=" },
    });
    assert.equal(stdout.toString(), ["=é=", ...words, ""].join("|"));
  });
});

test("words that are no UTF-8 are refused, for no hook could see them", {
  skip: process.platform !== "linux",
}, async () => {
  await withHome(async (home) => {
    const through = `exec "$@" "$(printf 'caf\\351')"`;
    const words = ["--", "touch", `${home.folder}/made`];
    const { exit, stderr } = await run(home, words, { through });
    assert.equal(exit, 64);
    assert.match(stderr, /UTF-8/);
    assert.ok(!fs.existsSync(`${home.folder}/made`));
  });
});

test("a change that cannot be run blocks without anybody being asked", async () => {
  await withHome(async (home) => {
    const gate = home.script("gate.sh", `echo '{"action":"approve","message":"sure?"}'`);
    const bad = home.script("bad.sh", `echo '{"action":"modify","args":{"argv":[]}}'`);
    const seen = home.script("seen.sh", "touch $HERMES_HOME/asked");
    home.config(
      `hooks:\n  pre_tool_call:\n    - command: ${gate}\n    - command: ${bad}\n` +
        `  pre_approval_request:\n    - command: ${seen}\nhooks_auto_accept: true\n`,
    );
    const { exit, stderr } = await run(home, ["--", "true"]);
    assert.equal(exit, 2);
    assert.match(stderr, /not run/);
    assert.ok(!fs.existsSync(path.join(home.folder, "asked")));
  });
});

test("a problem of the config is told once a run, and what a hook has to say every time", async () => {
  await withHome(async (home) => {
    const bad = home.script("bad.sh", "echo nonsense");
    home.config(
      `hooks:\n  pre_tool_call: [{command: ${bad}}]\n  post_tool_call: [{command: ${bad}}]\n` +
        "hooks_auto_accept: true\n",
    );
    const said = `hermes-hooks: warning: hook ${bad}: stdout is not JSON: "nonsense"\n`;
    assert.equal((await run(home, ["--", "true"])).stderr, said + said);

    home.config("hooks: 7\n");
    const { exit, stderr } = await run(home, ["--", "true"]);
    assert.match(stderr, /^hermes-hooks: warning: hooks \(config\.yaml:1\): is 7, [^\n]*\n$/);
    assert.equal(exit, 0);
  });
});

test("deliveries of every event are made before exec ends, and change no exit code", async () => {
  await withHome(async (home) => {
    const receiver = await receive(({ requestLine }) => requestLine.includes("/bad") ? 500 : 200);
    const target = (name: string) =>
      `    - name: ${name}\n      url: ${receiver.url.replace("/hook", `/${name}`)}\n` +
      `      events: [pre_tool_call, post_tool_call, on_session_end]\n`;
    home.config(`hooks:\n  outbound:\n${target("good")}`);
    const words = ["--session", "s1", "--event", "on_session_end", "--", "sh", "-c", "exit 3"];
    const { exit, stderr } = await run(home, words);
    const posts = receiver.posts.map(({ body }) => JSON.parse(body.toString()));
    assert.equal(exit, 3, stderr);
    assert.deepEqual(posts.map((post) => post.hook_event_name).sort(), [
      "on_session_end",
      "post_tool_call",
      "pre_tool_call",
    ]);
    const { session_id, extra } = posts.find((post) => post.hook_event_name === "on_session_end")!;
    assert.equal(session_id, "s1");
    const { exit_code, status, command, completed, failed } = extra;
    assert.deepEqual(
      { exit_code, status, command, completed, failed },
      { exit_code: 3, status: "error", command: "sh -c 'exit 3'", completed: false, failed: true },
    );
    home.config(`hooks:\n  outbound:\n${target("bad")}`);
    const failing = await run(home, ["--flush", "0.2", "--", "sh", "-c", "exit 4"]);
    await receiver.close();
    assert.equal(failing.exit, 4);
    assert.match(failing.stderr, /warning: .*bad/);
  });
});

const NAMESPACES = LIBC && spawnSync("unshare", ["-p", "-f", "true"]).status === 0;

// A number that no user has, but who may read this folder wherever it is.
const STRANGER = ["setpriv", "--reuid", "54321", "--clear-groups"]
  .concat(["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]);

test("a user whom the system does not know, and no HOME: the command just runs", {
  skip: (!LIBC || spawnSync(STRANGER[0]!, [...STRANGER.slice(1), "true"]).status !== 0) &&
    "only under Bun, as root",
}, async () => {
  await withHome(async (home) => {
    // What follows `exec` is ours, but its own home is not to be named.
    const through = `unset HOME HERMES_HOME; exec ${STRANGER.join(" ")} ` +
      `"${[SELF.file, ...SELF.args].join('" "')}" exec -- id -u`;
    const { exit, stdout, stderr } = await run(home, [], { through });
    assert.deepEqual([exit, stdout.toString()], [0, "54321\n"], stderr);
  });
});

test("as process 1 it reaps what others left behind", {
  skip: !NAMESPACES && "only through libc, where a process may have a namespace",
}, async () => {
  await withHome(async (home) => {
    const code = `for i in 1 2 3; do sh -c 'sleep 0.1 & exit 0'; done; sleep 2.7
for f in /proc/[0-9]*/stat; do read -r _ name state rest < $f; echo "$state"; done`;
    const through = `exec unshare -p -f --mount-proc "$@"`;
    const { exit, stdout } = await run(home, ["--", "sh", "-c", code], { through });
    assert.equal(exit, 0);
    assert.match(stdout.toString(), /^S\n/);
    assert.doesNotMatch(stdout.toString(), /Z/);
  });
});
