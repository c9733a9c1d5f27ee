/**
 * What the queues cost, in one run and in turn: memory, sqlite, and redis where one can be had.
 *
 *   scripts/bench queue              accepting and delivering, and a cold `fire`
 *   scripts/bench queue backlog [N]  resident memory while N (1,000,000) deliveries wait
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import type { QueueKind } from "../lib/config/queue_settings.ts";
import { readYaml } from "../lib/config/yaml.ts";
import { openOutbox } from "../lib/outbound/open_outbox.ts";
import type { Outbox } from "../lib/outbound/outbox.ts";
import { readTargets, type Target } from "../lib/outbound/target.ts";
import { call } from "../tests/programs/outbound_outbox.ts";
import { startRedis } from "../tests/programs/redis_server.ts";
import { withSink } from "./bench_sink.ts";

const TARGETS = 8;
const RUNS = Number(process.env["RUNS"] ?? 3);
const DELIVERIES = 16_000;
const event = call("post_tool_call", { note: "x".repeat(700) }, "terminal");
const ROOT = path.dirname(import.meta.dirname!);
const BINARY = path.join(ROOT, "dist", "hermes-hooks");

const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!;
const percentile = (list: readonly number[], share: number) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length * share)]!;

function configText(port: number, queue: string): string {
  const items = Array.from(
    { length: TARGETS },
    (_, i) =>
      `    - {name: t${i}, url: "http://127.0.0.1:${port}/${i}", events: [post_tool_call], ` +
      "secret: s, max_queue: 1000000}",
  );
  return `hooks:\n  outbound:\n${
    items.join("\n")
  }\nhermes_hooks: {outbound: {queue: "${queue}"}}\n`;
}

function targetsAt(port: number, queue: string): readonly Target[] {
  const { root } = readYaml(configText(port, queue), "config.yaml");
  return readTargets(root, "config.yaml", {}).targets;
}

interface Bench {
  readonly name: string;
  readonly queue: QueueKind;
}

async function withOutbox<T>(
  bench: Bench,
  port: number,
  body: (outbox: Outbox) => Promise<T>,
): Promise<T> {
  const home = mkdtempSync(path.join(os.tmpdir(), "bench-queue-"));
  const name = bench.queue.kind === "redis" ? bench.queue.url : bench.queue.kind;
  const outbox = await openOutbox({
    home,
    queue: { queue: bench.queue, retainMs: 7 * 86_400_000 },
    targets: targetsAt(port, name),
    env: {},
    log: (level, line) => {
      if (level === "error" || level === "warning") console.error(`${bench.name}: ${line}`);
    },
    now: () => new Date(),
  });
  try {
    return await body(outbox);
  } finally {
    await outbox.drain(5_000);
    await outbox.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Deliveries a second from the first event told to the last answer; clients tell 32 at a time. */
function endToEnd(bench: Bench, port: number): Promise<number> {
  return withOutbox(bench, port, async (outbox) => {
    const began = performance.now();
    const ids: string[] = [];
    let left = DELIVERIES / TARGETS;
    await Promise.all(Array.from({ length: 32 }, async () => {
      while (left-- > 0) ids.push(...await outbox.tell(event));
    }));
    const report = await outbox.settled(ids, 300_000);
    if (report.delivered !== ids.length) {
      throw new Error(`${bench.name}: ${JSON.stringify(report)}`);
    }
    return ids.length / (performance.now() - began) * 1000;
  });
}

/** How long one event (8 deliveries) takes until it is accepted, alone, in ms. */
function acceptMs(bench: Bench): Promise<number[]> {
  return withOutbox(bench, 1, async (outbox) => {
    const times: number[] = [];
    for (let i = 0; i < 300; i++) {
      const began = performance.now();
      await outbox.tell(event);
      times.push(performance.now() - began);
    }
    return times;
  });
}

async function compareEngines(benches: readonly Bench[]): Promise<void> {
  await withSink(0, async (port) => {
    const rates = new Map<string, number[]>(benches.map(({ name }) => [name, []]));
    for (let run = 0; run < RUNS; run++) {
      for (const bench of benches) rates.get(bench.name)!.push(await endToEnd(bench, port));
    }
    const base = median(rates.get("memory")!);
    for (const bench of benches) {
      const rate = median(rates.get(bench.name)!);
      const accept = await acceptMs(bench);
      console.log(
        `${bench.name}: ${rate.toFixed(0)} deliveries/s end to end (${
          (rate / base).toFixed(2)
        } of memory); an event to ${TARGETS} targets accepted in p50 ${
          percentile(accept, 0.5).toFixed(3)
        } ms, p99 ${percentile(accept, 0.99).toFixed(3)} ms`,
      );
    }
  });
}

/** Medians of a cold `fire` with memory and with sqlite, in turn, in ms. */
async function coldFire(): Promise<void> {
  await withSink(0, (port) => {
    const homes = ["memory", "sqlite"].map((queue) => {
      const home = mkdtempSync(path.join(os.tmpdir(), "bench-fire-"));
      mkdirSync(path.join(home, "run"), { mode: 0o700 });
      writeFileSync(path.join(home, "config.yaml"), configText(port, queue));
      return { queue, home, times: [] as number[] };
    });
    const input = JSON.stringify({ tool_name: "terminal", args: { command: "ls" } });
    for (let run = 0; run < 41; run++) {
      for (const { home, times } of homes) {
        const began = performance.now();
        const { status, stderr } = spawnSync(BINARY, ["--home", home, "fire", "post_tool_call"], {
          input,
          env: { PATH: process.env["PATH"] ?? "", HOME: home },
        });
        if (status !== 0) throw new Error(String(stderr));
        if (run > 0) times.push(performance.now() - began);
      }
    }
    const [memory, sqlite] = homes.map(({ times }) => median(times)) as [number, number];
    console.log(
      `cold fire told to ${TARGETS} targets: memory ${memory.toFixed(1)} ms, sqlite ${
        sqlite.toFixed(1)
      } ms, ${(sqlite - memory).toFixed(1)} ms more`,
    );
    for (const { home } of homes) rmSync(home, { recursive: true, force: true });
    return Promise.resolve();
  });
}

const rssMib = () =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024);

/** Resident memory while so many wait for a target that cannot be reached. */
async function backlog(count: number): Promise<void> {
  const bench: Bench = { name: "sqlite", queue: { kind: "sqlite" } };
  await withOutbox(bench, 1, async (outbox) => {
    const marks: string[] = [];
    for (let made = 0; made < count; made += TARGETS * 64) {
      await Promise.all(Array.from({ length: 64 }, () => outbox.tell(event)));
      if (made % (TARGETS * 64 * 200) === 0) marks.push(`${made}: ${rssMib()}`);
    }
    marks.push(`${count}: ${rssMib()}`);
    console.log(`sqlite backlog, resident MiB by deliveries waiting: ${marks.join(", ")}`);
  });
}

if (process.argv[2] === "backlog") await backlog(Number(process.argv[3] ?? 1_000_000));
else {
  const redis = await startRedis();
  const benches: Bench[] = [
    { name: "memory", queue: { kind: "memory" } },
    { name: "sqlite", queue: { kind: "sqlite" } },
    ...(redis ? [{ name: "redis", queue: { kind: "redis" as const, url: redis.url } }] : []),
  ];
  await compareEngines(benches);
  await redis?.stop();
  await coldFire();
}
process.exit(0);
