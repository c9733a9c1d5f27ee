/** The events at work: how many, how many more, and what becomes of them when we stop. */

/** What {@link Inflight.run} gives for work that was still under way at the end. */
export const ENDED = Symbol("ended");

/** Counts work under way and can end the waiting for it. */
export class Inflight {
  readonly #endings = new Set<() => void>();
  #idle: (() => void) | undefined;

  /** How many are under way. */
  get size(): number {
    return this.#endings.size;
  }

  /** Waits for the work, or until {@link end}; what comes after that is thrown away. */
  run<T>(work: () => Promise<T>): Promise<T | typeof ENDED> {
    return new Promise((resolve, reject) => {
      const ending = () => resolve(ENDED);
      this.#endings.add(ending);
      const leave = () => {
        this.#endings.delete(ending);
        if (this.#endings.size === 0) this.#idle?.();
      };
      work().then((value) => {
        leave();
        resolve(value);
      }, (error) => {
        leave();
        reject(error);
      });
    });
  }

  /** Settles when nothing is under way, at most after `ms`; gives how many still are. */
  idle(ms: number): Promise<number> {
    if (this.size === 0) return Promise.resolve(0);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#idle = undefined;
        resolve(this.size);
      };
      const timer = setTimeout(done, ms);
      this.#idle = done;
    });
  }

  /** Answers {@link ENDED} to everything still under way. */
  end(): void {
    for (const ending of this.#endings) ending();
  }
}
