/**
 * Group commit: what is handed in together is written together, with one sync of the disk. Whoever
 * hands deliveries in hears when they are safe; what follows from attempts is written on the way.
 */
import { setImmediate } from "node:timers";
import type { Delivery, Enqueued } from "../engine.ts";
import { NotAccepted } from "../engine.ts";
import { isBusy, whenFree } from "./busy.ts";
import type { Accepted, Intake, Store } from "./store.ts";

/** Changes that nobody waits for may wait so long for others, in ms. */
const LAZY_MS = 25;
/** So many are written at once without waiting. */
const MANY = 1024;
/** So many rows, and as many changes, go into one commit. */
const MOST = 1024;
/** Waits before changes that could not be written are tried again, in ms: doubling between these. */
const AGAIN_MS = { first: 50, last: 5_000 };

interface Handed {
  readonly deliveries: readonly Delivery[];
  readonly resolve: (became: readonly Enqueued[]) => void;
  readonly reject: (error: Error) => void;
}

interface Change {
  readonly run: (store: Store, now: number) => unknown;
  readonly done?: () => void;
}

/** What a writer works with. */
export interface WriterOptions {
  readonly store: () => Store;
  readonly intakeOf: (key: string) => Intake | undefined;
  readonly now: () => Date;
  /** Is a row under way? What gives way when a queue is full is another one. */
  readonly isFlying?: (n: number) => boolean;
  /** Told of what was taken in, once it is safe. */
  readonly onAccepted: (deliveries: readonly Delivery[], accepted: Accepted) => void;
  /** An error of the store as its callers are told it. */
  readonly errorOf: (error: unknown) => Error;
  /** Mends what can be mended after an error: true, and all of it is tried once more. */
  readonly mend: (error: unknown) => Promise<boolean>;
  /** Told when changes could not be written, and when they could again. */
  readonly onStuck: (error: Error | undefined) => void;
}

/** Writes for one connection. */
export class Writer {
  readonly #options: WriterOptions;
  #handed: Handed[] = [];
  #changes: Change[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #soon = false;
  #working: Promise<void> | undefined;
  #again: number = AGAIN_MS.first;
  #stuck = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Takes deliveries in; see {@link KeptQueue.accept}. */
  accept(deliveries: readonly Delivery[]): Promise<readonly Enqueued[]> {
    return new Promise((resolve, reject) => {
      this.#handed.push({ deliveries, resolve, reject });
      this.#schedule(0);
    });
  }

  /** Writes a change on the way; `done` is called once it is safe. */
  later(run: Change["run"], done?: () => void): void {
    this.#changes.push({ run, done });
    this.#schedule(this.#changes.length >= MANY && !this.#stuck ? 0 : LAZY_MS);
  }

  /** Changes that are not written yet, and cannot be at the moment. */
  get stuck(): number {
    return this.#stuck ? this.#changes.length : 0;
  }

  /** Writes everything that waits; resolves also when it could not be written. */
  async flush(): Promise<void> {
    await this.#working;
    while (this.#handed.length > 0 || (this.#changes.length > 0 && !this.#stuck)) {
      await this.#write();
      if (this.#waits) await new Promise((resolve) => setImmediate(resolve));
    }
    // One attempt more for what could not be written: nobody may come after us.
    if (this.#stuck) await this.#write();
  }

  /** Starts nothing more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  get #waits(): boolean {
    return this.#handed.length + this.#changes.length > 0;
  }

  #schedule(ms: number): void {
    if (ms === 0) {
      if (this.#soon) return;
      this.#soon = true;
      // After what came in with this turn of the loop, so that it is one commit.
      setImmediate(() => {
        this.#soon = false;
        void this.#write();
      });
    } else {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.#write();
      }, this.#stuck ? this.#again : ms);
    }
  }

  /** What goes into one commit: so much that nothing else waits for long. */
  #next(): { readonly handed: Handed[]; readonly changes: Change[] } {
    let count = 0, rows = 0;
    while (count < this.#handed.length && rows < MOST) {
      rows += this.#handed[count++]!.deliveries.length;
    }
    return { handed: this.#handed.splice(0, count), changes: this.#changes.splice(0, MOST) };
  }

  async #write(): Promise<void> {
    if (this.#working) return await this.#working;
    const { handed, changes } = this.#next();
    if (handed.length + changes.length === 0) return;
    try {
      this.#commit(handed, changes);
    } catch (error) {
      this.#working = this.#recover(handed, changes, error);
      await this.#working;
      this.#working = undefined;
    }
    const many = this.#changes.length >= MANY && !this.#stuck;
    if (this.#handed.length > 0 || many) this.#schedule(0);
    else if (this.#changes.length > 0) this.#schedule(LAZY_MS);
  }

  async #recover(
    handed: readonly Handed[],
    changes: readonly Change[],
    error: unknown,
  ): Promise<void> {
    const commit = () => this.#commit(handed, changes);
    try {
      if (isBusy(error)) return await whenFree(commit);
      if (await this.#options.mend(error)) return await whenFree(commit);
    } catch (again) {
      error = again;
    }
    // What was made must not be made again: its removal is tried without what wants room.
    try {
      this.#commit([], changes);
    } catch (alone) {
      this.#postpone(changes, alone);
    }
    for (const { reject } of handed) reject(this.#options.errorOf(error));
  }

  #postpone(changes: readonly Change[], error: unknown): void {
    if (changes.length === 0) return;
    this.#changes = [...changes, ...this.#changes];
    const first = !this.#stuck;
    this.#stuck = true;
    if (first) this.#again = AGAIN_MS.first;
    // Somebody who asks in between does not make the wait longer.
    else if (this.#timer === undefined) this.#again = Math.min(this.#again * 2, AGAIN_MS.last);
    if (first) this.#options.onStuck(this.#options.errorOf(error));
    this.#schedule(this.#again);
  }

  #commit(handed: readonly Handed[], changes: readonly Change[]): void {
    if (handed.length + changes.length === 0) return;
    const { store, now, intakeOf, isFlying = () => false, onAccepted } = this.#options;
    const at = now().getTime();
    const here = store();
    // What was made and comes again after a power cut is a duplicate; what was accepted must not go.
    here.sync(handed.length > 0);
    const results = here.transact(() => {
      for (const { run } of changes) run(here, at);
      return handed.map(({ deliveries }) => {
        try {
          return here.accept(deliveries, intakeOf, at, isFlying);
        } catch (error) {
          // A full queue refuses before anything is written: the others are not concerned.
          if (error instanceof NotAccepted) return error;
          throw error;
        }
      });
    });
    if (changes.length > 0 && this.#stuck) {
      this.#stuck = false;
      this.#options.onStuck(undefined);
    }
    for (const { done } of changes) done?.();
    results.forEach((result, place) => {
      const { deliveries, resolve, reject } = handed[place]!;
      if (result instanceof NotAccepted) return reject(result);
      onAccepted(deliveries, result);
      resolve(result.became);
    });
  }
}
