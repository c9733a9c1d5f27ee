import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { ask, command, Home, hooksConfig, startChild, startHere } from "./programs/server_home.ts";
import { run } from "./programs/consent_runtimes.ts";

const TERMINAL = JSON.stringify({ tool_name: "terminal", args: { command: "ls" } });
const pause = (ms: number) => new Promise((next) => setTimeout(next, ms));

/** Does it run? A zombie that nobody reaps does not. */
function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(fs.readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

async function appears(file: string): Promise<void> {
  while (!fs.existsSync(file)) await pause(20);
}

/** A home whose one hook writes its pid to `started` and then sleeps for so many seconds. */
function sleeper(seconds: number, stopTimeout: number): { home: Home; started: string } {
  const home = new Home();
  const started = path.join(home.folder, "started");
  const body = `cat >/dev/null; echo $$ >${started}.part; mv ${started}.part ${started}; ` +
    `sleep ${seconds}; printf '{"decision":"block","reason":"late"}'`;
  home.write(hooksConfig([home.script("slow.sh", body)], `    stop_timeout: ${stopTimeout}\n`));
  return { home, started };
}

test("TERM lets a running event finish, removes the socket and exits 0", async () => {
  const { home, started } = sleeper(0.6, 10);
  const served = await startChild(home, ["--accept-hooks"]);
  const event = ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  await appears(started);
  served.signal("SIGTERM");
  const answer = await event;
  assert.equal(answer.status, 200);
  assert.equal(answer.json.message, "late");
  assert.equal(await served.ended, 0);
  assert.equal(fs.existsSync(home.socket), false);
  assert.match(served.log(), /SIGTERM: stopping[\s\S]*stopped/);
  home.remove();
});

test("an event that outlives serve.stop_timeout is 503 without a verdict, its hook is ended", async () => {
  const { home, started } = sleeper(30, 0.3);
  const served = await startChild(home, ["--accept-hooks"]);
  const event = ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  await appears(started);
  const began = performance.now();
  served.signal("SIGTERM");
  const answer = await event;
  assert.equal(answer.status, 503);
  assert.equal(answer.json.error.code, "stopping");
  assert.equal(answer.json.decision, undefined);
  assert.equal(await served.ended, 0);
  assert.ok(performance.now() - began < 5000);
  const pid = Number(fs.readFileSync(started, "utf8"));
  assert.equal(runs(pid), false);
  assert.match(served.log(), /1 event ended without a verdict/);
  home.remove();
});

test("while stopping, whatever would begin something is 503, and readiness says so", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const inside = server as unknown as { stopping: boolean };
  inside.stopping = true;
  for (const url of ["/v1/events/pre_tool_call", "/v1/outbound", "/v1/reload"]) {
    const answer = await ask(home.socket, url, { body: "{}" });
    assert.equal(answer.status, 503, url);
    assert.equal(answer.json.error.code, "stopping");
    assert.equal(answer.json.decision, undefined);
  }
  const ready = await ask(home.socket, "/readyz");
  assert.equal(ready.status, 503);
  assert.equal(ready.json.status, "stopping");
  assert.equal((await ask(home.socket, "/healthz")).status, 200);
  await server.stop();
  home.remove();
});

test("a second signal exits at once, and takes the hooks along", async () => {
  const { home, started } = sleeper(30, 20);
  const served = await startChild(home, ["--accept-hooks"]);
  const event = ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL }).catch(() =>
    "lost"
  );
  await appears(started);
  const began = performance.now();
  served.signal("SIGINT");
  await served.said(/SIGINT: stopping/);
  served.signal("SIGTERM");
  assert.equal(await served.ended, 143);
  assert.ok(performance.now() - began < 3000);
  await event;
  const pid = Number(fs.readFileSync(started, "utf8"));
  for (let i = 0; i < 50 && runs(pid); i++) await pause(20);
  assert.equal(runs(pid), false);
  home.remove();
});

test("HUP reads the config again", async () => {
  const home = new Home();
  const served = await startChild(home);
  const gate = home.script("gate.sh", "printf '{}'");
  home.approve(gate);
  home.write(hooksConfig([gate]));
  served.signal("SIGHUP");
  await served.said(/reloaded/);
  const { json } = await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  assert.equal(json.hooks.length, 1);
  served.signal("SIGTERM");
  assert.equal(await served.ended, 0);
  home.remove();
});

