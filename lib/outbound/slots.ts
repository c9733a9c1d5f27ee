/** How many attempts may be under way over all targets. */

/** Hands out a number of slots; who comes when there is none waits in line. */
export class Slots {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Undefined: the slot is yours at once. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  /** Gives one back. */
  give(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#free++;
  }
}
