import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { ask, Home, type InProcess, startHere } from "./programs/server_home.ts";
import { hookYaml, write } from "./programs/gateway_home.ts";

/** Waits for a file to have a line that matches, and gives its text. */
async function written(file: string, pattern: RegExp): Promise<string> {
  for (let i = 0; i < 400; i++) {
    const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
    if (pattern.test(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no ${pattern} in ${file}`);
}

/** Waits for a line of the log. */
async function logged({ log }: InProcess, pattern: RegExp): Promise<string> {
  for (let i = 0; i < 400; i++) {
    const line = log.find((each) => pattern.test(each));
    if (line !== undefined) return line;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no ${pattern} in ${log.join("\n")}`);
}

const post = (home: Home, event: string, fields: object = {}) =>
  ask(home.socket, `/v1/events/${event}`, { body: JSON.stringify(fields) });

test("gateway:startup runs in the background: a handler that takes long delays no readiness", async () => {
  const home = new Home();
  write(home.folder, "slow/HOOK.yaml", hookYaml("gateway:startup"));
  write(
    home.folder,
    "slow/handler.ts",
    `import fs from "node:fs";
    export async function handle(event: string, context: { platforms: string[] }) {
      fs.writeFileSync(process.env.HERMES_HOME + "/began", JSON.stringify([event, context]));
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }`,
  );
  const began = performance.now();
  const started = await startHere(home);
  assert.equal((await ask(home.socket, "/readyz")).status, 200);
  assert.ok(performance.now() - began < 10_000);
  const text = await written(path.join(home.folder, "began"), /\]$/);
  assert.deepEqual(JSON.parse(text), ["gateway:startup", { platforms: [] }]);
  // Who starts the gateway is answered at once too.
  const asked = performance.now();
  const answer = await post(home, "gateway:startup", { platforms: ["slack"] });
  assert.deepEqual(answer.json, { event: "gateway:startup", hooks: [], warnings: [] });
  assert.ok(performance.now() - asked < 10_000);
  await started.server.stop();
  home.remove();
});

test("a command's handlers in TypeScript and Python decide over HTTP", async () => {
  const home = new Home();
  write(home.folder, "audit/HOOK.yaml", "name: the audit\nevents: 'command:*'\n");
  write(
    home.folder,
    "audit/handler.py",
    "import asyncio\nfrom neighbour import note\n\nasync def handle(event_type, context):\n" +
      "    await asyncio.sleep(0)\n    note(event_type, context)\n",
  );
  write(
    home.folder,
    "audit/neighbour.py",
    "import json, os\n\ndef note(event_type, context):\n" +
      "    with open(os.path.join(os.environ['HERMES_HOME'], 'audit'), 'a') as f:\n" +
      "        f.write(json.dumps([event_type, context]) + '\\n')\n",
  );
  write(home.folder, "deny/HOOK.yaml", hookYaml("command:stop"));
  write(home.folder, "deny/why.ts", `export const WHY = "not now";\n`);
  write(
    home.folder,
    "deny/handler.ts",
    `import { WHY } from "./why.ts";
    export function handle(_event: string, context: { args: string }) {
      return context.args === "now" ? { decision: "deny", message: WHY } : null;
    }`,
  );
  const { server } = await startHere(home);
  const allowed = await post(home, "command:stop", { command: "stop", args: "" });
  assert.equal(allowed.status, 200);
  assert.equal(allowed.json.decision, "allow");
  assert.deepEqual(allowed.json.warnings, []);
  assert.deepEqual(
    allowed.json.hooks.map((hook: { name: string }) => hook.name),
    ["deny", "the audit"],
  );
  const denied = await post(home, "command:stop", { command: "stop", args: "now" });
  assert.equal(denied.json.decision, "deny");
  assert.equal(denied.json.message, "not now");
  assert.equal(denied.json.hooks.length, 1);
  const text = fs.readFileSync(path.join(home.folder, "audit"), "utf8");
  assert.equal(text, '["command:stop", {"command": "stop", "args": ""}]\n');
  await server.stop();
  home.remove();
});

test("a handler without handle, one that throws and one that exits take nobody down", async () => {
  const home = new Home("plugins:\n  hook_callback_timeout: 1\n");
  const listens = hookYaml("agent:end");
  for (const name of ["a", "b-none", "c-throws", "d-exits", "e-hangs", "f"]) {
    write(home.folder, `${name}/HOOK.yaml`, listens);
  }
  const good = `import fs from "node:fs";
    export default {
      handle: (_e, { message }) => fs.appendFileSync(process.env.HERMES_HOME + "/good", message),
    };`;
  write(home.folder, "a/handler.mjs", good);
  write(home.folder, "b-none/handler.js", "export const other = 1;\n");
  write(
    home.folder,
    "c-throws/handler.py",
    "def handle(event, context):\n    raise ValueError('x')\n",
  );
  write(home.folder, "d-exits/handler.ts", "export function handle() { process.exit(3); }\n");
  write(home.folder, "e-hangs/handler.ts", "export function handle() { for (;;); }\n");
  write(
    home.folder,
    "f/handler.mjs",
    good.replace("export default {", "const all = {")
      .concat("\nexport default all.handle;\n"),
  );
  const started = await startHere(home);
  const { json } = await post(home, "agent:end", { message: "m".repeat(600) });
  assert.deepEqual(json.hooks.map(({ name, outcome }: Record<string, string>) => [name, outcome]), [
    ["a", "none"],
    ["c-throws", "failed"],
    ["d-exits", "failed"],
    ["e-hangs", "failed"],
    ["f", "none"],
  ]);
  assert.match(json.warnings[0], /gateway hook "b-none" is not loaded: .*handle/);
  assert.match(json.warnings[1], /^hook c-throws: threw: .*x/);
  assert.match(json.warnings[2], /^hook d-exits: .*3/);
  assert.equal(json.warnings[3], "hook e-hangs: timed out after 1s");
  assert.equal(fs.readFileSync(path.join(home.folder, "good"), "utf8").length, 1000);
  await logged(started, /gateway hook \\"b-none\\" is not loaded/);
  await started.server.stop();
  home.remove();
});

test("a reload finds new hooks, drops those that are gone, and names what is wrong", async () => {
  const home = new Home();
  const note = (text: string) =>
    `import fs from "node:fs";
    export const handle = () => fs.appendFileSync(process.env.HERMES_HOME + "/notes", "${text}");`;
  write(home.folder, "one/HOOK.yaml", hookYaml("agent:end"));
  write(home.folder, "one/handler.ts", note("1"));
  const started = await startHere(home);
  await post(home, "agent:end");
  fs.rmSync(path.join(home.folder, "hooks/one"), { recursive: true });
  write(home.folder, "two/HOOK.yaml", hookYaml("agent:end"));
  write(home.folder, "two/handler.ts", note("2"));
  write(home.folder, "bad/HOOK.yaml", hookYaml("agent:end"));
  assert.equal((await ask(home.socket, "/v1/reload", { body: "" })).status, 200);
  const { json } = await post(home, "agent:end");
  assert.deepEqual(json.hooks.map((hook: { name: string }) => hook.name), ["two"]);
  assert.equal(fs.readFileSync(path.join(home.folder, "notes"), "utf8"), "12");
  await logged(started, /gateway hook \\"bad\\" is not loaded: it has no handler/);
  await started.server.stop();
  home.remove();
});

test("stopping ends every host with what it started", async () => {
  const home = new Home();
  write(home.folder, "a/HOOK.yaml", hookYaml("gateway:startup"));
  write(
    home.folder,
    "a/handler.ts",
    `import fs from "node:fs";
    import { spawn } from "node:child_process";
    export function handle() {
      const child = spawn("sleep", ["300"]);
      fs.writeFileSync(process.env.HERMES_HOME + "/pids", process.pid + " " + child.pid + ".");
    }`,
  );
  const { server } = await startHere(home);
  const pids = (await written(path.join(home.folder, "pids"), /\.$/)).match(/\d+/g)!.map(Number);
  await server.stop();
  const alive = (pid: number) => {
    try {
      return !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return false;
    }
  };
  for (let i = 0; i < 80 && pids.some(alive); i++) await new Promise((r) => setTimeout(r, 25));
  assert.deepEqual(pids.map(alive), [false, false]);
  assert.equal(pids.includes(process.pid), false);
  home.remove();
});

test("under safe mode the listener loads no gateway hook", async () => {
  const home = new Home();
  write(home.folder, "a/HOOK.yaml", hookYaml("command:*"));
  write(home.folder, "a/handler.ts", `export const handle = () => ({ decision: "deny" });`);
  const { server } = await startHere(home, { env: { HERMES_SAFE_MODE: "1" } });
  const { json } = await post(home, "command:x");
  assert.equal(json.decision, "allow");
  assert.match(json.warnings[0], /^safe mode: 1 hooks not run/);
  await server.stop();
  home.remove();
});
