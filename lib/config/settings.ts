/** The settings beside the hooks themselves (rule 1.5), each with its default and its problems. */
import { MAX_VERIFY_NUDGES, OWN_KEYS, SPILL, YES_NO } from "./bounds.ts";
import type { Problem } from "../events/problem.ts";
import type { ConfigNode, ScalarNode } from "./node.ts";
import { at } from "./node.ts";
import { type PluginSettings, readPluginSettings } from "./plugin_settings.ts";
import { unknownKeyText } from "./unknown_key.ts";

/** `hooks.output_spill` (rule 5.3b). */
export interface SpillSettings {
  readonly enabled: boolean;
  /** Characters above which a context is spilled. */
  readonly maxChars: number;
  /** Characters kept from the front. */
  readonly previewHead: number;
  /** Characters kept from the end. */
  readonly previewTail: number;
  /** Absolute or relative to the home; absent: `<home>/hook_outputs`. */
  readonly directory?: string;
}

/** What {@link readSettings} returns. */
export interface Settings {
  readonly spill: SpillSettings;
  /** `agent.max_verify_nudges`, default 3. */
  readonly maxVerifyNudges: number;
  /** `hooks_auto_accept` as it stands: which values count is consent's business (rule 6.4). */
  readonly autoAccept: ConfigNode | undefined;
  /** `hermes_hooks.serve` as it stands: only what listens, or reports on all, reads it. */
  readonly serve: ConfigNode | undefined;
  /** Names of variables that hold secrets: kept from hooks (rule 3.2). */
  readonly secretNames: readonly string[];
  /** `plugins`, and `hermes_hooks.hosts`. */
  readonly plugins: PluginSettings;
  readonly problems: readonly Problem[];
}

type Say = (node: { line: number }, path: string, message: string) => void;

function scalar(node: ConfigNode | undefined): ScalarNode | undefined {
  return node?.kind === "scalar" && node.value !== null ? node : undefined;
}

function count(root: ConfigNode | undefined, path: string, fallback: number, say: Say): number {
  let node = root;
  for (const key of path.split(".")) node = at(node, key);
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return fallback;
  const value = scalar(node)?.value;
  if (typeof value === "bigint" && value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) {
    return Number(value);
  }
  say(node, path, `expected a whole number from 0; using ${fallback}`);
  return fallback;
}

function readSpill(root: ConfigNode | undefined, say: Say): SpillSettings {
  const path = "hooks.output_spill";
  const block = at(at(root, "hooks"), "output_spill");
  if (block && block.kind !== "map" && !(block.kind === "scalar" && block.value === null)) {
    say(block, path, "expected a mapping; using the defaults");
  }
  const enabled = at(block, "enabled");
  if (enabled && typeof scalar(enabled)?.value !== "boolean") {
    say(enabled, `${path}.enabled`, "expected true or false; taken as true");
  }
  const directory = at(block, "directory");
  const folder = scalar(directory)?.value;
  if (directory && typeof folder !== "string") {
    say(directory, `${path}.directory`, "expected a folder; using the default");
  }
  return {
    enabled: scalar(enabled)?.value !== false,
    maxChars: count(root, `${path}.max_chars`, SPILL.max_chars, say),
    previewHead: count(root, `${path}.preview_head`, SPILL.preview_head, say),
    previewTail: count(root, `${path}.preview_tail`, SPILL.preview_tail, say),
    directory: typeof folder === "string" && folder.trim() ? folder.trim() : undefined,
  };
}

/** The variables named by a `secret_env` of an outbound target, or by `serve.token_env`. */
function readSecretNames(root: ConfigNode | undefined): string[] {
  const outbound = at(at(root, "hooks"), "outbound");
  const targets = outbound?.kind === "list" ? outbound.items : [];
  const nodes = targets.flatMap((target): (ConfigNode | undefined)[] => {
    const named = at(target, "secret_env");
    return named?.kind === "list" ? [...named.items] : [named];
  });
  nodes.push(at(at(at(root, "hermes_hooks"), "serve"), "token_env"));
  return nodes.flatMap((node) => {
    const name = scalar(node)?.value;
    return typeof name === "string" && name.trim() ? name.trim().split(/\s+/) : [];
  });
}

/** rule 1.5: a key of ours that nobody reads is a slip. */
function checkKeys(
  block: ConfigNode | undefined,
  path: string,
  known: readonly string[],
  say: Say,
): void {
  if (block === undefined || (block.kind === "scalar" && block.value === null)) return;
  if (block.kind !== "map") return say(block, path, "expected a mapping; ignored");
  for (const [name, { key }] of block.entries) {
    if (known.includes(name)) continue;
    say(key, `${path}.${name}`, unknownKeyText(name, known));
  }
}

function checkOwnKeys(root: ConfigNode | undefined, say: Say): void {
  const own = at(root, "hermes_hooks");
  checkKeys(own, "hermes_hooks", OWN_KEYS, say);
}

/** rule 6.4: only true, or a string that says yes, accepts; a value that looks like it is named. */
function checkAutoAccept(root: ConfigNode | undefined, say: Say): void {
  const node = at(root, "hooks_auto_accept");
  const value = node?.kind === "scalar" ? node.value : undefined;
  if (!node || value === null || typeof value === "boolean") return;
  const words: readonly string[] = YES_NO;
  if (typeof value === "string" && words.includes(value.trim().toLowerCase())) return;
  say(node, "hooks_auto_accept", "expected true or false; taken as false");
}

/** Reads every setting; a bad one falls back to its default and is a problem. */
export function readSettings(root: ConfigNode | undefined, file: string): Settings {
  const problems: Problem[] = [];
  const say: Say = (node, path, message) =>
    problems.push({ severity: "warning", file, path, line: node.line, message });
  checkOwnKeys(root, say);
  checkAutoAccept(root, say);
  return {
    spill: readSpill(root, say),
    maxVerifyNudges: count(root, "agent.max_verify_nudges", MAX_VERIFY_NUDGES, say),
    autoAccept: at(root, "hooks_auto_accept"),
    serve: at(at(root, "hermes_hooks"), "serve"),
    secretNames: readSecretNames(root),
    plugins: readPluginSettings(root, say),
    problems,
  };
}
