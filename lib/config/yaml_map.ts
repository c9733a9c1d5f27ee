/** How a mapping's entries become one node's, by Python's equality of keys; shared by both readers. */

import type { Problem } from "../events/problem.ts";
import type { ConfigNode, MapEntry, ScalarNode } from "./node.ts";

/** One step down in the tree: to an item by its index, to the value of a key, to what `<<` names. */
export type Step = number | ScalarNode | "<<";

/** Where a reader stands in the tree, and what it found odd on its way; one a file. */
export class Trail {
  /** One warning for each duplicate key. */
  readonly problems: Problem[] = [];
  readonly #steps: Step[] = [];

  constructor(readonly file: string) {}

  /** Steps down; {@link leave} undoes it. */
  enter(step: Step): void {
    this.#steps.push(step);
  }

  /** Steps back up. */
  leave(): void {
    this.#steps.pop();
  }

  /** Notes that `key` stands on all of these lines of the mapping we are in. */
  warnDuplicate(key: ScalarNode, lines: readonly number[]): void {
    const path = [...this.#steps, key].map(stepText).join("");
    const last = lines[lines.length - 1];
    const message =
      `duplicate key "${keyText(key)}": lines ${lines.slice(0, -1).join(", ")} and ${last}; ` +
      "the last wins";
    this.problems.push({ severity: "warning", file: this.file, path, line: last, message });
  }
}

function stepText(step: Step, index: number): string {
  if (typeof step === "number") return `[${step}]`;
  if (step === "<<") return ".<<";
  return index > 0 ? `.${keyText(step)}` : keyText(step);
}

/** Gathers one mapping's entries in the order in which they stand. */
export class Entries {
  /** By identity in Python's sense: `1`, `1.0` and `true` are one key. */
  readonly #own = new Map<string, { entry: MapEntry; lines: number[] }>();
  readonly #merged = new Map<string, MapEntry>();

  /** An entry of the mapping itself; the last of equal keys wins. */
  add(key: ScalarNode, value: ConfigNode): void {
    const id = keyIdentity(key);
    const before = this.#own.get(id);
    if (before) {
      before.entry = again(before.entry, key, value);
      before.lines.push(key.line);
    } else this.#own.set(id, { entry: { key, value }, lines: [key.line] });
  }

  /** An entry that `<<` brings in: it comes before the mapping's own, and yields to them. */
  merge(entry: MapEntry): void {
    const id = keyIdentity(entry.key);
    const before = this.#merged.get(id);
    this.#merged.set(id, before ? { key: before.key, value: entry.value } : entry);
  }

  /** The entries by their keys' text; duplicates are warned about on `trail`. */
  finish(trail: Trail): Map<string, MapEntry> {
    const entries = new Map<string, MapEntry>();
    for (const entry of this.#merged.values()) put(entries, entry);
    for (const [id, { entry, lines }] of this.#own) {
      const merged = this.#merged.get(id);
      put(entries, merged ? again(merged, entry.key, entry.value) : entry);
      if (lines.length > 1) trail.warnDuplicate(entry.key, lines);
    }
    return entries;
  }
}

/** As in Python, an equal key keeps the spelling it came with first, and the place among the rest. */
function again(first: MapEntry, { line, column }: ScalarNode, value: ConfigNode): MapEntry {
  return { key: { ...first.key, line, column }, value };
}

function put(entries: Map<string, MapEntry>, entry: MapEntry): void {
  const name = keyText(entry.key);
  // `true` and `"true"` are two keys there; here the one that can be looked up counts.
  if (entry.key.type !== "str" && entries.get(name)?.key.type === "str") return;
  entries.set(name, entry);
}

/** A key as a name: strings as they are, `true`, `null`, numbers in decimal. */
function keyText(key: ScalarNode): string {
  return String(key.value);
}

/** Equal for keys that are equal in Python. */
function keyIdentity({ value, type }: ScalarNode): string {
  if (type === "bool") return value ? "number 1" : "number 0";
  if (type === "int" || type === "float") return `number ${String(value).replace(/^-0$/, "0")}`;
  return `${type} ${String(value)}`;
}
