/** The `plugins:` block, and what bounds the hosts plugins and gateway hooks live in (rule 1.5). */
import { CALLBACK_TIMEOUT, HOST_KEYS as KNOWN_HOST_KEYS, HOST_MEMORY_MB } from "./bounds.ts";
import { at, type ConfigNode, type ScalarNode } from "./node.ts";
import { unknownKeyText } from "./unknown_key.ts";

/** One name under `plugins.enabled`. */
export interface EnabledPlugin {
  /** The folder's name under `<home>/plugins`; never with a separator in it. */
  readonly name: string;
  /** Such as `plugins.enabled[2]`. */
  readonly path: string;
  readonly line: number;
}

/** What {@link readPluginSettings} returns. */
export interface PluginSettings {
  /** Each once, in the order of their names: that is load order (rule 8.1). */
  readonly enabled: readonly EnabledPlugin[];
  /** `plugins.hook_callback_timeout`, for gateway handlers too: seconds from 0 (no bound) to 600, default 30. */
  readonly callbackTimeout: number;
  /** `plugins.stream_reasoning_deltas`, default false. */
  readonly streamReasoning: boolean;
  /** `plugins.fail_closed`, default false. */
  readonly failClosed: boolean;
  /** `hermes_hooks.hosts.memory_mb`: MiB a host may take, 0 for no bound, default 512. */
  readonly memoryMb: number;
}

/** Seconds a callback may take when the config does not say. */
export const DEFAULT_CALLBACK_TIMEOUT = CALLBACK_TIMEOUT.fallback;
/** Seconds a callback may take at most. */
export const MAX_CALLBACK_TIMEOUT = CALLBACK_TIMEOUT.to;
/** MiB a host may take when the config does not say. */
export const DEFAULT_MEMORY_MB = HOST_MEMORY_MB;

type Say = (node: { line: number }, path: string, message: string) => void;

const HOST_KEYS: readonly string[] = KNOWN_HOST_KEYS;
const TRUE_WORDS = ["true", "yes", "on", "1"];

/** The value of a scalar; undefined for what is absent, null, a list or a mapping. */
function valueOf(node: ConfigNode | undefined): ScalarNode["value"] | undefined {
  return node?.kind === "scalar" && node.value !== null ? node.value : undefined;
}

function absent(node: ConfigNode | undefined): node is undefined {
  return node === undefined || (node.kind === "scalar" && node.value === null);
}

function numberOf(node: ConfigNode): number {
  const value = valueOf(node);
  return typeof value === "bigint" || typeof value === "number" ? Number(value) : NaN;
}

/** Why a name cannot be that of a folder under `<home>/plugins`, or undefined. */
function refusal(name: string): string | undefined {
  if (name === "") return "is empty, expected the name of a folder under <home>/plugins";
  if (/[\\/\0]/.test(name) || name.split(".").join("") === "") {
    return `"${name}" is no name of a folder under <home>/plugins; skipped`;
  }
  return undefined;
}

function readEnabled(block: ConfigNode | undefined, say: Say): EnabledPlugin[] {
  const list = at(block, "enabled");
  if (absent(list)) return [];
  if (list.kind !== "list") {
    say(list, "plugins.enabled", 'expected a list of plugin names ("- name"); no plugin is loaded');
    return [];
  }
  const found = new Map<string, EnabledPlugin>();
  list.items.forEach((item, i) => {
    const path = `plugins.enabled[${i}]`;
    const value = valueOf(item);
    if (typeof value !== "string") return say(item, path, "expected a plugin's name; skipped");
    const name = value.trim();
    const bad = refusal(name);
    if (bad) return say(item, path, bad);
    const first = found.get(name);
    if (first) return say(item, path, `"${name}" stands at ${first.path} already; loaded once`);
    found.set(name, { name, path, line: item.line });
  });
  return [...found.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

function readTimeout(block: ConfigNode | undefined, say: Say): number {
  const path = "plugins.hook_callback_timeout";
  const node = at(block, "hook_callback_timeout");
  if (absent(node)) return DEFAULT_CALLBACK_TIMEOUT;
  const seconds = numberOf(node);
  const range = `seconds from 0 (no bound) to ${MAX_CALLBACK_TIMEOUT}`;
  if (seconds > MAX_CALLBACK_TIMEOUT) {
    say(node, path, `is over the limit, expected ${range}; using ${MAX_CALLBACK_TIMEOUT}`);
    return MAX_CALLBACK_TIMEOUT;
  }
  if (seconds >= 0) return seconds;
  say(node, path, `expected ${range}; using ${DEFAULT_CALLBACK_TIMEOUT}`);
  return DEFAULT_CALLBACK_TIMEOUT;
}

/** A yes or no; a string that says yes counts, with a word (as rule 2.6 has it). */
function readSwitch(block: ConfigNode | undefined, key: string, say: Say): boolean {
  const node = at(block, key);
  if (absent(node)) return false;
  const value = valueOf(node);
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  const taken = TRUE_WORDS.includes(word);
  say(node, `plugins.${key}`, `expected true or false; taken as ${taken}`);
  return taken;
}

function readMemory(root: ConfigNode | undefined, say: Say): number {
  const block = at(at(root, "hermes_hooks"), "hosts");
  if (absent(block)) return DEFAULT_MEMORY_MB;
  if (block.kind !== "map") {
    say(block, "hermes_hooks.hosts", "expected a mapping; using the defaults");
    return DEFAULT_MEMORY_MB;
  }
  for (const [name, { key }] of block.entries) {
    if (HOST_KEYS.includes(name)) continue;
    say(key, `hermes_hooks.hosts.${name}`, unknownKeyText(name, HOST_KEYS));
  }
  const node = at(block, "memory_mb");
  if (absent(node)) return DEFAULT_MEMORY_MB;
  const mb = numberOf(node);
  if (Number.isSafeInteger(mb) && mb >= 0) return mb;
  const expected = `expected a whole number of MiB, 0 for no bound; using ${DEFAULT_MEMORY_MB}`;
  say(node, "hermes_hooks.hosts.memory_mb", expected);
  return DEFAULT_MEMORY_MB;
}

/** Reads them; a bad value falls back to its default and is said. */
export function readPluginSettings(root: ConfigNode | undefined, say: Say): PluginSettings {
  const block = at(root, "plugins");
  if (!absent(block) && block.kind !== "map") {
    say(block, "plugins", "expected a mapping; no plugin is loaded");
  }
  return {
    enabled: readEnabled(block, say),
    callbackTimeout: readTimeout(block, say),
    streamReasoning: readSwitch(block, "stream_reasoning_deltas", say),
    failClosed: readSwitch(block, "fail_closed", say),
    memoryMb: readMemory(root, say),
  };
}
