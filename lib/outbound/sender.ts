/**
 * The sender that one-shot commands leave behind (rule 10.5): one of each home. It takes parcels
 * over, sends what is in them, and ends when there is nothing left, at the latest after 3 minutes.
 */
import { FlockTimeout, withFlock } from "../platform/flock.ts";
import { type Parcel, readParcel, writeParcel } from "./handover_parcel.ts";
import type { LogLine } from "./sender_log.ts";
import type { SenderPlace } from "./sender_place.ts";
import { giveToSender } from "./sender_protocol.ts";

/** How long things take, all in ms. */
export interface SenderTimes {
  /** The whole life; what is not delivered then is dropped. Default 180,000. */
  readonly lifeMs: number;
  /** How long parcels of others are taken in. Default 90,000: the last one gets the other half. */
  readonly takeMs: number;
  /** How long a sender with nothing to do waits for more. Default 1,000. */
  readonly lingerMs: number;
  /** How long it goes on sending when told to stop. Default 5,000. */
  readonly stopMs: number;
}

/** The times of rule 10.5. */
export const SENDER_TIMES: SenderTimes = {
  lifeMs: 180_000,
  takeMs: 90_000,
  lingerMs: 1_000,
  stopMs: 5_000,
};

/** What a sender is started with. */
export interface SenderOptions {
  readonly place: SenderPlace;
  /** The first parcel. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Says one line to whoever started it; used only when the parcel says that somebody waits. */
  readonly say: (line: string) => void;
  readonly log: LogLine;
  readonly now: () => Date;
  /** Aborted: stop taking in, send for {@link SenderTimes.stopMs}, end. */
  readonly stop: AbortSignal;
  readonly times?: Partial<SenderTimes>;
}

const PATIENCE = { greetMs: 2_000, answerMs: 5_000 };
/** How often it looks whether there is anything left to do, in ms. */
const TICK_MS = 50;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** What comes of `promise`, or undefined when that takes longer than `ms`. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(resolve, ms, undefined));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a sender to its end; the exit code is 1 when its first parcel was lost. Never rejects. */
export async function runSender(options: SenderOptions): Promise<number> {
  const sender = new Sender(options);
  try {
    return await sender.run();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    options.log("error", `the sender failed: ${code ?? message}`);
    return 1;
  }
}

class Sender {
  readonly #options: SenderOptions;
  readonly #times: SenderTimes;
  readonly #began = performance.now();
  #stoppedAt = Infinity;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#times = { ...SENDER_TIMES, ...options.times };
    options.stop.addEventListener("abort", () => this.#stoppedAt = performance.now());
  }

  get #age(): number {
    return performance.now() - this.#began;
  }

  async run(): Promise<number> {
    const { input, place, stop } = this.#options;
    const parcel = await within(this.#times.lifeMs, readParcel(input));
    if (!parcel || (parcel.deliveries.length === 0 && !parcel.kept)) return 0;
    for (let wait = 5;; wait = Math.min(wait * 2, 250)) {
      const finish = await this.#takeOver(parcel);
      if (finish) return await finish();
      const exit = await this.#forward(parcel);
      if (exit !== undefined) return exit;
      // The other one is ending: the next try finds the lock free, or a new one greeting.
      if (stop.aborted || this.#age > this.#times.lifeMs) {
        return await this.#drop(parcel, `the sender of "${place.folder}" takes nothing`);
      }
      await pause(wait * (0.5 + Math.random()));
    }
  }

  /**
   * Becomes the home's sender for as long as there is something to do.
   * @returns what remains to be done once the lock is free; undefined when another has the lock
   */
  async #takeOver(parcel: Parcel): Promise<(() => Promise<number>) | undefined> {
    try {
      return await withFlock(this.#options.place.lock, () => this.#serve(parcel), { waitMs: 0 });
    } catch (error) {
      if (error instanceof FlockTimeout) return undefined;
      throw error;
    }
  }

  async #serve(parcel: Parcel): Promise<() => Promise<number>> {
    const { place, log, now, say, stop } = this.#options;
    const [{ Intake }, { Bag }] = await Promise.all([
      import("./sender_intake.ts"),
      import("./sender_bag.ts"),
    ]);
    const bag = new Bag(log, now);
    const { flushed } = await bag.take(parcel);
    let waiting = flushed !== undefined;
    flushed?.then((report) => {
      say(JSON.stringify(report));
      waiting = false;
    });
    const intake = await Intake.open(place.socket, (each) => bag.take(each)).catch((error) => {
      log("warning", `socket "${place.socket}" cannot be had: ${error.code ?? error.message}`);
    });
    for (let quietSince = performance.now(); !stop.aborted && this.#age < this.#times.takeMs;) {
      if (waiting || bag.size > 0 || intake?.size || await bag.keptBusy()) {
        quietSince = performance.now();
      } else if (performance.now() - quietSince >= this.#times.lingerMs) break;
      await pause(Math.min(TICK_MS, this.#times.lingerMs));
    }
    await intake?.close();
    // With the lock free again, a fresh sender takes what comes while this one sends its last.
    return async () => {
      while (bag.size > 0 && this.#left() > 0) await pause(TICK_MS);
      await bag.end();
      return 0;
    };
  }

  /** How long what is still on its way may take, in ms. */
  #left(): number {
    const untilStop = this.#stoppedAt + this.#times.stopMs - performance.now();
    return Math.min(this.#times.lifeMs - this.#age, untilStop);
  }

  /** Hands the parcel to the sender there is. Undefined: it greeted nobody. */
  async #forward(parcel: Parcel): Promise<number | undefined> {
    const { place, say } = this.#options;
    const bytes = writeParcel(parcel);
    const given = await giveToSender(place.socket, bytes, parcel.flushMs, PATIENCE);
    if (given.kind === "nobody") return undefined;
    if (given.kind === "lost") {
      return await this.#drop(
        parcel,
        "the connection to the other sender was lost, it may be lost",
      );
    }
    const flushed = await given.flushed;
    if (flushed) say(JSON.stringify(flushed));
    return 0;
  }

  async #drop(parcel: Parcel, why: string): Promise<number> {
    const { logDropped } = await import("./sender_bag.ts");
    for (const delivery of parcel.deliveries) {
      const target = parcel.targets.find(({ key }) => key === delivery.target);
      logDropped(this.#options.log, delivery, target, why);
    }
    return 1;
  }
}