test("health is one line and exit 0 while it listens, and exit 1 when it does not", async () => {
  const home = new Home();
  const served = await startChild(home);
  const [file, args] = command("--home", home.folder, "health");
  const up = await run([file, ...args]);
  assert.equal(up.exit, 0);
  assert.equal(up.stderr, "");
  assert.match(up.stdout, new RegExp(`^ready: hermes-hooks \\S+, pid ${served.child.pid}, .*\n$`));
  served.signal("SIGTERM");
  await served.ended;
  const down = await run([file, ...args]);
  assert.equal(down.exit, 1);
  assert.match(down.stderr, /^hermes-hooks: not ready: no listener on .*\n$/);
  home.remove();
});

test("a second listener of a home exits 1 and names the first one's pid", async () => {
  const home = new Home();
  const served = await startChild(home);
  const [file, args] = command("--home", home.folder, "serve");
  const second = await run([file, ...args]);
  assert.equal(second.exit, 1);
  assert.match(second.stderr, new RegExp(`another listener \\(pid ${served.child.pid}\\)`));
  served.signal("SIGKILL");
  assert.equal(await served.ended, "SIGKILL");
  assert.equal(fs.lstatSync(home.socket).isSocket(), true);
  const third = await startChild(home);
  assert.equal((await ask(home.socket, "/readyz")).json.pid, third.child.pid);
  third.signal("SIGTERM");
  assert.equal(await third.ended, 0);
  home.remove();
});

test("a home with a long path is served and found all the same", async () => {
  const home = new Home();
  const deep = path.join(home.folder, "x".repeat(100));
  fs.mkdirSync(deep);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home.folder, XDG_RUNTIME_DIR: home.folder };
  const [file, args] = command("--home", deep, "serve");
  const child = spawn(file, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  for await (const bytes of child.stderr) if (/is listening/.test(log += bytes)) break;
  const socket = /"socket":"([^"]+)"/.exec(log)![1]!;
  assert.match(socket, /\/hermes-hooks-[0-9a-f]{16}\/hooks\.sock$/);
  assert.equal((fs.statSync(path.dirname(socket)).mode & 0o777).toString(8), "700");
  assert.equal((await ask(socket, "/readyz")).json.pid, child.pid);
  process.kill(child.pid!, "SIGTERM");
  await new Promise((resolve) => child.on("exit", resolve));
  home.remove();
});

test("a broken config, or one whose listener opens wrongly, exits 1 with its place", async () => {
  const home = new Home("hooks: [\n");
  const [file, args] = command("--home", home.folder, "serve");
  const broken = await run([file, ...args]);
  assert.equal(broken.exit, 1);
  assert.match(broken.stderr, /^hermes-hooks: config\.yaml:\d+:\d+: /);
  home.write("hermes_hooks:\n  serve:\n    listen: no:where:at all\n");
  const wrong = await run([file, ...args]);
  assert.equal(wrong.exit, 1);
  assert.match(wrong.stderr, /hermes_hooks\.serve\.listen \(config\.yaml:3\): expected an address/);
  home.remove();
});

test("the start says what is wrong: problems, and gates that are not armed", async () => {
  const home = new Home();
  const gate = home.script("gate.sh", "printf '{}'");
  home.write(
    `hooks:\n  pre_tool_call:\n    - command: ${gate}\n      fail_closed: true\n` +
      "      timeout: 0\nhermes_hooks:\n  serve:\n    max_inflght: 3\n",
  );
  const served = await startChild(home, ["--log-format", "text"]);
  assert.match(
    served.log(),
    /^\S+Z warning hooks\.pre_tool_call\[0\]\.timeout \(config\.yaml:5\)/m,
  );
  assert.match(served.log(), /warning UNARMED: fail_closed hook/);
  assert.match(served.log(), /did you mean \\?"max_inflight\\?"/);
  served.signal("SIGTERM");
  await served.ended;
  home.remove();
});

test("a service manager is told READY and STOPPING", async () => {
  const home = new Home();
  const notify = path.join(home.folder, "notify");
  const receiver = "import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\n" +
    "s.bind(sys.argv[1]); s.settimeout(20); print('bound',flush=True)\n" +
    "for _ in range(2): print(s.recv(999).decode().split()[0],flush=True)";
  const python = spawn("python3", ["-c", receiver, notify], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let heard = "";
  python.stdout.on("data", (bytes) => heard += bytes);
  const done = new Promise((resolve) => python.on("close", resolve));
  while (!heard.includes("bound")) await pause(20);
  const served = await startChild(home, [], { NOTIFY_SOCKET: notify });
  while (!heard.includes("READY=1")) await pause(20);
  served.signal("SIGTERM");
  assert.equal(await served.ended, 0);
  await done;
  assert.equal(heard, "bound\nREADY=1\nSTOPPING=1\n");
  home.remove();
});
