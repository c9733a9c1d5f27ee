/** A YAML value that knows where it stands: what the config reader hands to everyone else. */

interface Located {
  /** 1-based line of its first character. */
  readonly line: number;
  /** 1-based column of its first character. */
  readonly column: number;
}

/** A scalar as PyYAML's `safe_load` constructs it. */
export interface ScalarNode extends Located {
  readonly kind: "scalar";
  /** Integers are bigint, floats number, timestamps and binary their source text as a string. */
  readonly value: null | boolean | string | bigint | number;
  /** The type PyYAML would give it, for messages: `str`, `int`, `float`, `bool`, `NoneType`, … */
  readonly type: string;
}

/** A sequence. */
export interface ListNode extends Located {
  readonly kind: "list";
  readonly items: readonly ConfigNode[];
}

/** One entry of a mapping. */
export interface MapEntry {
  readonly key: ScalarNode;
  readonly value: ConfigNode;
}

/** A mapping; keys by their text (`yes:` is the key `true`), merges applied, last duplicate wins. */
export interface MapNode extends Located {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, MapEntry>;
}

/** Any value of a config file. */
export type ConfigNode = ScalarNode | ListNode | MapNode;

/** The value under `key` when `node` is a mapping that has it. */
export function at(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  return node?.kind === "map" ? node.entries.get(key)?.value : undefined;
}
