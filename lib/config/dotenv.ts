/** `.env` in python-dotenv's grammar, without its interpolation (rule 1.3b). */

const BLANK = /\s*/y;
const SPACES = /[^\S\r\n]*/y;
const EXPORT = /export[^\S\r\n]+/y;
const QUOTED_KEY = /'([^']+)'/y;
const KEY = /([^=#\s]+)/y;
const EQUALS = /=[^\S\r\n]*/y;
const SINGLE = /'((?:\\'|[^'])*)'/y;
const DOUBLE = /"((?:\\"|[^"])*)"/y;
const UNQUOTED = /([^\r\n]*)/y;
const LINE_END = /[^\S\r\n]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|$)/y;
const REST = /[^\r\n]*(?:\r\n|\n|\r|$)/y;

/** One line's worth: a key with its value, a key alone, or neither for a comment or a bad line. */
interface Binding {
  readonly key?: string;
  readonly value?: string;
}

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  /** What `pattern` matches here, or undefined without moving. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match ?? undefined;
  }

  binding(): Binding {
    this.take(BLANK);
    if (this.at >= this.text.length) return {};
    const binding = this.#assignment();
    if (binding && this.take(LINE_END)) return binding;
    // Reading goes on behind the line on which it failed, not behind the one it began on.
    this.take(REST);
    return {};
  }

  #assignment(): Binding | undefined {
    this.take(EXPORT);
    if (this.text[this.at] === "#") return {};
    const key = (this.text[this.at] === "'" ? this.take(QUOTED_KEY) : this.take(KEY))?.[1];
    if (key === undefined) return undefined;
    this.take(SPACES);
    if (!this.take(EQUALS)) return { key };
    const value = this.#value();
    return value === undefined ? undefined : { key, value };
  }

  #value(): string | undefined {
    const first = this.text[this.at];
    if (first === "'") {
      const inside = this.take(SINGLE)?.[1];
      return inside?.replace(/\\([\\'])/g, "$1");
    }
    if (first === '"') {
      const inside = this.take(DOUBLE)?.[1];
      return inside?.replace(/\\([\\'"abfnrtv])/g, (_, c: string) => ESCAPES[c] ?? c);
    }
    const raw = this.take(UNQUOTED)?.[1] ?? "";
    return raw.replace(/\s+#.*/, "").trimEnd();
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/**
 * The variables of a `.env` text, in order. `export`, quotes with their escapes, values over
 * several lines and comments are understood; `${NAME}` stays as it is; a key without `=` and a line
 * that cannot be read are skipped. Never throws.
 */
export function parseDotenv(text: string): Map<string, string> {
  const reader = new Reader(text.replace(/^\ufeff/, ""));
  const variables = new Map<string, string>();
  while (reader.at < reader.text.length) {
    const { key, value } = reader.binding();
    if (key !== undefined && value !== undefined) variables.set(key, value);
  }
  return variables;
}

/** The environment, and from `.env` what it lacks; `HERMES_HOME` never comes from `.env`. */
export function mergedEnv(
  processEnv: Readonly<Record<string, string | undefined>>,
  dotenv: ReadonlyMap<string, string>,
): Record<string, string> {
  const merged = new Map(dotenv);
  // rule 1.3b: the file lies in the home, so it cannot say where the home is
  merged.delete("HERMES_HOME");
  for (const [name, value] of Object.entries(processEnv)) {
    if (value !== undefined) merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
