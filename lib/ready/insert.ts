/**
 * Adding entries to a config by inserting lines: what stands in the file stays as it is, byte by
 * byte (rule 1.7).
 */
import { type Document, isMap, isScalar, isSeq, parseDocument, stringify } from "yaml";
import type { Pair, Scalar, YAMLMap } from "yaml";
import type { ConfigNode } from "../config/node.ts";
import { at } from "../config/node.ts";
import { readConfigYaml } from "../config/yaml_file.ts";
import { type ReadyEntry, YAML_STYLE } from "./ready.ts";

/** What {@link insertEntries} made of a text; `refused` says why the file cannot be edited safely. */
export type Inserted =
  | { readonly ok: true; readonly text: string; readonly added: readonly ReadyEntry[] }
  | { readonly ok: false; readonly refused: string };

/** The file is one that a few inserted lines cannot be trusted with. */
class Refusal extends Error {}

/**
 * Adds to a config's text the entries that are not in it yet. Before the text is given back it is
 * read again: it must mean what the old one meant, and the new entries, and nothing else.
 * @param text the whole file; a BOM and CRLF are kept
 * @param file its name, for errors
 * @param same whether two commands are the same one
 * @throws YamlSyntaxError when the file is no YAML
 */
export async function insertEntries(
  text: string,
  file: string,
  entries: readonly ReadyEntry[],
  same: (one: string, other: string) => boolean,
): Promise<Inserted> {
  const bom = text.startsWith("\ufeff") ? "\ufeff" : "";
  let body = text.slice(bom.length);
  const added: ReadyEntry[] = [];
  try {
    for (const entry of entries) {
      const { root } = await readConfigYaml(body, file);
      if (has(root, entry, same)) continue;
      const next = insertOne(body, entry);
      await mustMean(next, file, root, entry);
      body = next;
      added.push(entry);
    }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, refused: error.message };
    throw error;
  }
  return { ok: true, text: bom + body, added };
}

function has(
  root: ConfigNode | undefined,
  { event, keys }: ReadyEntry,
  same: (one: string, other: string) => boolean,
): boolean {
  const list = at(at(root, "hooks"), event);
  if (list?.kind !== "list") return false;
  return list.items.some((item) => {
    const command = at(item, "command");
    return command?.kind === "scalar" && typeof command.value === "string" &&
      same(command.value.trim(), String(keys["command"]));
  });
}

/** The lines of one entry: `    - matcher: …`, indented by so many spaces. */
function itemLines(entry: ReadyEntry, indent: number): string {
  const lines = stringify([entry.keys], YAML_STYLE).trimEnd().split("\n");
  return lines.map((line) => " ".repeat(indent) + line + "\n").join("");
}

function insertOne(text: string, entry: ReadyEntry): string {
  const doc = parseDocument(text, {
    version: "1.1",
    uniqueKeys: false,
    keepSourceTokens: true,
    logLevel: "silent",
  });
  if (doc.errors.length > 0) throw new Refusal("it is written in a way that is not safe to edit");
  const root = rootOf(doc);
  const hooks = root && pairOf(root, "hooks", "");
  const event = `  ${entry.event}:\n`;
  if (!hooks) {
    const gap = text === "" || /(^|\n)\r?\n$/.test(text) ? "" : "\n";
    return splice(text, text.length, `${gap}hooks:\n${event}${itemLines(entry, 4)}`);
  }
  const map = hooks.value;
  if (isNothing(map)) return splice(text, afterKey(text, hooks), event + itemLines(entry, 4));
  if (!isMap(map)) throw new Refusal('"hooks" is no mapping');
  plainBlock(map, "hooks");
  const indent = columnOf(text, (map.items[0]!.key as Scalar).range![0]);
  const own = pairOf(map, entry.event, "hooks.");
  const pad = " ".repeat(indent);
  if (!own) {
    const lines = `${pad}${entry.event}:\n${itemLines(entry, indent + 2)}`;
    return splice(text, afterNode(text, map, indent), lines);
  }
  const list = own.value;
  if (isNothing(list)) return splice(text, afterKey(text, own), itemLines(entry, indent + 2));
  if (!isSeq(list)) throw new Refusal(`"hooks.${entry.event}" is no list`);
  plainBlock(list, `hooks.${entry.event}`);
  const dash = columnOf(text, list.range![0]);
  return splice(text, afterNode(text, list, dash), itemLines(entry, dash));
}

