/** A home with an `outbound.db`, for tests. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Delivery } from "../../lib/outbound/engine.ts";
import type { QueueOptions } from "../../lib/outbound/queue.ts";
import { SqliteEngine } from "../../lib/outbound/sqlite/engine.ts";
import { openSqlite } from "../../lib/outbound/sqlite/open.ts";
import type { TargetOptions } from "../../lib/outbound/target/shape.ts";
import { targetOf } from "./outbound_outbox.ts";

let made = 0;

/** A delivery to a target, with an id of its own. */
export function delivery(target: string, more: Partial<Delivery> = {}): Delivery {
  return {
    id: String(++made).padStart(32, "0"),
    target,
    event: "on_session_end",
    wire: `{"note": ${made}}`,
    occurredAt: new Date().toISOString(),
    attempts: 0,
    ...more,
  };
}

/** Waits so many ms. */
export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One home; `limits` are what its targets say, `all` for every one. */
export class QueueHome {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), "queue-"));
  readonly lines: string[] = [];
  readonly dropped: [string, number][] = [];
  now = () => new Date();
  readonly #limits: Partial<TargetOptions>;

  constructor(limits: Partial<TargetOptions> = {}) {
    this.#limits = limits;
  }

  get file(): string {
    return path.join(this.folder, "outbound.db");
  }

  options(more: Partial<QueueOptions> = {}): QueueOptions {
    const base = targetOf(`- {url: "http://127.0.0.1:1/", events: [on_session_end]}`).options;
    return {
      home: this.folder,
      log: (level, line) => this.lines.push(`${level}: ${line}`),
      now: () => this.now(),
      target: () => ({ ...base, maxQueue: 1000, ...this.#limits }),
      retainMs: 86_400_000,
      onDropped: (target, count) => this.dropped.push([target, count]),
      ...more,
    };
  }

  engine(more: Partial<QueueOptions> = {}): Promise<SqliteEngine> {
    return SqliteEngine.open(this.options(more));
  }

  look() {
    return openSqlite(this.options());
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
