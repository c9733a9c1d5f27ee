/**
 * What sending costs, against a sender that makes one delivery at a time with a new connection each,
 * in the same run and in turn.
 *
 *   bun scripts/bench_outbound.ts
 */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import http from "node:http";
import process from "node:process";
import { createOutbox } from "../lib/outbound/outbox.ts";
import { readTargets, type Target } from "../lib/outbound/target.ts";
import { readYaml } from "../lib/config/yaml.ts";
import { call } from "../tests/programs/outbound_outbox.ts";
import { withSink } from "./bench_sink.ts";

const TARGETS = 8;
const padding = "x".repeat(700);
const event = call("post_tool_call", { note: padding }, "terminal");

function targetsAt(port: number, maxQueue: number): readonly Target[] {
  const items = Array.from(
    { length: TARGETS },
    (_, i) =>
      `    - {name: t${i}, url: "http://127.0.0.1:${port}/${i}", events: [post_tool_call], ` +
      `secret: s, max_queue: ${maxQueue}}`,
  );
  const { root } = readYaml(`hooks:\n  outbound:\n${items.join("\n")}\n`, "config.yaml");
  return readTargets(root, "config.yaml", {}).targets;
}

function outboxAt(port: number, maxQueue: number) {
  const log = () => {};
  const targets = targetsAt(port, maxQueue);
  return createOutbox({ targets, env: {}, log, now: () => new Date() });
}

/** Deliveries a second of the outbox. */
async function lanes(port: number, deliveries: number): Promise<number> {
  const outbox = outboxAt(port, 10_000);
  const began = performance.now();
  const ids: string[] = [];
  for (let i = 0; i < deliveries / TARGETS; i++) ids.push(...await outbox.tell(event));
  const report = await outbox.settled(ids, 120_000);
  const took = performance.now() - began;
  if (report.delivered !== ids.length) throw new Error(JSON.stringify(report));
  await outbox.close();
  return ids.length / took * 1000;
}

/** Deliveries a second of a serial sender with a new connection each. */
async function serial(port: number, deliveries: number): Promise<number> {
  const agent = new http.Agent({ keepAlive: false });
  const body = Buffer.from(event.text);
  const began = performance.now();
  for (let i = 0; i < deliveries; i++) {
    const signature = createHmac("sha256", "s").update(body).digest("hex");
    await new Promise<void>((resolve, reject) => {
      const headers = {
        "Content-Type": "application/json",
        "Content-Length": body.length,
        "X-Hermes-Signature-256": `sha256=${signature}`,
      };
      const request = http.request(
        { host: "127.0.0.1", port, method: "POST", path: "/", agent, headers },
        (answer) => answer.resume().on("end", () => resolve()),
      );
      request.on("error", reject);
      request.end(body);
    });
  }
  return deliveries / (performance.now() - began) * 1000;
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!;

async function compare(name: string, delayMs: number, ours: number, theirs: number, runs: number) {
  await withSink(delayMs, async (port) => {
    const a: number[] = [], b: number[] = [];
    for (let i = 0; i < runs; i++) {
      a.push(await lanes(port, ours));
      b.push(await serial(port, theirs));
    }
    const [x, y] = [median(a), median(b)];
    const rate = (n: number) => `${n.toFixed(n < 100 ? 1 : 0)}/s`;
    console.log(
      `${name}: ${rate(x)} with ${TARGETS} targets, serial ${rate(y)}, ${(x / y).toFixed(1)} times`,
    );
  });
}

async function enqueueCost() {
  await withSink(0, async (port) => {
    const outbox = outboxAt(port, 1_000_000);
    const times: number[] = [];
    for (let i = 0; i < 3000; i++) {
      const began = performance.now();
      outbox.tell(event);
      times.push((performance.now() - began) * 1000 / TARGETS);
      if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const sorted = times.toSorted((a, b) => a - b);
    const at = (q: number) => `${sorted[Math.floor(sorted.length * q)]!.toFixed(1)} µs`;
    console.log(`enqueue, each delivery: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(0.9999)}`);
    await outbox.close();
  });
}

async function flood() {
  const outbox = outboxAt(1, 256);
  const rss = () => process.memoryUsage().rss / 1024 / 1024;
  const marks: number[] = [];
  const began = performance.now();
  for (let i = 0; i < 100_000; i++) {
    outbox.tell(event);
    if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (i % 20_000 === 0) marks.push(Math.round(rss()));
  }
  marks.push(Math.round(rss()));
  const ms = Math.round(performance.now() - began);
  console.log(
    `100,000 events at ${TARGETS} dead targets: ${ms} ms, resident MiB ${marks.join(" ")}`,
  );
  await outbox.close();
}

await compare("fast sink", 0, 10_000, 10_000, 3);
await compare("sink of 100 ms", 100, 200, 25, 1);
await enqueueCost();
await flood();
process.exit(0);
