import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { type Hosted, PYTHON, runs, SELF, until, withHost } from "./programs/host_home.ts";

const python = { skip: PYTHON ? false : "there is no python3 on PATH" };

/** Callbacks: 0 its process id, 1 busy for ever, 2 an exit, 3 slow, 4 grows, 5 leaves a child. */
const SCRIPT = `
import process from "node:process";
import { spawn } from "node:child_process";
const kept: unknown[] = [];
export function register(ctx: any) {
  for (const f of [
    () => process.pid,
    () => { for (;;); },
    () => process.exit(3),
    (f: any) => new Promise((done) => setTimeout(done, f.ms, "slow")),
    () => new Promise(() => setInterval(() => kept.push(new Uint8Array(1 << 24).fill(1)), 20)),
    () => spawn("sleep", ["60"], { stdio: "ignore" }).pid,
  ]) ctx.register_hook("pre_tool_call", f);
}
`;
const PROGRAM = `
import asyncio, os, re, subprocess, time
kept = []
async def busy(**f):
    while True: pass
async def slow(ms, **f):
    await asyncio.sleep(ms / 1000)
    return "slow"
def grows(**f):
    while True:
        kept.append(bytearray(b"x" * (1 << 24)))
        time.sleep(0.02)
def register(ctx):
    for f in (lambda: os.getpid(), busy, lambda: os._exit(3), slow, grows,
              lambda: subprocess.Popen(["sleep", "60"]).pid, lambda: exit(4)):
        ctx.register_hook("pre_tool_call", f)
`;

const kinds = [
  { language: "TypeScript", file: "plugin.ts", text: SCRIPT, options: { skip: false } },
  { language: "Python", file: "__init__.py", text: PROGRAM, options: python },
];

async function pidOf(host: Hosted): Promise<number> {
  const { kind, value, error } = await host.ask(0);
  assert.equal(kind, "returned", error);
  return Number(value);
}

for (const { language, file, text, options } of kinds) {
  const files = { [file]: text };

  test(
    `${language}: an endless loop overruns at once, is ended after 2 s, and the next call is served`,
    options,
    () =>
      withHost(files, async (host) => {
        const pid = await pidOf(host);
        const began = performance.now();
        const held = host.ask(3, { ms: 0 }, 60_000);
        assert.deepEqual(await held, { kind: "returned", value: "slow" });
        const overran = host.ask(1, {}, 300);
        const beside = new Promise((resume) => setTimeout(resume, 50)).then(() => host.ask(0));
        assert.deepEqual(await overran, { kind: "overran", afterMs: 300 });
        assert.ok(performance.now() - began < 1_000);
        assert.deepEqual(await host.ask(1, {}, 300), { kind: "stillRunning" });
        if (language === "TypeScript") {
          assert.deepEqual(await beside, { kind: "gone", error: "did not answer for 2 s" });
        }
        await until(() => host.said().includes("did not answer for 2 s"));
        assert.ok(performance.now() - began < 4_000);
        await until(() => !runs(pid));
        assert.notEqual(await pidOf(host), pid);
      }),
  );

  test(
    `${language}: a callback that exits takes its calls along, and the next call starts it again`,
    options,
    () =>
      withHost(files, async (host) => {
        const pid = await pidOf(host);
        const slow = host.ask(3, { ms: 5_000 });
        const gone = { kind: "gone" as const, error: "exited with code 3" };
        assert.deepEqual(await host.ask(2), gone);
        assert.deepEqual(await slow, gone);
        assert.notEqual(await pidOf(host), pid);
        assert.deepEqual(
          host.log.filter(({ line }) => line.includes("its host")).map(({ level }) => level),
          ["warning"],
        );
      }),
  );

  test(
    `${language}: a host killed in the middle of a call is started again`,
    options,
    () =>
      withHost(files, async (host) => {
        const pid = await pidOf(host);
        const slow = host.ask(3, { ms: 5_000 });
        process.kill(pid, "SIGKILL");
        assert.deepEqual(await slow, { kind: "gone", error: "was ended by SIGKILL" });
        assert.notEqual(await pidOf(host), pid);
      }),
  );

  test(
    `${language}: an async callback that overran is still running until it ends`,
    options,
    () =>
      withHost(files, async (host) => {
        await host.load();
        assert.deepEqual(await host.ask(3, { ms: 600 }, 100), { kind: "overran", afterMs: 100 });
        assert.deepEqual(await host.ask(3, { ms: 0 }, 100), { kind: "stillRunning" });
        assert.equal((await host.ask(0)).kind, "returned");
        await new Promise((resume) => setTimeout(resume, 700));
        assert.deepEqual(await host.ask(3, { ms: 0 }), { kind: "returned", value: "slow" });
      }),
  );

  test(`${language}: memory over its bound ends the host, and says so`, {
    skip: process.platform !== "linux" ? "memory is bounded on Linux only" : options.skip,
  }, () =>
    withHost(files, async (host) => {
      const pid = await pidOf(host);
      const { kind, error } = await host.ask(4, {}, 20_000);
      assert.equal(kind, "gone");
      assert.match(error ?? "", /^took [0-9]+ MiB of memory, over its bound of 256$/);
      assert.ok(Number(/[0-9]+/.exec(error!)) < 1_024);
      assert.notEqual(await pidOf(host), pid);
    }, { memoryMb: 256 }));

  test(
    `${language}: closing ends the host with what it started`,
    options,
    () =>
      withHost(files, async (host) => {
        const [pid, child] = [await pidOf(host), Number((await host.ask(5)).value)];
        assert.ok(runs(pid) && runs(child));
        const slow = host.ask(3, { ms: 5_000 });
        await host.close();
        assert.ok(!runs(pid) && !runs(child));
        assert.deepEqual(await slow, { kind: "gone", error: "was closed" });
        assert.deepEqual(await host.load(), { ok: false, error: "was closed" });
      }),
  );
}

