/**
 * What the listener answers: events/s with no hooks, and what one hook costs over it against a bare
 * spawn of that hook, over the unix socket and TCP, 1 and 32 connections at a time.
 *
 *   scripts/bench serve [SECONDS]
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";

const seconds = Number(process.argv[2] ?? 3);
const root = path.dirname(import.meta.dirname!);
const binary = path.join(root, "dist", "hermes-hooks");
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-bench-")));
const hook = path.join(folder, "gate.sh");
const payload = JSON.stringify({
  tool_name: "terminal",
  args: { command: "ls -la" },
  session_id: "s1",
});
const env = { PATH: process.env["PATH"] ?? "", HOME: folder, LANG: "C.UTF-8" };

interface Served {
  readonly home: string;
  readonly socket: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** A listener of its own, ready to take events. */
async function serve(name: string, config: string): Promise<Served> {
  const home = path.join(folder, name);
  mkdirSync(home);
  writeFileSync(path.join(home, "config.yaml"), config);
  const words = ["--home", home, "serve", "--accept-hooks", "--listen", "127.0.0.1:0"];
  const child = spawn(binary, words, { env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    let log = "";
    child.stderr.on("data", (bytes) => {
      if (log.length < 100_000) log += bytes;
      const found = /"tcp":"127\.0\.0\.1:([0-9]+)"/.exec(log);
      if (found) resolve(Number(found[1]));
    });
    child.on("exit", () => reject(new Error(`the listener did not start: ${log}`)));
  });
  return {
    home,
    socket: path.join(home, "run", "hooks.sock"),
    port,
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** One request as bytes, for a connection that is kept. */
function requestBytes({ home }: Served): Uint8Array {
  const token = readFileSync(path.join(home, "run", "token"), "utf8").trim();
  return new TextEncoder().encode(
    `POST /v1/events/pre_tool_call HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n${payload}`,
  );
}

/** Sends one request after another until the time is up; gives each one's time in ms. */
function caller(open: () => Socket, bytes: Uint8Array, until: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const times: number[] = [];
    const socket = open();
    let began = 0, text = "";
    const next = () => {
      began = performance.now();
      if (began >= until) {
        socket.end();
        return resolve(times);
      }
      text = "";
      socket.write(bytes);
    };
    socket.on("connect", next);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: *([0-9]+)/i.exec(text)?.[1]);
      if (text.length < head + 4 + length) return;
      if (!text.startsWith("HTTP/1.1 200")) return reject(new Error(text));
      times.push(performance.now() - began);
      next();
    });
  });
}

const at = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
const ms = (value: number) => `${value.toFixed(2)} ms`;

interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

async function load(open: () => Socket, bytes: Uint8Array, connections: number): Promise<Measured> {
  const run = async (length: number) => {
    const began = performance.now();
    const until = began + length * 1000;
    const all = await Promise.all(
      Array.from({ length: connections }, () => caller(open, bytes, until)),
    );
    return { times: all.flat(), took: performance.now() - began };
  };
  await run(0.5);
  const { times, took } = await run(seconds);
  const sorted = times.toSorted((a, b) => a - b);
  return {
    perSecond: times.length / took * 1000,
    p50: at(sorted, 0.5),
    p99: at(sorted, 0.99),
  };
}

function bareSpawn(): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(hook, [], { env, stdio: ["pipe", "pipe", "ignore"] });
    child.on("error", reject);
    child.stdout.resume();
    child.on("close", () => resolve(performance.now() - began));
    child.stdin.on("error", () => {});
    child.stdin.end(payload);
  });
}

function show(name: string, { perSecond, p50, p99 }: Measured, base?: number): void {
  const over = base === undefined ? "" : `  p50 ${ms(p50 - base)} over a bare spawn`;
  const rate = `${Math.round(perSecond)} events/s`;
  console.log(
    `  ${name.padEnd(28)} ${rate.padStart(16)}  p50 ${ms(p50)}  p99 ${ms(p99)}${over}`,
  );
}

async function measure(served: Served, base?: () => Promise<number>): Promise<void> {
  const bytes = requestBytes(served);
  const doors = {
    socket: () => connect(served.socket),
    TCP: () => connect(served.port, "127.0.0.1").setNoDelay(true),
  };
  for (const connections of [1, 32]) {
    for (const [door, open] of Object.entries(doors)) {
      const before = connections === 1 ? await base?.() : undefined;
      show(`${door}, ${connections} at a time`, await load(open, bytes, connections), before);
    }
  }
}

async function main(): Promise<void> {
  writeFileSync(hook, "#!/bin/sh\nread -r _\nprintf '{}'\n");
  chmodSync(hook, 0o755);
  console.log(`no hooks (${seconds} s each)`);
  const none = await serve("none", "hooks: {}\n");
  await measure(none);
  await none.stop();

  console.log(`\none hook (${seconds} s each)`);
  const one = await serve("one", `hooks:\n  pre_tool_call:\n    - command: ${hook}\n`);
  await measure(one, async () => {
    const times: number[] = [];
    for (let i = 0; i < 200; i++) times.push(await bareSpawn());
    const sorted = times.toSorted((a, b) => a - b);
    console.log(`  bare spawn: p50 ${ms(at(sorted, 0.5))}  p99 ${ms(at(sorted, 0.99))}`);
    return at(sorted, 0.5);
  });
  await one.stop();
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
