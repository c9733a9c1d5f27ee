/** What a sender has taken over: parcels into an outbox, and a name for each delivery not made. */
import { createHash } from "node:crypto";
import type { Delivery } from "./engine.ts";
import { type KeptPlace, type Parcel, seal, unseal } from "./handover_parcel.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import type { Receipt } from "./sender_intake.ts";
import type { KeptSending } from "./sender_kept.ts";
import type { LogLine } from "./sender_log.ts";
import type { Flushed } from "./sender_protocol.ts";
import type { Target } from "./target/shape.ts";

/** An outbox sends by one set of proxies; its targets grow as parcels bring new ones. */
interface Lot {
  readonly outbox: Outbox;
  readonly targets: Map<string, Target>;
}

interface Held {
  readonly lot: Lot;
  readonly delivery: Delivery;
}

/** Everything taken over and not yet ended. */
export class Bag {
  readonly #lots = new Map<string, Lot>();
  readonly #held = new Map<string, Held>();
  readonly #log: LogLine;
  readonly #now: () => Date;
  #kept: KeptSending | undefined;

  constructor(log: LogLine, now: () => Date) {
    this.#log = log;
    this.#now = now;
  }

  /** Deliveries on their way. */
  get size(): number {
    return this.#held.size;
  }

  /** Takes a parcel over. */
  async take(given: Parcel): Promise<Receipt> {
    if (given.kept) return await this.#takeKept(given, given.kept);
    const parcel = withFullKeys(given);
    const lot = this.#lotOf(parcel);
    const ids = parcel.deliveries.map(({ id }) => id);
    // Held from here on: the sender must not think itself idle while the engine takes its time.
    for (const delivery of parcel.deliveries) this.#held.set(delivery.id, { lot, delivery });
    await lot.outbox.adopt(parcel.deliveries);
    const { dropped } = await lot.outbox.settled(ids, 0);
    if (dropped > 0) await this.#logDropped(this.#heldOf(ids), "the target's queue is full");
    void this.#release(lot, ids);
    const answer = { taken: ids.length - dropped, dropped };
    if (parcel.flushMs === 0) return { answer };
    return { answer, flushed: flushed(lot.outbox, ids, parcel.flushMs) };
  }

  /** Its deliveries are in the file already, and stay there until they are made. */
  async #takeKept(parcel: Parcel, place: KeptPlace): Promise<Receipt> {
    if (!this.#kept) {
      const { KeptSending } = await import("./sender_kept.ts");
      this.#kept ??= new KeptSending(this.#log, this.#now);
    }
    await this.#kept.take(parcel, place);
    return { answer: { taken: 0, dropped: 0 } };
  }

  /** Is anything that is kept due soon, or under way? */
  async keptBusy(): Promise<boolean> {
    return await this.#kept?.busy() ?? false;
  }

  /** Gives up what is still on its way, and says in the log what that is. */
  async end(): Promise<void> {
    await this.#kept?.end();
    const held = new Map(this.#held);
    await Promise.all([...this.#lots.values()].map(({ outbox }) => outbox.drain(0)));
    await this.#logDropped(held, "time was up");
    await Promise.all([...this.#lots.values()].map(({ outbox }) => outbox.close()));
  }

  #lotOf({ proxies, targets }: Parcel): Lot {
    const key = JSON.stringify(Object.entries(proxies).sort());
    let lot = this.#lots.get(key);
    if (!lot) {
      const outbox = createOutbox({ targets: [], env: proxies, log: this.#log, now: this.#now });
      this.#lots.set(key, lot = { outbox, targets: new Map() });
    }
    const known = lot.targets.size;
    for (const target of targets) {
      if (!lot.targets.has(target.key)) lot.targets.set(target.key, target);
    }
    if (lot.targets.size > known) lot.outbox.replaceTargets([...lot.targets.values()]);
    return lot;
  }

  async #release(lot: Lot, ids: readonly string[]): Promise<void> {
    // Longer than any sender lives.
    await lot.outbox.settled(ids, 3_600_000);
    for (const id of ids) this.#held.delete(id);
  }

  #heldOf(ids: readonly string[]): ReadonlyMap<string, Held> {
    return new Map([...this.#held].filter(([id]) => ids.includes(id)));
  }

  async #logDropped(held: ReadonlyMap<string, Held>, why: string): Promise<void> {
    for (const [id, { lot, delivery }] of held) {
      if ((await lot.outbox.settled([id], 0)).dropped === 0) continue;
      logDropped(this.#log, delivery, lot.targets.get(delivery.target), why);
    }
  }
}

/**
 * Its targets under keys that name all that is in them. The same entry may come from commands with
 * different secrets, or from before and after a change: those are two targets here.
 */
function withFullKeys(parcel: Parcel): Parcel {
  const keys = new Map<string, string>();
  const targets = parcel.targets.map((target) => {
    const sealed = seal(target);
    const hash = createHash("sha256").update(JSON.stringify(sealed)).digest("hex").slice(0, 16);
    const key = `${target.key} ${hash}`;
    keys.set(target.key, key);
    return unseal({ ...sealed, options: { ...sealed.options, key } });
  });
  const deliveries = parcel.deliveries.map((each) => ({ ...each, target: keys.get(each.target)! }));
  return { ...parcel, deliveries, targets };
}

/** One line a delivery that is given up: target, event and id, and nothing of what it holds. */
export function logDropped(
  log: LogLine,
  { id, event }: Delivery,
  target: Target | undefined,
  why: string,
): void {
  log("warning", `outbound "${target?.name ?? "?"}": ${event} ${id} dropped: ${why}`);
}

async function flushed(outbox: Outbox, ids: readonly string[], ms: number): Promise<Flushed> {
  await outbox.settled(ids, ms);
  const undelivered: [string, string][] = [];
  for (const id of ids) {
    const { delivered, failed, dropped } = await outbox.settled([id], 0);
    if (delivered === 0) {
      undelivered.push([id, failed > 0 ? "failed" : dropped > 0 ? "dropped" : "pending"]);
    }
  }
  return { undelivered };
}
