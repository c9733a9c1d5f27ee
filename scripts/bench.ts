/**
 * What a hook costs: medians over many runs, in turn with a bare spawn of the same hook in the same
 * run, and their ratios. Absolute times differ from machine to machine; ratios and differences less.
 *
 *   scripts/bench [RUNS]
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createDispatcher } from "../lib/mod.ts";

const runs = Number(process.argv[2] ?? 100);
const root = path.dirname(import.meta.dirname!);
const binary = path.join(root, "dist", "hermes-hooks");
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-bench-")));
const hook = path.join(folder, "gate.sh");
const fields = { tool_name: "terminal", args: { command: "ls" }, session_id: "s1" };
const payload = JSON.stringify(fields);
const env = { PATH: process.env["PATH"] ?? "", HOME: folder, LANG: "C.UTF-8" };

function lay(home: string, config: string): string {
  const at = path.join(folder, home);
  mkdirSync(at);
  writeFileSync(path.join(at, "config.yaml"), config);
  return at;
}

/** Milliseconds from start to end of file on stdout, and peak memory in MiB where the runtime tells. */
function once(command: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(command[0]!, command.slice(1), { env, stdio: ["pipe", "pipe", "ignore"] });
    child.on("error", reject);
    child.stdout.resume();
    child.on("close", () => resolve(performance.now() - began));
    child.stdin.on("error", () => {});
    child.stdin.end(payload);
  });
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!;
const ms = (value: number) => `${value.toFixed(2)} ms`;

async function inTurn(actions: Record<string, () => Promise<unknown>>, count: number) {
  const times = Object.fromEntries(Object.keys(actions).map((name) => [name, [] as number[]]));
  for (let i = -3; i < count; i++) {
    for (const [name, action] of Object.entries(actions)) {
      const began = performance.now();
      await action();
      if (i >= 0) times[name]!.push(performance.now() - began);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

function report(times: Record<string, number>, base: string): void {
  for (const [name, time] of Object.entries(times)) {
    const over = name === base
      ? ""
      : `  +${ms(time - times[base]!)} over ${base}, ratio ${(time / times[base]!).toFixed(2)}`;
    console.log(`  ${name.padEnd(34)} ${ms(time).padStart(10)}${over}`);
  }
}

/** Peak resident memory of one cold fire in MiB; only Bun tells. */
function peakMemory(command: readonly string[]): string {
  const bun = (globalThis as {
    Bun?: {
      spawnSync(options: object): { resourceUsage?: { maxRSS: number } };
    };
  }).Bun;
  const usage = bun?.spawnSync({ cmd: command, env, stdin: new TextEncoder().encode(payload) });
  return usage?.resourceUsage ? `${(usage.resourceUsage.maxRSS / 1048576).toFixed(1)} MiB` : "?";
}

async function main(): Promise<void> {
  writeFileSync(hook, "#!/bin/sh\nread -r _\nprintf '{}'\n");
  chmodSync(hook, 0o755);
  const one = lay("one", `hooks:\n  pre_tool_call:\n    - command: ${hook}\n`);
  const approvals = [{ event: "pre_tool_call", command: hook }];
  writeFileSync(path.join(one, "shell-hooks-allowlist.json"), JSON.stringify({ approvals }));
  const none = lay("none", "hooks: {}\n");

  console.log(`cold, as a process (${runs} runs in turn, medians)`);
  const fire = (home: string) => [binary, "--home", home, "fire", "pre_tool_call"];
  report(
    await inTurn({
      "bare spawn of the hook": () => once([hook]),
      "the hook from a shell": () => once(["/bin/sh", "-c", `${hook}; exit $?`]),
      "fire, no hooks": () => once(fire(none)),
      "fire, one hook": () => once(fire(one)),
    }, runs),
    "the hook from a shell",
  );
  report(
    await inTurn({
      "true": () => once(["/bin/true"]),
      "exec -- true, no hooks": () => once([binary, "--home", none, "exec", "--", "/bin/true"]),
    }, runs),
    "true",
  );
  console.log(`  peak memory of fire, one hook: ${peakMemory(fire(one))}`);

  console.log(`\nin process (${runs * 3} runs in turn, medians)`);
  const dispatcher = await createDispatcher({ home: one, env });
  report(
    await inTurn({
      "bare spawn": () => once([hook]),
      "dispatch, one hook": () => dispatcher.fire("pre_tool_call", fields),
    }, runs * 3),
    "bare spawn",
  );
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
