/** Headers of a delivery, whatever form they come in. */

/**
 * Pairs of name and value (a `Headers`, an array of pairs), or an object of values or lists.
 * Names may be in any case; a name may come more than once.
 */
export type HeaderSource =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Every value of a header, in order, by its name in lower case. */
export type HeaderValues = ReadonlyMap<string, readonly string[]>;

/** Reads headers; values are trimmed. Never throws on strings. */
export function readHeaders(source: HeaderSource): HeaderValues {
  const all = new Map<string, string[]>();
  for (const [name, value] of pairs(source)) {
    const key = name.toLowerCase();
    const values = all.get(key) ?? [];
    all.set(key, [...values, value.trim()]);
  }
  return all;
}

function* pairs(source: HeaderSource): Iterable<readonly [string, string]> {
  if (Symbol.iterator in source) return yield* source as Iterable<readonly [string, string]>;
  for (const [name, value] of Object.entries(source)) {
    if (typeof value === "string") yield [name, value];
    else for (const one of value ?? []) yield [name, one];
  }
}

/** The pairs in `rawHeaders` of `node:http`: names and values taking turns. */
export function rawPairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at): [string, string][] => at % 2 ? [] : [[name, raw[at + 1] ?? ""]]);
}

/** The one value of a header: undefined when it is missing, comes twice, or is empty. */
export function only(headers: HeaderValues, name: string): string | undefined {
  const values = headers.get(name.toLowerCase()) ?? [];
  return values.length === 1 && values[0] !== "" ? values[0] : undefined;
}
