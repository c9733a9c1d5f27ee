/** Walks a pattern token by token: a token is one character, or a backslash with what follows it. */

/** Why Python rejects a pattern. */
export class PatternError extends Error {}

/** The tokens of one pattern, with one token of lookahead. */
export class Scanner {
  readonly #chars: readonly string[];
  #index = 0;
  /** The token to come, undefined at the end. */
  next: string | undefined;

  /** Throws PatternError when the pattern is a lone backslash. */
  constructor(pattern: string) {
    this.#chars = Array.from(pattern);
    this.#advance();
  }

  #advance(): void {
    const char = this.#chars[this.#index];
    this.next = char;
    if (char === undefined) return;
    this.#index++;
    if (char !== "\\") return;
    const escaped = this.#chars[this.#index++];
    if (escaped === undefined) throw new PatternError("bad escape (end of pattern)");
    this.next = char + escaped;
  }

  /** The next token, which is consumed; undefined at the end. */
  take(): string | undefined {
    const token = this.next;
    this.#advance();
    return token;
  }

  /** Consumes the next token when it is this one; whether it was. */
  accept(token: string): boolean {
    if (this.next !== token) return false;
    this.#advance();
    return true;
  }

  /** At most `count` tokens that are each one of the characters in `allowed`. */
  takeWhile(count: number, allowed: string): string {
    let taken = "";
    for (let i = 0; i < count && this.next !== undefined; i++) {
      if (this.next.length !== 1 || !allowed.includes(this.next)) break;
      taken += this.take();
    }
    return taken;
  }

  /** What stands before `end`, which is consumed too. Throws PatternError when empty or unended. */
  takeUntil(end: string, what: string): string {
    let taken = "";
    while (true) {
      const token = this.take();
      if (token === undefined) {
        throw new PatternError(taken ? `missing ${end}, unterminated name` : `missing ${what}`);
      }
      if (token === end) break;
      taken += token;
    }
    if (!taken) throw new PatternError(`missing ${what}`);
    return taken;
  }

  /** Where the next token starts, for `back`. */
  mark(): number {
    return this.#index - (this.next === undefined ? 0 : this.next.startsWith("\\") ? 2 : 1);
  }

  /** Goes back to a mark. */
  back(mark: number): void {
    this.#index = mark;
    this.#advance();
  }
}
