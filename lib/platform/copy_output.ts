/** Handing on what a command writes, no faster than its reader takes it. */

/** Where the output comes from. */
export interface Source {
  /** The next piece; undefined at the end. Not called again before it has answered. */
  next(): Promise<Uint8Array | undefined>;
  /** Gives it up: who writes there finds nobody reading. */
  stop(): void;
}

/** A copy under way. */
export interface Copying {
  /**
   * The command has ended: resolves when all that it wrote has been handed on. Whoever else holds
   * the pipe open is not waited for.
   */
  finish(): Promise<void>;
  /** From the end of the command on, a reader that stalls is not waited for beyond 1 s. */
  hurry(): void;
}

/** A pipe that stays empty for so long holds nothing more of a command that ended, in ms. */
const EMPTY_MS = 100;
/** How long to wait in all for more to come, in ms, not counting the time our reader takes. */
const WAIT_MS = 1000;
/** More than a pipe and the one who reads it hold back, in bytes. */
const HELD_BYTES = 2 * 1024 * 1024;

/**
 * Copies until the source ends.
 * @param hand takes one piece; false: nobody reads it any more
 */
export function copyOutput(
  source: Source,
  hand: (bytes: Uint8Array) => Promise<boolean>,
): Copying {
  return new Copy(source, hand);
}

class Copy implements Copying {
  readonly #source: Source;
  readonly #hand: (bytes: Uint8Array) => Promise<boolean>;
  readonly #over: Promise<void>;
  #ended = false;
  #hurried = false;
  /** Since the command ended: bytes handed on, and ms waited for more. */
  #bytes = 0;
  #waited = 0;
  #stop!: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hastened: ReturnType<typeof setTimeout> | undefined;
  #waitingSince: number | undefined;

  constructor(source: Source, hand: (bytes: Uint8Array) => Promise<boolean>) {
    this.#source = source;
    this.#hand = hand;
    const stopped = new Promise<void>((resolve) => this.#stop = resolve);
    this.#over = Promise.race([this.#run().catch(() => {}), stopped]).then(() => {
      clearTimeout(this.#timer);
      clearTimeout(this.#hastened);
      source.stop();
    });
  }

  async finish(): Promise<void> {
    this.#ended = true;
    if (this.#waitingSince !== undefined) this.#waitForMore();
    if (this.#hurried) this.#hasten();
    await this.#over;
  }

  hurry(): void {
    this.#hurried = true;
    if (this.#ended) this.#hasten();
  }

  #hasten(): void {
    this.#hastened ??= setTimeout(this.#stop, WAIT_MS);
  }

  async #run(): Promise<void> {
    for (;;) {
      const bytes = await this.#next();
      if (bytes === undefined || !await this.#hand(bytes)) return;
      if (!this.#ended) continue;
      this.#bytes += bytes.length;
      if (this.#bytes >= HELD_BYTES || this.#waited >= WAIT_MS) return;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    this.#waitForMore();
    try {
      return await this.#source.next();
    } finally {
      clearTimeout(this.#timer);
      if (this.#ended) this.#waited += performance.now() - this.#waitingSince!;
      this.#waitingSince = undefined;
    }
  }

  #waitForMore(): void {
    this.#waitingSince = performance.now();
    if (this.#ended) this.#timer = setTimeout(this.#stop, EMPTY_MS);
  }
}
