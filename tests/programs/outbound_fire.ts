/** Commands run as people run them, in a home of their own whose senders are ended with it. */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";

const MAIN = path.join(import.meta.dirname!, "..", "..", "main.ts");
const RUNTIME = "Deno" in globalThis ? ["run", "-A", MAIN] : [MAIN];

export interface Ran {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The verdict's warnings. */
  readonly warnings: readonly string[];
  readonly ms: number;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Record<string, string>;
}

/** A home in a temporary folder. */
export interface Home {
  readonly folder: string;
  /** Writes the config: hooks and `outbound` entries as YAML below `hooks:`. */
  config(hooks: string): void;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** `fire EVENT` with fields. */
  fire(event: string, fields: object, args?: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Ids of the senders that run for it; none where there is no /proc. */
  senders(): number[];
}

export async function withHome(body: (home: Home) => Promise<void>): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "hh-fire-"));
  const home = homeIn(folder);
  try {
    await body(home);
  } finally {
    for (const pid of home.senders()) process.kill(pid, "SIGKILL");
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function homeIn(folder: string): Home {
  const home: Home = {
    folder,
    config: (hooks) =>
      fs.writeFileSync(
        path.join(folder, "config.yaml"),
        `hooks_auto_accept: true\nhooks:\n${hooks}`,
      ),
    run: (args, options = {}) => run(folder, args, options),
    fire: (event, fields, args = [], options = {}) =>
      run(folder, ["fire", event, ...args], { input: JSON.stringify(fields), ...options }),
    senders: () => sendersOf(folder),
  };
  return home;
}

/** How a command is started: program, arguments and environment. */
export function commandOf(folder: string, args: readonly string[], env = {}) {
  const { PATH, HOME, TMPDIR, DENO_DIR } = process.env;
  const own = { PATH, HOME, TMPDIR, DENO_DIR, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  return {
    file: process.execPath,
    args: [...RUNTIME, ...args],
    env: { ...Object.fromEntries(set) as Record<string, string>, HERMES_HOME: folder, ...env },
  };
}

function run(folder: string, words: readonly string[], options: RunOptions): Promise<Ran> {
  const { file, args, env } = commandOf(folder, words, options.env);
  const began = performance.now();
  const child = spawn(file, args, { env, stdio: "pipe" });
  const out: Buffer[] = [], err: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => out.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => err.push(bytes));
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => {
      const stdout = Buffer.concat(out).toString(), stderr = Buffer.concat(err).toString();
      const ms = performance.now() - began;
      resolve({ exit, stdout, stderr, warnings: warningsOf(stdout), ms });
    });
  });
}

function warningsOf(stdout: string): string[] {
  try {
    return JSON.parse(stdout).warnings ?? [];
  } catch {
    return [];
  }
}

function sendersOf(folder: string): number[] {
  let names: string[];
  try {
    names = fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  } catch {
    return [];
  }
  return names.filter((name) => {
    try {
      const words = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return words.includes("sender") && words.includes(path.join(folder, "logs", "outbound.log"));
    } catch {
      return false;
    }
  }).map(Number);
}
