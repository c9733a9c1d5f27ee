/** A command line into words and back, as Python's `shlex` does it in POSIX mode (rule 3.1). */

/** What {@link splitWords} throws; `message` is `no closing quotation` or `no escaped character`. */
export class WordsError extends Error {
  /** @param message what is wrong, in lower case */
  constructor(message: "no closing quotation" | "no escaped character") {
    super(message);
    this.name = "WordsError";
  }
}

/** How {@link splitWords} reads. */
export interface SplitOptions {
  /** Windows paths need their backslashes: a backslash is then a letter. Default false. */
  readonly keepBackslashes?: boolean;
}

// Only these four part words: a no-break or ideographic space belongs to its word.
const SPACE = /[ \t\r\n]+/y;
const PLAIN = /[^ \t\r\n'"\\]+/y;
const IN_DOUBLE = /[^"\\]+/y;

/**
 * Splits a command line as Python 3.11's `shlex.split(text)` does: no comments, no variables, no
 * globs; a `#` is a letter, and a backslash before a line's end keeps that line's end.
 * Takes time linear in the text.
 * @returns the words; none for blank text
 * @throws WordsError when a quotation is not closed or the text ends in a backslash
 */
export function splitWords(text: string, options: SplitOptions = {}): string[] {
  return new Splitter(text, options.keepBackslashes ?? false).words();
}

class Splitter {
  #at = 0;
  constructor(readonly text: string, readonly keepBackslashes: boolean) {}

  words(): string[] {
    const words: string[] = [];
    this.#take(SPACE);
    while (this.#at < this.text.length) {
      words.push(this.#word());
      this.#take(SPACE);
    }
    return words;
  }

  #word(): string {
    let word = "";
    for (;;) {
      const c = this.text[this.#at];
      if (c === "'") word += this.#single();
      else if (c === '"') word += this.#double();
      else if (c === "\\") word += this.keepBackslashes ? this.#literal() : this.#escaped();
      else {
        const plain = this.#take(PLAIN);
        if (plain === "") return word;
        word += plain;
      }
    }
  }

  #single(): string {
    const end = this.text.indexOf("'", this.#at + 1);
    if (end < 0) throw new WordsError("no closing quotation");
    const inside = this.text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return inside;
  }

  #double(): string {
    let inside = "";
    this.#at++;
    while (this.text[this.#at] !== '"') {
      if (this.#at >= this.text.length) throw new WordsError("no closing quotation");
      if (this.text[this.#at] !== "\\") inside += this.#take(IN_DOUBLE);
      else if (this.keepBackslashes) inside += this.#literal();
      else {
        // Between double quotes a backslash hides only a quote or itself; else both are kept.
        const c = this.#escaped();
        inside += c === '"' || c === "\\" ? c : "\\" + c;
      }
    }
    this.#at++;
    return inside;
  }

  #escaped(): string {
    const c = this.text[this.#at + 1];
    if (c === undefined) throw new WordsError("no escaped character");
    this.#at += 2;
    return c;
  }

  #literal(): string {
    this.#at++;
    return "\\";
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

/**
 * One command line that {@link splitWords} reads back as these words, quoted as Python's
 * `shlex.join` quotes: only where needed.
 */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return "'" + word.replaceAll("'", `'"'"'`) + "'";
}
