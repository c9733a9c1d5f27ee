/**
 * The door to everything outbound: an event goes in, and its deliveries are on their way. Whoever
 * fires never waits for the network (rule 10.3).
 */
import type { Context } from "../context.ts";
import type { Call } from "../sources/hook.ts";
import type { Resolve } from "./address.ts";
import { attemptLine } from "./attempt_line.ts";
import type { Pool } from "./connection.ts";
import { deliveriesFor, isDelivery } from "./deliveries.ts";
import {
  type Delivery,
  type Driver,
  type KeptQueue,
  NotAccepted,
  type QueueCounts,
  type QueueEngine,
} from "./engine.ts";
import { type Attempt, type DeliveryResult, History } from "./history.ts";
import { fatesWithin } from "./kept_fates.ts";
import { Lanes } from "./lanes.ts";
import { MemoryEngine } from "./memory_engine.ts";
import { attempt, openPool } from "./send.ts";
import type { Target } from "./target.ts";
import { type AttemptEnd, type Policy, Work } from "./work.ts";

export type { Attempt, DeliveryResult } from "./history.ts";

/** What an outbox is made of. */
export interface OutboxOptions {
  readonly targets: readonly Target[];
  /** Where proxies are looked up. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Context["log"];
  readonly now: () => Date;
  /** Default: a {@link MemoryEngine} bounded by the targets' `max_queue`. */
  readonly engine?: QueueEngine;
  /** What follows from an attempt. Default: rule 10.4's one retry. */
  readonly policy?: Policy;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Told of the targets that are sent to, whenever they are replaced. */
  readonly onTargets?: (targets: readonly Target[]) => void;
  /** Told of each attempt as it ends, for counters. */
  readonly onAttempt?: (attempt: Attempt) => void;
}

/** How a target stands. */
export interface TargetCounts extends QueueCounts {
  /** The target's name. */
  readonly name: string;
  /** Deliveries that arrived, since start. */
  readonly delivered: number;
  /** Deliveries given up after an attempt, since start. */
  readonly failed: number;
}

/** What came of deliveries, in numbers that add up to those asked for. */
export interface SettledReport {
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
  /** Still on their way when the time ran out. */
  readonly pending: number;
  /** Ended too long ago to be known, or never seen. */
  readonly unknown: number;
}

/** Deliveries on their way. */
export interface Outbox {
  /**
   * Queues a delivery for each target that wants the call, and returns their ids (of dropped ones
   * too). A promise only when a matcher or the engine takes its time.
   * @param occurredAt when the event was fired; default: now
   * @throws NotAccepted (the promise rejects) when an engine that keeps deliveries took none
   */
  tell(call: Call, occurredAt?: Date): readonly string[] | Promise<readonly string[]>;
  /**
   * Queues deliveries that another process made; each keeps its id. Malformed ones and those of no
   * target are dropped. Returns the ids of the others.
   */
  adopt(deliveries: readonly Delivery[]): readonly string[] | Promise<readonly string[]>;
  /** Waits until these deliveries have ended, at most `ms`. */
  settled(ids: readonly string[], ms: number): Promise<SettledReport>;
  /** By {@link Target.key}. */
  counts(): Promise<ReadonlyMap<string, TargetCounts>>;
  /** The last 500 attempts, the newest first. */
  recent(): readonly Attempt[];
  /** Sends a delivery that has ended once more, under its id. False: it is no longer held. */
  redeliver(id: string): boolean | Promise<boolean>;
  /** What is kept, for an engine that keeps it. */
  readonly kept: KeptQueue | undefined;
  /** From now on these; a target that is the same goes on with its queue. */
  replaceTargets(targets: readonly Target[]): void;
  /** Takes nothing more in and waits, at most `ms`, until all is sent; then gives up the rest. */
  drain(ms: number): Promise<{ readonly dropped: number }>;
  /** Stops at once, connections and all. */
  close(): Promise<void>;
}

/** Makes an outbox; sending begins with the first {@link Outbox.tell}. */
export function createOutbox(options: OutboxOptions): Outbox {
  return new TargetOutbox(options);
}

interface Tally {
  delivered: number;
  failed: number;
  /** The failure that was logged last as a warning: the same again is a debug line. */
  complaint: string | undefined;
}

class TargetOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #engine: QueueEngine;
  readonly #work: Work;
  readonly #driver: Driver;
  readonly #history = new History();
  readonly #pools = new Map<string, Pool>();
  readonly #tallies = new Map<string, Tally>();
  readonly #pending = new Map<string, (() => void)[]>();
  #targets: ReadonlyMap<string, Target> = new Map();
  #closed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#engine = options.engine ?? new MemoryEngine({
      maxQueue: (key) => this.#targets.get(key)?.options.maxQueue ?? 0,
      targets: () => this.#targets.size,
      onDropped: (key, count) => this.#warnDropped(key, count),
    });
    this.#work = new Work({
      policy: options.policy,
      onEnd: (end) => this.#onEnd(end),
      send: (target, delivery, n) => attempt(target, delivery, n, this.#depsOf(target)),
    });
    this.#driver = this.#engine.drive?.(this.#work) ?? new Lanes({
      engine: this.#engine,
      work: this.#work,
      onGone: ({ id }) => this.#end(id, "dropped"),
      onFault: (error) => options.log("warning", `outbound: ${(error as Error).message}`),
    });
    this.replaceTargets(options.targets);
  }

  get kept(): KeptQueue | undefined {
    return this.#engine.kept;
  }

  tell(call: Call, occurredAt = this.#options.now()): readonly string[] | Promise<string[]> {
    const made = deliveriesFor(
      call,
      this.#targets.values(),
      occurredAt,
      (target, warning) => this.#say("warning", target, warning),
    );
    return made instanceof Promise ? made.then((list) => this.#enqueue(list)) : this.#enqueue(made);
  }

  adopt(deliveries: readonly Delivery[]): readonly string[] | Promise<readonly string[]> {
    return this.#enqueue(deliveries.filter((delivery) => {
      if (isDelivery(delivery) && this.#targets.has(delivery.target)) return true;
      this.#end(delivery.id, "dropped");
      return false;
    }));
  }

  #enqueue(deliveries: readonly Delivery[]): string[] | Promise<string[]> {
    if (this.#engine.kept) return this.#accept(this.#engine.kept, deliveries);
    const waits: Promise<void>[] = [];
    for (const delivery of deliveries) {
      this.#pending.set(delivery.id, []);
      const enqueued = this.#closed ? "dropped" : this.#engine.enqueue(delivery);
      if (enqueued === "dropped") this.#end(delivery.id, "dropped");
      else if (enqueued !== "queued") {
        waits.push(enqueued.then((e) => {
          if (e === "dropped") this.#end(delivery.id, "dropped");
        }));
      }
    }
    const ids = deliveries.map(({ id }) => id);
    return waits.length === 0 ? ids : Promise.all(waits).then(() => ids);
  }

  /** What is kept is not followed here: a backlog must not fill the memory. */
  async #accept(kept: KeptQueue, deliveries: readonly Delivery[]): Promise<string[]> {
    if (deliveries.length === 0) return [];
    if (this.#closed) throw new NotAccepted("the queue is closed", "unavailable");
    const became = await kept.accept(deliveries);
    deliveries.forEach(({ id }, at) => {
      if (became[at] === "dropped") this.#history.setResult(id, "dropped");
    });
    return deliveries.map(({ id }) => id);
  }

  #end(id: string, result: DeliveryResult): void {
    this.#history.setResult(id, result);
    const waiters = this.#pending.get(id);
    this.#pending.delete(id);
    for (const wake of waiters ?? []) wake();
  }

  async settled(ids: readonly string[], ms: number): Promise<SettledReport> {
    if (this.#engine.kept) return await this.#keptSettled(this.#engine.kept, ids, ms);
    const waits = ids.flatMap((id) => {
      const waiters = this.#pending.get(id);
      return waiters ? [new Promise<void>((resolve) => waiters.push(resolve))] : [];
    });
    if (waits.length > 0 && ms > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
      await Promise.race([Promise.all(waits), late]);
      clearTimeout(timer);
    }
    const report = { delivered: 0, failed: 0, dropped: 0, pending: 0, unknown: 0 };
    for (const id of ids) {
      report[this.#pending.has(id) ? "pending" : this.#history.result(id) ?? "unknown"]++;
    }
    return report;
  }

  async #keptSettled(kept: KeptQueue, ids: readonly string[], ms: number) {
    const report = { delivered: 0, failed: 0, dropped: 0, pending: 0, unknown: 0 };
    const entered = ids.filter((id) => this.#history.result(id) !== "dropped");
    report.dropped = ids.length - entered.length;
    const fates = [...(await fatesWithin(kept, entered, ms, () => this.#closed)).values()];
    report.pending = fates.filter((fate) => fate === "pending").length;
    report.failed = fates.length - report.pending;
    report.delivered = entered.length - fates.length;
    return report;
  }

  async counts(): Promise<ReadonlyMap<string, TargetCounts>> {
    const queues = await this.#engine.counts();
    return new Map([...this.#targets].map(([key, { name }]) => {
      const { delivered, failed } = this.#tally(key);
      const queue = queues.get(key) ?? this.#none();
      return [key, { name, ...queue, delivered, failed }];
    }));
  }

  #none(): QueueCounts {
    const none = { waiting: 0, inFlight: 0, dropped: 0 };
    return this.#engine.kept ? { ...none, dead: 0 } : none;
  }

  recent(): readonly Attempt[] {
    return this.#history.attempts();
  }

  redeliver(id: string): boolean | Promise<boolean> {
    const { kept } = this.#engine;
    if (kept) return kept.redeliver({ ids: [id] }).then((count) => count > 0);
    const delivery = this.#history.held(id);
    const target = delivery && this.#targets.get(delivery.target);
    if (!delivery || !target || target.options.disabled !== undefined) return false;
    if (this.#closed || this.#pending.has(id)) return false;
    this.#enqueue([{ ...delivery, attempts: 0 }]);
    return this.#history.result(id) !== "dropped" || this.#pending.has(id);
  }

  replaceTargets(targets: readonly Target[]): void {
    const live = targets.filter(({ options }) => options.disabled === undefined);
    const before = this.#targets;
    this.#targets = new Map(live.map((target) => [target.key, target]));
    this.#options.onTargets?.(live);
    for (const key of [...this.#pools.keys()]) {
      // Options may have changed: the next attempt opens its connections anew.
      const target = this.#targets.get(key);
      if (target === undefined || target !== before.get(key)) this.#retire(key);
    }
    for (const [key, target] of before) {
      if (!this.#targets.has(key)) void this.#sayGone(key, target);
    }
    this.#driver.setTargets(live);
  }

  /** Attempts under way end by themselves; then their connections are closed. */
  #retire(key: string): void {
    this.#pools.get(key)?.retire();
    this.#pools.delete(key);
  }

  /** What waits for it is given up by its lane, where it is not kept. */
  async #sayGone(key: string, target: Target): Promise<void> {
    this.#tallies.delete(key);
    const count = (await this.#engine.counts()).get(key)?.waiting ?? 0;
    if (count === 0) return;
    const fate = this.#engine.kept ? "kept until it is configured again" : "dropped";
    this.#say("warning", target, `is no longer configured: ${events(count)} ${fate}`);
  }

  async drain(ms: number): Promise<{ readonly dropped: number }> {
    // What is kept goes on at the next start: only attempts under way are waited for.
    if (this.#engine.kept) await this.#driver.close();
    const left = await this.#engine.drain(ms);
    await this.#stop();
    for (const { id } of left) this.#end(id, "dropped");
    const byTarget = new Map<string, number>();
    for (const { target } of left) byTarget.set(target, (byTarget.get(target) ?? 0) + 1);
    for (const [key, count] of byTarget) {
      const target = this.#targets.get(key);
      if (target) this.#say("warning", target, `${events(count)} not delivered in time, dropped`);
    }
    return { dropped: left.length };
  }

  async #stop(): Promise<void> {
    this.#closed = true;
    this.#work.close();
    await this.#driver.close();
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#engine.close();
    for (const id of [...this.#pending.keys()]) this.#end(id, "dropped");
  }

  #depsOf(target: Target): { pool: Pool; now: () => Date } {
    let pool = this.#pools.get(target.key);
    if (!pool) {
      pool = openPool(target, this.#options);
      this.#pools.set(target.key, pool);
    }
    return { pool, now: this.#options.now };
  }

  #tally(key: string): Tally {
    let tally = this.#tallies.get(key);
    if (!tally) this.#tallies.set(key, tally = { delivered: 0, failed: 0, complaint: undefined });
    return tally;
  }

  #onEnd(end: AttemptEnd): void {
    const { target, delivery, attempt, result, step } = end;
    const { outcome, status, error, location, durationMs } = result;
    const done: Attempt = {
      at: this.#options.now().toISOString(),
      target: target.name,
      event: delivery.event,
      id: delivery.id,
      attempt,
      outcome,
      status,
      error,
      location,
      ms: durationMs,
      retried: step.settlement.kind === "retry",
    };
    this.#history.addAttempt(done);
    this.#options.onAttempt?.(done);
    if (!done.retried) {
      const tally = this.#tally(target.key);
      tally[outcome === "delivered" ? "delivered" : "failed"]++;
      if (!this.#engine.kept) this.#history.hold(delivery);
      this.#end(delivery.id, outcome === "delivered" ? "delivered" : "failed");
    }
    this.#logAttempt(end);
  }

  #logAttempt(end: AttemptEnd): void {
    const { target, result: { outcome, error } } = end;
    const tally = this.#tally(target.key);
    const { text, isFailure } = attemptLine(end, this.#engine.kept !== undefined);
    // The same failure over and over would bury everything else.
    const isNew = isFailure && tally.complaint !== error;
    if (outcome === "delivered") tally.complaint = undefined;
    else if (isFailure) tally.complaint = error;
    this.#say(isNew ? "warning" : "debug", target, text);
  }

  #warnDropped(key: string, count: number): void {
    const target = this.#targets.get(key);
    if (!target) return;
    this.#say("warning", target, droppedText(target, count));
  }

  #say(level: "debug" | "warning", target: Target, line: string): void {
    this.#options.log(level, `outbound "${target.name}": ${line}`);
  }
}

/** What is said of events that a full queue dropped. */
export function droppedText({ options }: Target, count: number): string {
  return `queue full (max_queue ${options.maxQueue}): ${events(count)} dropped`;
}

function events(count: number): string {
  return count === 1 ? "1 event" : `${count} events`;
}
