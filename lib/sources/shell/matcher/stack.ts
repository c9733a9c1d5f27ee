/** The choices still open while a name is matched, as numbers in one growing array. */

/** How many numbers one entry takes: its kind and up to four more. */
export const entrySize = 5;

// 16 million numbers are 64 MB.
const most = 16_000_000;

/** A stack of entries, bounded in memory. */
export class ChoiceStack {
  /** The entries, `entrySize` numbers each. */
  data: Int32Array = new Int32Array(64 * entrySize);
  /** Where the next entry begins. */
  top = 0;

  /** Adds an entry; false when the bound is reached and it was not added. */
  push(kind: number, a: number, b: number, c: number, d: number): boolean {
    const at = this.top;
    if (at + entrySize > this.data.length && !this.#grow()) return false;
    const data = this.data;
    data[at] = kind;
    data[at + 1] = a;
    data[at + 2] = b;
    data[at + 3] = c;
    data[at + 4] = d;
    this.top = at + entrySize;
    return true;
  }

  #grow(): boolean {
    if (this.data.length >= most) return false;
    const larger = new Int32Array(Math.min(most, this.data.length * 2));
    larger.set(this.data);
    this.data = larger;
    return true;
  }
}