test(
  "Python: sys.exit in a callback ends the host, as it would a program",
  python,
  () =>
    withHost({ "__init__.py": PROGRAM }, async (host) => {
      await host.load();
      assert.deepEqual(await host.ask(6), { kind: "gone", error: "exited with code 4" });
    }),
);

test("what a plugin starts does not hold the private pipe", {
  skip: process.platform !== "linux" ? "there is no /proc" : false,
}, async () => {
  const list = "ls -l /proc/self/fd";
  const files: Record<string, string>[] = [{
    "plugin.ts": 'import { execSync } from "node:child_process";\n' +
      `export function register(ctx: any) { ctx.register_hook("a", () => String(execSync("${list}"))); }\n`,
  }];
  if (PYTHON) {
    files.push({
      "__init__.py": "import os\n" +
        `def register(ctx): ctx.register_hook("a", lambda: os.popen("${list}").read())\n`,
    });
  }
  for (const each of files) {
    await withHost(each, async (host) => {
      await host.load();
      const { value, error } = await host.ask(0);
      const open = [...String(value).matchAll(/ ([0-9]+) -> (.*)/g)];
      assert.ok(open.length >= 3, error);
      assert.deepEqual(open.filter(([, fd, to]) => Number(fd) > 2 && to!.startsWith("socket")), []);
    });
  }
});

test("a host that keeps ending is started again later and later", () =>
  withHost({ "plugin.ts": SCRIPT }, async (host) => {
    await host.load();
    const pauses = [];
    for (let round = 0; round < 4; round++) {
      assert.equal((await host.ask(2)).error, "exited with code 3");
      pauses.push(Number(/in ([0-9.]+) s at the soonest$/.exec(host.log.at(-1)!.line)![1]));
    }
    assert.deepEqual(pauses, [0.1, 0.2, 0.4, 0.8]);
  }));

test("while the pause is long, calls are told at once why there is no host", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-pause-"));
  let now = 0;
  const { createHost } = await import("../lib/sources/host/create.ts");
  const file = path.join(folder, "plugin.ts");
  writeFileSync(file, 'throw new Error("never");\n');
  const host = createHost({
    language: "script",
    mode: "plugin",
    label: 'plugin "guard"',
    file,
    folder,
    env: {},
    cwd: folder,
    memoryMb: 0,
  }, { self: SELF, log: () => {}, now: () => now });
  try {
    for (let round = 0; round < 5; round++) {
      assert.deepEqual(await host.load(), { ok: false, error: "Error: never" });
      now += 1_000;
    }
    now -= 600;
    const error = "could not be loaded: Error: never; it is started again in 1.2 s at the soonest";
    assert.deepEqual(await host.load(), { ok: false, error });
    assert.deepEqual(await host.call(0, "pre_tool_call", null, 5_000), {
      kind: "gone",
      error,
    });
    now += 1_200;
    assert.deepEqual(await host.load(), { ok: false, error: "Error: never" });
  } finally {
    await host.close();
    rmSync(folder, { recursive: true });
  }
});

/** Runs the parent program on one plugin of each language; nothing of it outlives the test. */
async function withParent(
  stay: "stay" | "end",
  run: (pids: number[], kill: () => void, exited: Promise<number | null>) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-parent-"));
  writeFileSync(path.join(folder, "plugin.ts"), SCRIPT);
  writeFileSync(path.join(folder, "__init__.py"), PROGRAM);
  const files = ["plugin.ts", ...PYTHON ? ["__init__.py"] : []];
  const program = path.join(import.meta.dirname!, "programs/host_parent.ts");
  const child = spawn(
    SELF.file,
    [...SELF.args.slice(0, -1), program, stay, ...files.map((file) => path.join(folder, file))],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  let text = "";
  child.stdout.on("data", (bytes) => text += bytes);
  let pids: number[] = [];
  try {
    await until(() => text.endsWith("\n"));
    pids = text.trim().split(" ").map(Number);
    assert.ok(pids.length === files.length && pids.every((pid) => pid > 1), text);
    await run(pids, () => child.kill("SIGKILL"), exited);
    await until(() => !pids.some(runs));
  } finally {
    child.kill("SIGKILL");
    for (const pid of pids.filter((pid) => pid > 1 && runs(pid))) process.kill(pid, "SIGKILL");
    await exited;
    rmSync(folder, { recursive: true });
  }
}

test("hosts end when we are killed, even those in an endless loop", () =>
  withParent("stay", async (pids, kill, exited) => {
    await new Promise((resume) => setTimeout(resume, 200));
    assert.ok(pids.every(runs));
    kill();
    await exited;
  }));

test("hosts do not keep us alive", () =>
  withParent("end", async (_pids, _kill, exited) => {
    assert.equal(await exited, 0);
  }));
