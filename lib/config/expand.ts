/** `${NAME}` and `${env:NAME}` in a config's values (rule 1.2b). */

import type { Problem } from "../events/problem.ts";
import type { ConfigNode, ListNode, MapEntry, MapNode, ScalarNode } from "./node.ts";

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A tree with its references replaced, and the names that were not set. */
export interface Expanded {
  readonly node: ConfigNode;
  /** One warning for each unset name in each value; the reference stays as it is. */
  readonly problems: readonly Problem[];
}

/**
 * Replaces references in every string value, never in keys. What is replaced is not read again: it
 * stays a string, and a `${…}` that came from the environment stays as it is. Unchanged branches
 * are the very nodes given.
 * @param env names and values; an empty value is set
 * @param file the file's name, for problems
 */
export function expandNode(
  node: ConfigNode,
  env: Readonly<Record<string, string | undefined>>,
  file = "",
): Expanded {
  const expander = new Expander(env, file);
  return { node: expander.node(node), problems: expander.problems };
}

class Expander {
  readonly problems: Problem[] = [];
  /** Aliased nodes stand in the tree several times: each is done, and warned about, once. */
  readonly #done = new Map<ConfigNode, ConfigNode>();
  readonly #path: string[] = [];

  constructor(
    readonly env: Readonly<Record<string, string | undefined>>,
    readonly file: string,
  ) {}

  node(node: ConfigNode): ConfigNode {
    if (node.kind === "scalar" && typeof node.value !== "string") return node;
    const done = this.#done.get(node);
    if (done) return done;
    const expanded = node.kind === "scalar"
      ? this.#scalar(node)
      : node.kind === "list"
      ? this.#list(node)
      : this.#map(node);
    this.#done.set(node, expanded);
    return expanded;
  }

  #scalar(node: ScalarNode): ScalarNode {
    if (node.type !== "str" || typeof node.value !== "string") return node;
    if (!node.value.includes("${")) return node;
    const unset = new Set<string>();
    const value = node.value.replace(REFERENCE, (reference, name: string) => {
      const found = Object.hasOwn(this.env, name) ? this.env[name] : undefined;
      if (found === undefined) unset.add(name);
      return found ?? reference;
    });
    for (const name of unset) this.#warn(node, name);
    return value === node.value ? node : { ...node, value };
  }

  #list(node: ListNode): ListNode {
    let changed = false;
    const items = node.items.map((item, index) => {
      const expanded = this.#inside(`[${index}]`, item);
      changed ||= expanded !== item;
      return expanded;
    });
    return changed ? { ...node, items } : node;
  }

  #map(node: MapNode): MapNode {
    let changed: Map<string, MapEntry> | undefined;
    for (const [name, entry] of node.entries) {
      const value = this.#inside(this.#path.length > 0 ? `.${name}` : name, entry.value);
      if (value === entry.value) continue;
      changed ??= new Map(node.entries);
      changed.set(name, { key: entry.key, value });
    }
    return changed ? { ...node, entries: changed } : node;
  }

  #inside(step: string, node: ConfigNode): ConfigNode {
    this.#path.push(step);
    const expanded = this.node(node);
    this.#path.pop();
    return expanded;
  }

  #warn(node: ScalarNode, name: string): void {
    this.problems.push({
      severity: "warning",
      file: this.file,
      path: this.#path.join(""),
      line: node.line,
      message: `"${name}" is not set, the reference stays as it is; set it in the environment ` +
        "or in .env",
    });
  }
}
