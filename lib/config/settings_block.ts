/** One block of settings of our own, such as `hermes_hooks.serve`: each key checked by itself. */
import type { z } from "zod";
import type { Problem } from "../events/problem.ts";
import type { ConfigNode } from "./node.ts";
import { unknownKeyText } from "./unknown_key.ts";

/** How a block is read. */
export interface BlockOptions {
  /** Such as `hermes_hooks.serve`. */
  readonly path: string;
  readonly file: string;
  /** By key: what is taken, and in its description what is expected, for messages. */
  readonly fields: Readonly<Record<string, z.ZodType>>;
  /** Keys whose bad value is an error, and must not become the default in silence. */
  readonly fatal: readonly string[];
  /** Is a block that is no mapping an error? Default false: a warning. */
  readonly isFatal?: boolean;
  /** What is wrong with a bad value, where the description is not enough. */
  readonly complaint?: (key: string, value: unknown) => string | undefined;
  /** How a default is written in a config. Default: its JSON. */
  readonly shownDefault?: (key: string) => string | undefined;
}

/** What {@link readBlock} returns. */
export interface BlockRead {
  /** The good values as they stand, for the schema to parse. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/** Reads a block; null is as if absent. A bad value is left out, and is a problem. */
export function readBlock(node: ConfigNode | undefined, options: BlockOptions): BlockRead {
  const { path, file, fields, fatal, isFatal = false } = options;
  const problems: Problem[] = [];
  const say = ({ line }: { line: number }, at: string, message: string, error = false) =>
    problems.push({ severity: error ? "error" : "warning", file, path: at, line, message });
  const values: Record<string, unknown> = {};
  const isAbsent = node === undefined || (node.kind === "scalar" && node.value === null);
  if (!isAbsent && node.kind !== "map") {
    say(node, path, `expected a mapping${isFatal ? "" : "; using the defaults"}`, isFatal);
  }
  for (const [key, entry] of node?.kind === "map" ? node.entries : []) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (!field) {
      say(entry.key, `${path}.${key}`, unknownKeyText(key, Object.keys(fields)));
      continue;
    }
    const value = plain(entry.value);
    if (value === null) continue;
    if (field.safeParse(value).success) {
      values[key] = value;
      continue;
    }
    const why = options.complaint?.(key, value) ?? `expected ${field.description}`;
    const error = fatal.includes(key);
    say(entry.value, `${path}.${key}`, error ? why : `${why}; using ${shown(key)}`, error);
  }
  return { values, problems };

  function shown(key: string): string {
    return options.shownDefault?.(key) ?? JSON.stringify(fields[key]!.parse(undefined));
  }
}

/** A node as plain JavaScript. */
function plain(node: ConfigNode): unknown {
  if (node.kind === "list") return node.items.map(plain);
  if (node.kind === "map") {
    return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value)]));
  }
  return typeof node.value === "bigint" ? Number(node.value) : node.value;
}
