import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import test from "node:test";
import { digestsOf } from "../lib/server/digest.ts";
import { plugin } from "./programs/plugin_home.ts";
import { ask, command, Home, type Served, startChild } from "./programs/server_home.ts";

const COUNTING = 'import { writeFileSync } from "node:fs";\nlet n = 0;\n' +
  'writeFileSync(process.env.HERMES_HOME + "/pid", String(process.pid));\n' +
  "export function register(ctx) {\n" +
  '  ctx.registerHook("pre_llm_call", () => `call ${++n}`);\n' +
  '  ctx.registerHook("on_stream_delta", () => new Promise((r) => setTimeout(r, 300)));\n}\n';

/** A home with the counting plugin. */
function countingHome(): Home {
  const home = new Home("plugins: {enabled: [count]}\n");
  for (const [name, text] of Object.entries(plugin("count", COUNTING))) {
    const file = path.join(home.folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  return home;
}

/** A home with the counting plugin and its listener. */
async function serving(run: (home: Home, served: Served) => Promise<void>): Promise<void> {
  const home = countingHome();
  const served = await startChild(home);
  try {
    await run(home, served);
  } finally {
    served.signal("SIGTERM");
    await served.ended;
    home.remove();
  }
}

/** What `fire pre_llm_call` of this home says. */
function fired(home: Home, ...words: string[]) {
  const [file, args] = command("--home", home.folder, "fire", "pre_llm_call", ...words);
  const { stdout } = spawnSync(file, args, {
    input: "{}",
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin", HOME: home.folder },
  });
  return JSON.parse(stdout) as { context: string; hooks: { source: string }[]; warnings: string[] };
}

const posted = async (home: Home, event: string, body = "{}") =>
  (await ask(home.socket, `/v1/events/${event}`, { body })).json;

test("plugins keep their state in the listener, whoever fires: over the socket or by fire", async () => {
  await serving(async (home) => {
    assert.equal(fired(home).context, "call 1");
    assert.equal((await posted(home, "pre_llm_call")).context, "call 2");
    const { context, hooks, warnings } = fired(home);
    assert.equal(context, "call 3");
    assert.deepEqual(hooks.map(({ source }) => source), ["plugin"]);
    assert.deepEqual(warnings, []);
    assert.equal(fired(home, "--no-server").context, "call 1");
  });
});

test("a listener that runs on another config is not asked", async () => {
  await serving(async (home) => {
    assert.equal(fired(home).context, "call 1");
    home.write("plugins: {enabled: [count]}\n# changed\n");
    const elsewhere = fired(home);
    assert.equal(elsewhere.context, "call 1");
    assert.match(elsewhere.warnings[0]!, /listener runs on another config .* plugins ran here/);
    await ask(home.socket, "/v1/reload", { method: "POST" });
    // Nothing about the plugin has changed: it was kept.
    assert.equal(fired(home).context, "call 2");
  });
});

test("a reload takes in a plugin that has changed, and its old host ends", async () => {
  await serving(async (home) => {
    assert.equal((await posted(home, "pre_llm_call")).context, "call 1");
    const pid = fs.readFileSync(path.join(home.folder, "pid"), "utf8");
    const file = path.join(home.folder, "plugins", "count", "plugin.ts");
    fs.writeFileSync(file, COUNTING.replace("call ", "new call "));
    await ask(home.socket, "/v1/reload", { method: "POST" });
    assert.equal((await posted(home, "pre_llm_call")).context, "new call 1");
    for (let i = 0; i < 200 && fs.existsSync(`/proc/${pid}`); i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(fs.existsSync(`/proc/${pid}`), false);
  });
});

test("whoever streams is answered at once, and what became of it is counted", async () => {
  await serving(async (home) => {
    await posted(home, "pre_llm_call");
    const began = performance.now();
    for (let n = 0; n < 3; n++) {
      const verdict = await posted(home, "on_stream_delta", '{"delta": "x", "kind": "text"}');
      assert.deepEqual(verdict.hooks, []);
    }
    assert.ok(performance.now() - began < 280, "the caller waited for a hook");
    const delivered = /stream_events_total\{[^}]*result="delivered"[^}]*\} 3/;
    for (let i = 0; i < 100; i++) {
      if (delivered.test((await ask(home.socket, "/metrics")).text)) return;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    assert.fail("three events were not delivered");
  });
});

test("plugins are run over the socket only, and what is not of the right shape is a clear 400", async () => {
  await serving(async (home) => {
    for (const body of ["[]", "{", '{"event": "pre_llm_call"}', '{"event": 7, "fields": {}}']) {
      assert.equal((await ask(home.socket, "/v1/plugins", { body })).status, 400, body);
    }
    const unknown = '{"event": "agent:end", "fields": {}}';
    assert.equal((await ask(home.socket, "/v1/plugins", { body: unknown })).status, 404);
    const body = '{"event": "pre_llm_call", "fields": {}}';
    const { json } = await ask(home.socket, "/v1/plugins", { body });
    assert.deepEqual(json.outcomes.map(({ name }: { name: string }) => name), ["count"]);
    assert.deepEqual(json.outcomes[0].directive, { context: "call 1" });
  });
});

test("TERM ends the plugins' hosts with the listener", async () => {
  let pid = "";
  await serving(async (home) => {
    await posted(home, "pre_llm_call");
    pid = fs.readFileSync(path.join(home.folder, "pid"), "utf8");
    assert.ok(fs.existsSync(`/proc/${pid}`));
  });
  for (let i = 0; i < 200 && fs.existsSync(`/proc/${pid}`); i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(fs.existsSync(`/proc/${pid}`), false);
});

/** Stands where the listener would, says it is ready, and hangs up on whoever asks for plugins. */
async function hangingUp(home: Home, taken: string[]): Promise<http.Server> {
  const { config, allowlist } = digestsOf({ home: home.folder, configFile: home.config });
  const ready = JSON.stringify({ config_sha256: config, allowlist_sha256: allowlist });
  const server = http.createServer((request, answer) => {
    if (request.method === "GET") return void answer.end(ready);
    taken.push(`${request.method} ${request.url}`);
    request.resume().on("end", () => request.socket.destroy());
  });
  fs.mkdirSync(path.dirname(home.socket), { mode: 0o700 });
  await new Promise<void>((resolve) => server.listen(home.socket, resolve));
  fs.chmodSync(home.socket, 0o600);
  return server;
}

test("a listener that takes an event and hangs up: exit 1, no verdict, nothing run a second time", async () => {
  const home = countingHome();
  const taken: string[] = [];
  const server = await hangingUp(home, taken);
  try {
    const [file, args] = command("--home", home.folder, "fire", "pre_llm_call");
    const env = { PATH: "/usr/bin:/bin", HOME: home.folder };
    const child = spawn(file, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    let out = "", err = "";
    child.stdout.on("data", (bytes) => out += bytes);
    child.stderr.on("data", (bytes) => err += bytes);
    child.stdin.end("{}");
    const code = await new Promise((resolve) => child.on("close", resolve));
    assert.equal(code, 1, err);
    assert.equal(out, "");
    assert.match(err, /took the event for its plugins and was lost .*: no verdict/);
    assert.deepEqual(taken, ["POST /v1/plugins"]);
    // The plugin writes it when it is loaded.
    assert.equal(fs.existsSync(path.join(home.folder, "pid")), false);
  } finally {
    server.close();
    home.remove();
  }
});
