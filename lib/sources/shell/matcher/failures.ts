/** Which instructions are known to fail at which positions, so that nothing is tried twice. */

// 2 to the power of 27 bits are 16 MB.
const mostBits = 2 ** 27;

/** One bit for each row and position; remembers nothing when that would be too many. */
export class Failures {
  readonly #width: number;
  readonly #size: number;
  #bits: Uint32Array | undefined;
  readonly #log: number[] = [];

  constructor(rows: number, positions: number) {
    this.#width = positions;
    this.#size = rows * positions <= mostBits ? rows * positions : 0;
  }

  /** The bit of a row at a position; -1 when it is not remembered. */
  bit(row: number, position: number): number {
    return row < 0 || this.#size === 0 ? -1 : row * this.#width + position;
  }

  /** Whether a bit is set. */
  has(bit: number): boolean {
    if (bit < 0 || this.#bits === undefined) return false;
    return ((this.#bits[bit >>> 5] as number) >>> (bit & 31) & 1) === 1;
  }

  /** Sets a bit; `logged` ones can be taken back. */
  add(bit: number, logged: boolean): void {
    if (bit < 0) return;
    this.#bits ??= new Uint32Array((this.#size >>> 5) + 1);
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] as number) | (1 << (bit & 31));
    if (logged) this.#log.push(bit);
  }

  /** How many bits were logged. */
  get logged(): number {
    return this.#log.length;
  }

  /** Takes back what was logged after the first `count`. */
  forget(count: number): void {
    while (this.#log.length > count) {
      const bit = this.#log.pop() as number;
      if (this.#bits) {
        this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] as number) & ~(1 << (bit & 31));
      }
    }
  }
}
