/** What is in the file, to be looked at and changed, by whoever sends and by everyone else. */
import type {
  Delivery,
  Enqueued,
  KeptDelivery,
  KeptFilter,
  KeptQueue,
  QueueCounts,
  StatusChange,
  TargetStatus,
} from "../engine.ts";
import type { QueueFile } from "./file.ts";
import { changeFound, fates, find } from "./found.ts";
import { countsOf, statusOf } from "./store.ts";
import type { Writer } from "./writer.ts";

/** What of the sending process's memory matters here; empty for one that does not send. */
export interface Sending {
  /** Rows under way. */
  inFlight(): readonly number[];
  /** Something changed that may have made deliveries due. */
  changed(): void;
}

/** Of a process that does not send. */
export const NOT_SENDING: Sending = { inFlight: () => [], changed: () => {} };

/** {@link KeptQueue} on the file. */
export class SqliteKept implements KeptQueue {
  readonly #file: QueueFile;
  readonly #writer: Writer;
  readonly #sending: Sending;
  readonly #now: () => Date;

  constructor(file: QueueFile, writer: Writer, sending: Sending, now: () => Date) {
    this.#file = file;
    this.#writer = writer;
    this.#sending = sending;
    this.#now = now;
  }

  accept(deliveries: readonly Delivery[]): Promise<readonly Enqueued[]> {
    return this.#writer.accept(deliveries);
  }

  async fates(ids: readonly string[]): Promise<ReadonlyMap<string, "pending" | "dead">> {
    // What follows from attempts is written on the way: here it counts.
    await this.#writer.flush();
    return await this.#file.use((store) => fates(store, ids));
  }

  async find(
    filter: KeptFilter,
    page: { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<readonly KeptDelivery[]> {
    await this.#writer.flush();
    return await this.#file.use((store) => find(store, filter, page, this.#sending.inFlight()));
  }

  /** A delivery that another process has under way is made due too, so it may be made twice. */
  async redeliver(filter: KeptFilter): Promise<number> {
    await this.#writer.flush();
    const count = await this.#file.use((store) =>
      changeFound(store, filter, () => this.#sending.inFlight(), (row) => {
        store.revive(row, this.#now().getTime());
        return true;
      })
    );
    this.#sending.changed();
    return count;
  }

  /** A delivery that another process has under way may still arrive. */
  async purge(filter: KeptFilter): Promise<number> {
    await this.#writer.flush();
    const count = await this.#file.use((store) =>
      changeFound(
        store,
        filter,
        () => this.#sending.inFlight(),
        (row) => store.remove(row, this.#now().getTime()),
      )
    );
    this.#sending.changed();
    return count;
  }

  async statuses(): Promise<ReadonlyMap<string, TargetStatus>> {
    return await this.#file.use((store) =>
      new Map(
        store.targets().map((row) => [row.key, statusOf(row)] as const)
          .filter(([, status]) => Object.keys(status).length > 0),
      )
    );
  }

  async setStatus(target: string, change: StatusChange): Promise<void> {
    await this.#file.use((store) => store.transact(() => store.setStatus(target, change)));
    this.#sending.changed();
  }

  async dueIn(targets: readonly string[]): Promise<number | undefined> {
    if (this.#sending.inFlight().length > 0) return 0;
    await this.#writer.flush();
    return await this.#file.use((store) => {
      const now = this.#now().getTime();
      const waits = store.targets().flatMap((row) => {
        const { disabled, paused } = statusOf(row);
        if (!targets.includes(row.key) || row.waiting === 0 || disabled) return [];
        const due = store.nextDue(row.t, -1);
        if (due === undefined) return [];
        return [Math.max(0, due - now, paused ? Date.parse(paused.until) - now : 0)];
      });
      return waits.length === 0 ? undefined : Math.min(...waits);
    });
  }

  /** By target. */
  async counts(): Promise<ReadonlyMap<string, QueueCounts>> {
    return await this.#file.use((store) =>
      new Map(store.targets().map((row) => [row.key, countsOf(row)]))
    );
  }
}
