/** The settings beside the hooks themselves (rule 1.5), each with its default and its problems. */
import type { Problem } from "../events/problem.ts";
import { nearest } from "../events/names.ts";
import type { ConfigNode, ScalarNode } from "./node.ts";
import { at } from "./node.ts";
import { type PluginSettings, readPluginSettings } from "./plugin_settings.ts";

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

/** The keys of `hermes_hooks:`, ours alone. */
const OWN_KEYS = ["serve", "outbound", "hosts"];

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
    maxChars: count(root, `${path}.max_chars`, 10_000, say),
    previewHead: count(root, `${path}.preview_head`, 500, say),
    previewTail: count(root, `${path}.preview_tail`, 500, say),
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

function checkOwnKeys(root: ConfigNode | undefined, say: Say): void {
  const own = at(root, "hermes_hooks");
  if (own === undefined || (own.kind === "scalar" && own.value === null)) return;
  if (own.kind !== "map") return say(own, "hermes_hooks", "expected a mapping; ignored");
  for (const [name, { key }] of own.entries) {
    if (OWN_KEYS.includes(name)) continue;
    const near = nearest(name, OWN_KEYS);
    const hint = near ? `did you mean "${near}"?` : `known are ${OWN_KEYS.join(", ")}`;
    say(key, `hermes_hooks.${name}`, `unknown key "${name}", ignored: ${hint}`);
  }
}

const YES_NO = ["1", "true", "yes", "on", "0", "false", "no", "off", ""];

/** rule 6.4: only true, or a string that says yes, accepts; a value that looks like it is named. */
function checkAutoAccept(root: ConfigNode | undefined, say: Say): void {
  const node = at(root, "hooks_auto_accept");
  const value = node?.kind === "scalar" ? node.value : undefined;
  if (!node || value === null || typeof value === "boolean") return;
  if (typeof value === "string" && YES_NO.includes(value.trim().toLowerCase())) return;
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
    maxVerifyNudges: count(root, "agent.max_verify_nudges", 3, say),
    autoAccept: at(root, "hooks_auto_accept"),
    serve: at(at(root, "hermes_hooks"), "serve"),
    secretNames: readSecretNames(root),
    plugins: readPluginSettings(root, say),
    problems,
  };
}