function rootOf(doc: Document.Parsed): YAMLMap | undefined {
  const { contents } = doc;
  if (isNothing(contents)) return undefined;
  if (!isMap(contents)) throw new Refusal("it holds no mapping at the top");
  plainBlock(contents, "the top");
  if ((contents.items[0]?.key as Scalar | undefined)?.range === undefined) {
    throw new Refusal("it is written in a way that is not safe to edit");
  }
  return contents as unknown as YAMLMap;
}

/** The one pair of that key. */
function pairOf(map: YAMLMap, key: string, where: string): Pair | undefined {
  const pairs = map.items.filter((pair) => isScalar(pair.key) && String(pair.key.value) === key);
  if (pairs.length > 1) throw new Refusal(`"${where}${key}" stands in it ${pairs.length} times`);
  const pair = pairs[0];
  if (pair && (pair.key as Scalar).anchor) throw new Refusal(`"${where}${key}" has an anchor`);
  return pair;
}

/** Nothing at all after the key: a written `null` or `~`, or an anchor, is something. */
function isNothing(node: unknown): boolean {
  if (node === null || node === undefined) return true;
  return isScalar(node) && node.value === null && !node.anchor && !node.tag && node.source === "";
}

function plainBlock(
  node: { flow?: boolean; anchor?: string; tag?: string; items: unknown[] },
  what: string,
) {
  const name = what === "the top" ? what : `"${what}"`;
  if (node.anchor) {
    throw new Refusal(`${name} has an anchor, so that other places would change too`);
  }
  if (node.flow) throw new Refusal(`${name} is written in brackets`);
  if (node.items.length === 0) throw new Refusal(`${name} is empty`);
}

const columnOf = (text: string, offset: number) =>
  offset - (text.lastIndexOf("\n", offset - 1) + 1);

/** The start of the line after the one that `offset` stands in. */
function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

function afterKey(text: string, pair: Pair): number {
  return nextLine(text, (pair.key as Scalar).range![1]);
}

/** Where its last value ends. */
function endOf(node: unknown): number {
  if (isMap(node) && !node.flow && node.items.length > 0) {
    const last = node.items.at(-1)!;
    return Math.max((last.key as Scalar).range![1], endOf(last.value));
  }
  if (isSeq(node) && !node.flow && node.items.length > 0) {
    return Math.max(node.range![0] + 1, endOf(node.items.at(-1)));
  }
  return (node as Scalar | null)?.range?.[1] ?? 0;
}

/** The line after a block's last value, and after comments that are indented as part of it. */
function afterNode(text: string, node: unknown, indent: number): number {
  const end = endOf(node);
  let place = end > 0 && text[end - 1] === "\n" ? end : nextLine(text, end);
  for (;;) {
    const comment = /^( *)#[^\n]*(\n|$)/.exec(text.slice(place, place + 2000));
    if (!comment || comment[1]!.length <= indent) return place;
    place += comment[0].length;
  }
}

function splice(text: string, place: number, lines: string): string {
  const crlf = text.includes("\r\n");
  const before = text.slice(0, place);
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  const own = gap + lines;
  return before + (crlf ? own.replaceAll("\n", "\r\n") : own) + text.slice(place);
}

type Plain = Map<string, Plain> | Plain[] | string;

/** A tree without its places, to compare. */
function plain(node: ConfigNode | undefined): Plain {
  if (node === undefined) return new Map();
  if (node.kind === "list") return node.items.map(plain);
  if (node.kind === "scalar") return `${node.type} ${String(node.value)}`;
  return new Map([...node.entries].map(([key, { value }]) => [key, plain(value)]));
}

const written = (value: Plain): string =>
  JSON.stringify(value, (_key, each) => each instanceof Map ? { map: [...each] } : each);

/** @throws Refusal unless `text` means what `old` meant, with the entry at the end of its event */
async function mustMean(
  text: string,
  file: string,
  old: ConfigNode | undefined,
  entry: ReadyEntry,
): Promise<void> {
  const refusal = new Refusal("it is written in a way that is not safe to edit");
  const root = plain(old?.kind === "map" ? old : undefined) as Map<string, Plain>;
  const hooks = root.get("hooks") instanceof Map
    ? root.get("hooks") as Map<string, Plain>
    : new Map();
  const list = hooks.get(entry.event);
  const own = new Map(
    Object.entries(entry.keys).map(([key, value]) => {
      const type = { string: "str", number: "int", boolean: "bool" }[typeof value as "string"];
      return [key, `${type} ${String(value)}`];
    }),
  );
  hooks.set(entry.event, [...(Array.isArray(list) ? list : []), own]);
  root.set("hooks", hooks);
  let found: Plain;
  try {
    found = plain((await readConfigYaml(text, file)).root);
  } catch {
    throw refusal;
  }
  if (written(found) !== written(root)) throw refusal;
}
