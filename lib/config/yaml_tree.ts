/** From the parser's syntax tree to ours, by PyYAML's rules for tags, keys, merges and aliases. */

import { type Alias, isAlias, isMap, isScalar, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import type { Node as YamlNode, Pair } from "yaml";
import type { Problem } from "../events/problem.ts";
import type { ConfigNode, ListNode, MapNode, ScalarNode } from "./node.ts";
import { type Fail, type Locate, MAX_DEPTH, MAX_EXPANDED_NODES } from "./yaml_error.ts";
import { Entries, Trail } from "./yaml_map.ts";
import { constructScalar, implicitTag, yamlTag } from "./yaml_scalar.ts";

const MAP = yamlTag("map");
const SEQ = yamlTag("seq");
const STR = yamlTag("str");
const MERGE = yamlTag("merge");
const VALUE = yamlTag("value");

/** An anchored node, and what each alias of it adds. */
interface Anchored {
  readonly node: ConfigNode;
  readonly size: number;
  readonly height: number;
}

/** Builds a file's tree from the parser's; one builder a file. */
export class TreeBuilder {
  readonly #trail: Trail;
  readonly #anchors = new Map<string, Anchored | "open">();
  #size = 0;
  #deepest = 0;

  constructor(
    readonly text: string,
    file: string,
    readonly locate: Locate,
    readonly fail: Fail,
  ) {
    this.#trail = new Trail(file);
  }

  /** One warning for each duplicate key. */
  get problems(): readonly Problem[] {
    return this.#trail.problems;
  }

  /** The tree under `node`; throws through `fail` on anything PyYAML would not load. */
  build(node: YamlNode): ConfigNode {
    return this.#node(node, 1);
  }

  #node(node: YamlNode, depth: number): ConfigNode {
    if (isAlias(node)) return this.#alias(node, depth);
    const at = startOf(node);
    this.#grow(1, depth, at);
    const { anchor } = node as { anchor?: string };
    if (anchor === undefined) return this.#bare(node, depth);
    if (this.#anchors.has(anchor)) this.fail(`duplicate anchor "${anchor}"`, at);
    this.#anchors.set(anchor, "open");
    const before = { size: this.#size - 1, deepest: this.#deepest };
    this.#deepest = depth;
    const built = this.#bare(node, depth);
    const height = this.#deepest - depth;
    this.#deepest = Math.max(before.deepest, this.#deepest);
    this.#anchors.set(anchor, { node: built, size: this.#size - before.size, height });
    return built;
  }

  #alias(alias: Alias, depth: number): ConfigNode {
    const at = startOf(alias);
    const target = this.#anchors.get(alias.source);
    if (target === undefined) this.fail(`undefined alias "${alias.source}"`, at);
    if (target === "open") this.fail(`alias "${alias.source}" stands inside its own anchor`, at);
    this.#grow(target.size, depth + target.height, at);
    if (this.#size > MAX_EXPANDED_NODES) {
      this.fail(`aliases expand to more than ${MAX_EXPANDED_NODES} values`, at);
    }
    return target.node;
  }

  #grow(size: number, depth: number, at: number): void {
    this.#size += size;
    this.#deepest = Math.max(this.#deepest, depth);
    if (depth > MAX_DEPTH) this.fail(`nested deeper than ${MAX_DEPTH} levels`, at);
  }

  #bare(node: Exclude<YamlNode, Alias>, depth: number): ConfigNode {
    if (isScalar(node)) return this.#scalar(node);
    const inside = depth + 1;
    const { tag } = node as { tag?: string };
    if (isMap(node)) {
      if (tag !== undefined && tag !== MAP && tag !== yamlTag("set")) this.#badTag(tag, node);
      return this.#map(node, inside);
    }
    if (tag === yamlTag("omap") || tag === yamlTag("pairs")) return this.#pairs(node, tag, inside);
    if (tag !== undefined && tag !== SEQ) this.#badTag(tag, node);
    return this.#list(node, inside);
  }

  #badTag(tag: string, node: YamlNode): never {
    const kind = isScalar(node) ? "scalar" : isMap(node) ? "mapping" : "sequence";
    return this.fail(`tag "${tag}" does not fit this ${kind} or is not known`, startOf(node));
  }

  #scalar(node: Scalar): ScalarNode {
    const at = startOf(node);
    const text = this.#scalarText(node);
    const plain = node.type === undefined || node.type === Scalar.PLAIN;
    const tag = this.#scalarTag(node, text, plain);
    const made = constructScalar(tag, text);
    if (!made) {
      return tag === implicitTag(text)
        ? this.fail(`PyYAML cannot read "${text}", put it in quotes`, at)
        : this.#badTag(tag, node);
    }
    return { kind: "scalar", ...this.locate(at), ...made };
  }

  /** A block scalar that the file's end cuts off without a line break does not get one. */
  #scalarText(node: Scalar): string {
    const text = node.source ?? "";
    const block = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;
    const cut = block && endOf(node) >= this.text.length && !this.text.endsWith("\n");
    return cut ? text.replace(/\n$/, "") : text;
  }

  #scalarTag(node: Scalar, text: string, plain: boolean): string {
    const { tag } = node as { tag?: string };
    if (tag === undefined) return plain ? implicitTag(text) : STR;
    return tag === "!" ? implicitTag(text) : tag;
  }

  #list(node: YAMLSeq, inside: number): ListNode {
    const items = node.items.map((item, index) => {
      this.#trail.enter(index);
      const built = this.#node(item as YamlNode, inside);
      this.#trail.leave();
      return built;
    });
    return { kind: "list", ...this.locate(startOf(node)), items };
  }

  /** `!!omap` and `!!pairs`: a list of key and value. */
  #pairs(node: YAMLSeq, tag: string, inside: number): ListNode {
    const items = node.items.map((item): ListNode => {
      const pair = isMap(item) && item.items.length === 1 ? item.items[0] : undefined;
      if (!pair || !isMap(item)) return this.#badTag(tag, node);
      const deeper = inside + 1;
      const key = this.#node(pair.key as YamlNode, deeper);
      const value = this.#value(pair as Pair, deeper);
      return { kind: "list", ...this.locate(startOf(item)), items: [key, value] };
    });
    return { kind: "list", ...this.locate(startOf(node)), items };
  }

  #map(node: YAMLMap, inside: number): MapNode {
    const entries = new Entries();
    for (const pair of node.items as Pair[]) {
      if (isMerge(pair.key as YamlNode)) this.#merge(pair, inside, entries);
      else this.#entry(pair, inside, entries);
    }
    const place = this.locate(startOf(node));
    return { kind: "map", ...place, entries: entries.finish(this.#trail) };
  }

  #entry(pair: Pair, inside: number, into: Entries): void {
    const key = this.#key(pair.key as YamlNode, inside);
    this.#trail.enter(key);
    const value = this.#value(pair, inside);
    this.#trail.leave();
    into.add(key, value);
  }

  #key(node: YamlNode, inside: number): ScalarNode {
    // rule 1.2: "=" is a key like any other, though no value
    const isEquals = isScalar(node) && implicitlyTagged(node, VALUE);
    if (isEquals) {
      const at = startOf(node);
      this.#grow(1, inside, at);
      return { kind: "scalar", ...this.locate(at), value: "=", type: "str" };
    }
    const key = this.#node(node, inside);
    if (key.kind === "scalar") return key;
    return this.fail("a mapping or sequence cannot be a key", startOf(node));
  }

  #value(pair: Pair, inside: number): ConfigNode {
    if (pair.value) return this.#node(pair.value as YamlNode, inside);
    const at = endOf(pair.key as YamlNode);
    this.#grow(1, inside, at);
    return { kind: "scalar", ...this.locate(at), value: null, type: "NoneType" };
  }

  /** What `<<` brings in; of a list the first wins, of several `<<` the last. */
  #merge(pair: Pair, inside: number, into: Entries): void {
    const key = pair.key as YamlNode;
    this.#grow(1, inside, startOf(key));
    this.#trail.enter("<<");
    const value = this.#value(pair, inside);
    this.#trail.leave();
    const sources = value.kind === "list" ? [...value.items].reverse() : [value];
    for (const source of sources) {
      if (source.kind !== "map") {
        this.fail('"<<" needs a mapping or a list of mappings', startOf(key));
      }
      for (const entry of source.entries.values()) into.merge(entry);
    }
  }
}

function startOf(node: YamlNode): number {
  return node.range?.[0] ?? 0;
}

function endOf(node: YamlNode): number {
  return node.range?.[1] ?? 0;
}

function isMerge(key: YamlNode): boolean {
  return isScalar(key) && implicitlyTagged(key, MERGE);
}

/** Has it this tag, by itself or by its plain spelling? */
function implicitlyTagged(node: Scalar, tag: string): boolean {
  const explicit = (node as { tag?: string }).tag;
  const plain = node.type === undefined || node.type === Scalar.PLAIN;
  if (explicit !== undefined && explicit !== "!") return explicit === tag;
  return (plain || explicit === "!") && implicitTag(node.source ?? "") === tag;
}
