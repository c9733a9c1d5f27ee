/** An engine that keeps deliveries, for tests of what drives it: nothing of it outlives the process. */
import type {
  Delivery,
  Enqueued,
  KeptQueue,
  QueueCounts,
  QueueEngine,
  Settlement,
  StatusChange,
  TargetStatus,
} from "../../lib/outbound/engine.ts";

const unasked = () => Promise.reject(new Error("not asked in these tests"));

/** Deliveries by target in order; a retry is due at once when its wait is 0, else never. */
export class TestKeptEngine implements QueueEngine {
  readonly statuses = new Map<string, TargetStatus>();
  readonly settled: (Settlement & { readonly id: string })[] = [];
  readonly changes: (readonly [string, StatusChange])[] = [];
  /** What `setStatus` fails with. */
  fault: Error | undefined;
  readonly #queues = new Map<string, Delivery[]>();
  readonly #flying = new Set<Delivery>();
  #ready: (target: string) => void = () => {};

  readonly kept: KeptQueue = {
    accept: (deliveries) => Promise.all(deliveries.map((each) => this.enqueue(each))),
    statuses: () => Promise.resolve(new Map(this.statuses)),
    setStatus: async (target, change) => {
      await Promise.resolve();
      if (this.fault) throw this.fault;
      this.changes.push([target, change]);
      const { disabled, paused } = { ...this.statuses.get(target), ...change };
      this.statuses.set(target, { ...(disabled && { disabled }), ...(paused && { paused }) });
    },
    fates: unasked,
    find: unasked,
    redeliver: unasked,
    purge: unasked,
    dueIn: unasked,
  };

  enqueue(delivery: Delivery): Promise<Enqueued> {
    this.#queue(delivery.target).push(delivery);
    this.#ready(delivery.target);
    return Promise.resolve("queued");
  }

  take(target: string): Delivery | undefined {
    if (this.statuses.get(target)?.disabled) return undefined;
    const delivery = this.#queue(target).shift();
    if (delivery) this.#flying.add(delivery);
    return delivery;
  }

  settle(delivery: Delivery, settlement: Settlement): void {
    this.#flying.delete(delivery);
    this.settled.push({ ...settlement, id: delivery.id });
    const { attempts } = delivery;
    if (settlement.kind === "untried") this.#queue(delivery.target).unshift(delivery);
    if (settlement.kind === "retry" && settlement.afterMs === 0) {
      this.#queue(delivery.target).push({ ...delivery, attempts: attempts + 1 });
    }
  }

  onReady(callback: (target: string) => void): void {
    this.#ready = callback;
  }

  /** As when another process wrote to the store. */
  nudge(target: string): void {
    this.#ready(target);
  }

  counts(): ReadonlyMap<string, QueueCounts> {
    return new Map([...this.#queues].map(([target, { length }]) => {
      const inFlight = [...this.#flying].filter((each) => each.target === target).length;
      return [target, { waiting: length, inFlight, dropped: 0, dead: 0 }];
    }));
  }

  drain(): Promise<readonly Delivery[]> {
    return Promise.resolve([]);
  }

  close(): void {}

  #queue(target: string): Delivery[] {
    let queue = this.#queues.get(target);
    if (!queue) this.#queues.set(target, queue = []);
    return queue;
  }
}
