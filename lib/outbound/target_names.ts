/** What targets are called: configured ones, and those that only a queue still knows. */

/** A target's name from its key, for one that is not configured any more. */
function nameOfKey(key: string): string {
  return key.replace(/ [0-9a-f]{12}(?: #[0-9]+)?$/, "");
}

/** The names of targets by their keys: of configured ones, and of those that only a queue knows. */
export class TargetNames {
  readonly #named: ReadonlyMap<string, string>;

  /** @param named the configured targets' names, by key */
  constructor(named: Iterable<readonly [string, string]>) {
    this.#named = new Map(named);
  }

  /** A target's name by its key. */
  of(key: string): string {
    return this.#named.get(key) ?? nameOfKey(key);
  }

  /** Is it a configured target's key? */
  has(key: string): boolean {
    return this.#named.has(key);
  }

  /** The keys that a name stands for: configured targets, else those among `known`. */
  keysOf(name: string, known: Iterable<string> = []): string[] {
    const keys = [...this.#named].flatMap(([key, each]) => each === name ? [key] : []);
    return keys.length > 0 ? keys : [...known].filter((key) => nameOfKey(key) === name);
  }
}
