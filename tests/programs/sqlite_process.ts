/**
 * A home with a queue in a file, for tests; run as a program it is a process of that home:
 *
 *   sqlite_process.ts accept HOME RECEIVER_URL [COUNT]   accepts, printing each id once it is safe
 *   sqlite_process.ts send HOME RECEIVER_URL             sends until it is killed
 *   sqlite_process.ts hold HOME                          has the turn; prints the pid of a child of its own
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Delivery, QueueEngine, Settlement } from "../../lib/outbound/engine.ts";
import type { OpenKept } from "../../lib/outbound/open_kept.ts";
import type { QueueOptions } from "../../lib/outbound/queue.ts";
import { SqliteEngine } from "../../lib/outbound/sqlite/engine.ts";
import { openSqlite } from "../../lib/outbound/sqlite/open.ts";
import type { Target } from "../../lib/outbound/target/shape.ts";
import { again, deliveryTo, steps, targetAt } from "./kept_queue_contract.ts";
import { outboxOf } from "./outbound_outbox.ts";

/** One home; what its engines log goes into `lines`. */
export class SqliteHome {
  readonly folder: string;
  readonly file: string;
  readonly lines: string[] = [];
  /** The clock of its engines, in ms since 1970; undefined: that of the machine. */
  time: number | undefined;
  readonly #open = new Set<{ close(): void | Promise<void> }>();

  constructor(folder = mkdtempSync(path.join(os.tmpdir(), "hermes-sqlite-"))) {
    this.folder = folder;
    this.file = path.join(folder, "outbound.db");
  }

  #options(targets: readonly Target[], more: Partial<QueueOptions>): QueueOptions {
    return {
      home: this.folder,
      log: (level, line) => level === "debug" ? undefined : this.lines.push(`${level}: ${line}`),
      now: () => this.time === undefined ? new Date() : new Date(this.time),
      retainMs: 3_600_000,
      target: (key) => targets.find((target) => target.key === key)?.options,
      ...more,
    };
  }

  /** Opens it for sending. */
  async engine(targets: readonly Target[], more: Partial<QueueOptions> = {}) {
    const engine = await SqliteEngine.open(this.#options(targets, more));
    this.#open.add(engine);
    return engine;
  }

  /** Opens it as a process that does not send. */
  async beside(targets: readonly Target[], more: Partial<QueueOptions> = {}): Promise<OpenKept> {
    const open = await openSqlite(this.#options(targets, more));
    this.#open.add(open);
    return open;
  }

  /** Closes what is open and removes the folder. */
  async remove(): Promise<void> {
    for (const each of this.#open) await each.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A home for as long as the body takes. */
export async function withHome(body: (home: SqliteHome) => Promise<void>): Promise<void> {
  const home = new SqliteHome();
  try {
    await body(home);
  } finally {
    await home.remove();
  }
}

/** Takes and settles everything that is due, in order; returns what was taken. */
export async function takeAll(
  engine: QueueEngine,
  target: Target,
  settlement: Settlement = { kind: "done" },
): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  for (let one = await engine.take(target.key); one; one = await engine.take(target.key)) {
    taken.push(one);
    await engine.settle(one, settlement);
  }
  return taken;
}

/** The target of the programs below. */
export function programTarget(url: string): Target {
  const target = targetAt(url, { concurrency: 4, maxQueue: 1_000_000 });
  return Object.assign(target, { key: "programs" });
}

/** Starts one of the programs below in this runtime. */
export function startProgram(words: readonly string[], stdio: "pipe" | "ignore" = "pipe") {
  const program = fileURLToPath(import.meta.url);
  const deno = process.versions["deno"] === undefined ? [] : ["run", "-A", "--quiet"];
  return spawn(process.execPath, [...deno, program, ...words], {
    stdio: ["ignore", stdio, "inherit"],
  });
}

async function run([what, folder, url, count]: readonly string[]): Promise<void> {
  const home = new SqliteHome(folder);
  const target = programTarget(url ?? "http://127.0.0.1:1/");
  if (what === "accept") {
    const { kept, close } = await home.beside([target]);
    for (let n = 0; n < Number(count ?? Infinity); n++) {
      const one = deliveryTo(target);
      await kept.accept([one]);
      process.stdout.write(`${one.id}\n`);
    }
    await close();
    return;
  }
  const engine = await home.engine([target]);
  if (what === "send") {
    outboxOf([target], { engine, policy: steps(again(50)) });
    process.stdout.write("sending\n");
  } else {
    const child = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
    child.unref();
    process.stdout.write(`${child.pid}\n`);
  }
  // Stays until it is killed.
  setInterval(() => {}, 1_000);
}

if (import.meta.main) await run(process.argv.slice(2));
