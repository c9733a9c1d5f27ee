/**
 * What a warm call of a hosted callback costs, in TypeScript and in Python, against a bare spawn of
 * a shell hook. Needs dist/hermes-hooks, or the executable named.
 *
 *   bun scripts/bench_hosts.ts [CALLS] [EXECUTABLE]
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { parseJson } from "../lib/events/json.ts";
import { createHost } from "../lib/sources/host/create.ts";

const root = path.dirname(import.meta.dirname!);
const calls = Number(process.argv[2] ?? 2_000);
const executable = path.resolve(process.argv[3] ?? path.join(root, "dist", "hermes-hooks"));
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-bench-")));
const env = { PATH: process.env["PATH"] ?? "", HOME: folder, LANG: "C.UTF-8" };
const payload = '{"tool_name":"terminal","args":{"command":"ls -la"},"session_id":"s1"}';

const FILES = {
  "plugin.ts":
    'export function register(ctx: any) {\n  ctx.register_hook("pre_tool_call", (f: any) => ({ n: f.tool_name }));\n}\n',
  "__init__.py":
    'def register(ctx):\n    ctx.register_hook("pre_tool_call", lambda tool_name, **f: {"n": tool_name})\n',
};

const at = (times: number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)]!;

async function timed(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await run();
    times.push(performance.now() - began);
  }
  return times;
}

function bareSpawn(hook: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(hook, [], { env, stdio: ["pipe", "pipe", "ignore"] });
    child.on("error", reject);
    child.stdout.resume();
    child.on("close", () => resolve());
    child.stdin.on("error", () => {});
    child.stdin.end(payload);
  });
}

function show(name: string, times: number[], base: number): void {
  const p50 = at(times, 0.5);
  const share = p50 === base ? "" : `  ${(p50 / base).toFixed(2)} of a bare spawn`;
  const p99 = at(times, 0.99).toFixed(3);
  console.log(`  ${name.padEnd(20)} p50 ${p50.toFixed(3)} ms  p99 ${p99} ms${share}`);
}

async function main(): Promise<void> {
  const hook = path.join(folder, "gate.sh");
  writeFileSync(hook, "#!/bin/sh\nread -r _\nprintf '{}'\n");
  chmodSync(hook, 0o755);
  await timed(50, () => bareSpawn(hook));
  const bare = await timed(300, () => bareSpawn(hook));
  const base = at(bare, 0.5);
  show("bare spawn", bare, base);
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    const host = createHost({
      language: name.endsWith(".py") ? "python" : "script",
      mode: "plugin",
      label: 'plugin "bench"',
      file,
      folder,
      env,
      cwd: folder,
      memoryMb: 512,
    }, { self: { file: executable, args: [] }, log: (line) => console.error(line) });
    const began = performance.now();
    const loaded = await host.load();
    if (!loaded.ok) throw new Error(loaded.error);
    const took = performance.now() - began;
    const fields = parseJson(payload);
    const call = () => host.call(0, "pre_tool_call", fields, 5_000);
    await timed(200, call);
    show(`warm call, ${name}`, await timed(calls, call), base);
    console.log(`  ${"start and load".padEnd(20)} ${took.toFixed(0)} ms`);
    await host.close();
  }
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
