/**
 * One connection to the file that mends itself: a file found broken is set aside and begun anew, and
 * when another one stands in its place that one is gone on with.
 */
import { statSync } from "node:fs";
import type { Context } from "../../context.ts";
import { isBroken } from "./broken.ts";
import { whenFree } from "./busy.ts";
import { databaseFile, openDatabase, replaceBroken, storeError } from "./database.ts";
import { Store } from "./store.ts";

/** What is open, if anything, is not what stands under the name any more. */
class Moved extends Error {}

/** Which file stands under the name; undefined: none. */
function standing(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** The present connection. */
export class QueueFile {
  readonly file: string;
  readonly #home: string;
  readonly #log: Context["log"];
  readonly #now: () => Date;
  #store!: Store;
  #standing: string | undefined;
  #mending: Promise<boolean> | undefined;
  /** The last attempt to open another one failed. */
  #lost = false;
  #closed = false;
  /** Told when another file has taken the place of the one that was open. */
  onReplaced: () => void = () => {};

  private constructor(home: string, log: Context["log"], now: () => Date) {
    this.file = databaseFile(home);
    this.#home = home;
    this.#log = log;
    this.#now = now;
  }

  /**
   * Opens it, making it when it is missing.
   * @throws NotAccepted when it cannot be had
   */
  static async open(home: string, log: Context["log"], now: () => Date): Promise<QueueFile> {
    const file = new QueueFile(home, log, now);
    await file.#connect();
    return file;
  }

  async #connect(): Promise<void> {
    for (;;) {
      const before = standing(this.file);
      const database = await openDatabase(this.#home, this.#log, this.#now);
      this.#standing = standing(this.file);
      this.#store = new Store(database);
      // One that was made just now is ours, or another process's, which is as good.
      if (before === undefined || before === this.#standing) return;
      database.close();
    }
  }

  get store(): Store {
    return this.#store;
  }

  /** For writing. Throws what {@link mend} mends when another file stands in the place of ours. */
  get writable(): Store {
    if (this.#closed) return this.#store;
    if (this.#lost || standing(this.file) !== this.#standing) throw new Moved();
    return this.#store;
  }

  /** After an error: was there something to mend, and is it mended? */
  async mend(error: unknown): Promise<boolean> {
    if (this.#mending) return await this.#mending;
    if (!isBroken(error) && !(error instanceof Moved)) return false;
    this.#mending = this.#replace(error instanceof Moved);
    try {
      return await this.#mending;
    } finally {
      this.#mending = undefined;
    }
  }

  async #replace(moved: boolean): Promise<boolean> {
    if (this.#closed) return false;
    const known = this.#lost;
    this.#lost = true;
    if (!known) this.#store.database.close();
    if (moved && !known) {
      this.#log(
        "error",
        `"${this.file}" was moved away while it was in use: going on with the one that is there ` +
          "now; what waited in the other is not delivered",
      );
    } else if (!moved) await replaceBroken(this.file, "cannot be read", this.#log, this.#now);
    await this.#connect();
    this.#lost = false;
    this.onReplaced();
    return true;
  }

  /**
   * Runs `look`, once more after mending, and again while another process is in its way.
   * @throws NotAccepted
   */
  async use<T>(look: (store: Store) => T | Promise<T>): Promise<T> {
    const run = () => whenFree(() => look(this.writable));
    try {
      return await run();
    } catch (error) {
      try {
        if (await this.mend(error)) return await run();
      } catch (again) {
        throw storeError(this.file, again);
      }
      throw storeError(this.file, error);
    }
  }

  close(): void {
    this.#closed = true;
    try {
      this.#store.database.close();
    } catch {
      // Closed already.
    }
  }
}
