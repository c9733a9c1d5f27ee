/** What a process wrote on one stream, up to a bound (rule 3.5). */

/** How many bytes of each stream are kept: 4 MiB. */
export const OUTPUT_LIMIT = 4 * 1024 * 1024;

/** Collects one stream's bytes; what is over the bound is counted and let go. */
export class Output {
  // One buffer that grows: a hook may write four million times one byte.
  #buffer = new Uint8Array(0);
  #kept = 0;
  /** All bytes seen, also those not kept. */
  seen = 0;

  /** @param limit bytes to keep; default {@link OUTPUT_LIMIT} */
  constructor(readonly limit: number = OUTPUT_LIMIT) {}

  /** Was there more than is kept? */
  get over(): boolean {
    return this.seen > this.limit;
  }

  /** Takes a copy of the next bytes. */
  push(bytes: Uint8Array): void {
    this.seen += bytes.length;
    const fitting = bytes.subarray(0, this.limit - this.#kept);
    if (fitting.length === 0) return;
    const length = this.#kept + fitting.length;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(fitting, this.#kept);
    this.#kept = length;
  }

  /** All that was kept: decoded once over the whole, so that no split character is lost. */
  text(): string {
    if (this.#kept === 0) return "";
    const kept = this.#buffer.subarray(0, this.#kept);
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept);
  }

  #grow(length: number): void {
    const larger = new Uint8Array(Math.min(Math.max(length, this.#buffer.length * 2), this.limit));
    larger.set(this.#buffer.subarray(0, this.#kept));
    this.#buffer = larger;
  }
}
