/**
 * The part of a sender that sends what is kept in its home's file: one outbox, whose targets are
 * those of the newest parcel. The file outlives it: nothing is dropped when it ends.
 */
import type { KeptPlace, Parcel } from "./handover_parcel.ts";
import { openOutbox } from "./open_outbox.ts";
import type { Outbox } from "./outbox.ts";
import { SentElsewhere } from "./queue.ts";
import type { LogLine } from "./sender_log.ts";
import type { Target } from "./target/shape.ts";

/** What is due later than this is left to the next sender, in ms: the first retry is waited for. */
const SOON_MS = 8_000;
/** How long attempts under way get at the end, in ms. */
const DRAIN_MS = 5_000;
/** How long a sender that is ending is waited for, in ms. */
const TURN_MS = 10_000;

/** Sends from one home's file as long as anything is due soon. */
export class KeptSending {
  readonly #log: LogLine;
  readonly #now: () => Date;
  readonly #targets = new Map<string, Target>();
  #outbox: Promise<Outbox | undefined> | undefined;

  constructor(log: LogLine, now: () => Date) {
    this.#log = log;
    this.#now = now;
  }

  /** Takes a parcel's targets over; the newest of a key counts. Nobody's turn is taken away. */
  async take({ targets, proxies }: Parcel, place: KeptPlace): Promise<void> {
    for (const target of targets) this.#targets.set(target.key, target);
    const list = [...this.#targets.values()];
    this.#outbox ??= this.#open(place, proxies, list);
    (await this.#outbox)?.replaceTargets(list);
  }

  async #open(
    { home, retainMs }: KeptPlace,
    env: Parcel["proxies"],
    targets: readonly Target[],
  ): Promise<Outbox | undefined> {
    const queue = { queue: { kind: "sqlite" as const }, retainMs };
    const options = { home, queue, targets, env, log: this.#log, now: this.#now };
    for (const deadline = performance.now() + TURN_MS;;) {
      try {
        return await openOutbox({ ...options, role: "sender", onlyIfFree: true });
      } catch (error) {
        const elsewhere = error instanceof SentElsewhere ? error.role : undefined;
        // Another sender that still has it is ending; a listener sends by itself.
        if (elsewhere === "sender" && performance.now() < deadline) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          continue;
        }
        // The file cannot be had, which is worth a line.
        if (!elsewhere) {
          this.#log("error", `what is kept cannot be sent: ${(error as Error).message}`);
        }
        return undefined;
      }
    }
  }

  /** Is anything due soon, or under way? */
  async busy(): Promise<boolean> {
    const kept = (await this.#outbox)?.kept;
    if (!kept) return false;
    try {
      const due = await kept.dueIn([...this.#targets.keys()]);
      return due !== undefined && due <= SOON_MS;
    } catch (error) {
      this.#log("error", `what is kept cannot be read: ${(error as Error).message}`);
      return false;
    }
  }

  /** Lets attempts under way end. */
  async end(): Promise<void> {
    const outbox = await this.#outbox;
    await outbox?.drain(DRAIN_MS);
    await outbox?.close();
  }
}
