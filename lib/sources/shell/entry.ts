/** The `hooks:` block of a config: entries in, shell hooks and located problems out (rules 2.1–2.8). */
import { HOOK_KEYS, HOOK_TIMEOUT, RESERVED_KEYS } from "../../config/bounds.ts";
import type { ConfigNode, ListNode, MapEntry, MapNode, ScalarNode } from "../../config/node.ts";
import { at } from "../../config/node.ts";
import { findEvent } from "../../events/catalog.ts";
import type { Problem } from "../../events/problem.ts";

/** One shell hook as configured. */
export interface ShellEntry {
  readonly event: string;
  /** Trimmed; together with the event the key of consent (rule 6.1). */
  readonly command: string;
  /** Trimmed Python regular expression; absent: fires on every tool. */
  readonly matcher?: string;
  /** Where the matcher stands, 1-based. */
  readonly matcherLine?: number;
  /** Seconds, 1–300. */
  readonly timeout: number;
  readonly failClosed: boolean;
  /** Such as `hooks.pre_tool_call[2]`. */
  readonly path: string;
  readonly line: number;
}

/** What {@link readEntries} returns. */
export interface Entries {
  /** In config order; that is registration order. */
  readonly entries: readonly ShellEntry[];
  readonly problems: readonly Problem[];
}

/** Keys under `hooks:` that are no events and belong to other rooms. */
const RESERVED: readonly string[] = RESERVED_KEYS;
const KNOWN_KEYS: readonly string[] = HOOK_KEYS;
const TRUE_WORDS = new Set(["true", "yes", "on", "1"]);

const { fallback: DEFAULT_TIMEOUT, to: MAX_TIMEOUT } = HOOK_TIMEOUT;

type Report = (node: { line: number }, path: string, message: string) => void;

/** How a value is shown in a message: its text when it is a scalar, else what kind it is. */
function shown(node: ConfigNode): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "a mapping";
  if (node.value === null) return "nothing";
  return typeof node.value === "string" ? `"${node.value}"` : String(node.value);
}

/**
 * Reads the `hooks:` block.
 * @param root the whole config, already expanded; undefined when there is none
 * @param file the config file, for problems
 * @param hintFor what to say of a name that is no event
 */
export function readEntries(
  root: ConfigNode | undefined,
  file: string,
  hintFor: (name: string) => string | undefined,
): Entries {
  const problems: Problem[] = [];
  const hooks = at(root, "hooks");
  if (hooks === undefined || (hooks.kind === "scalar" && hooks.value === null)) {
    return { entries: [], problems };
  }
  const report = (event?: string): Report => (node, path, message) =>
    problems.push({ severity: "warning", file, path, line: node.line, message, event });
  if (hooks.kind !== "map") {
    report()(
      hooks,
      "hooks",
      `is ${shown(hooks)}, expected a mapping from event to a list of hooks`,
    );
    return { entries: [], problems };
  }
  const entries: ShellEntry[] = [];
  for (const [name, { key, value }] of hooks.entries) {
    if (RESERVED.includes(name)) continue;
    const refusal = refuseEvent(name, hintFor);
    if (refusal) report()(key, `hooks.${name}`, refusal);
    else entries.push(...readEvent(name, key, value, report(name)));
  }
  return { entries: withoutDuplicates(entries, (e, m) => report(e.event)(e, e.path, m)), problems };
}

function refuseEvent(
  name: string,
  hintFor: (name: string) => string | undefined,
): string | undefined {
  const row = findEvent(name);
  if (row?.pluginOnly) {
    return `"${name}" is for plugins only: a shell hook cannot answer it; skipped`;
  }
  if (row && row.kind !== "gateway") return undefined;
  const hint = hintFor(name);
  return `unknown event "${name}"; skipped${hint ? `: ${hint}` : "; see hermes-hooks events"}`;
}

function readEvent(
  event: string,
  key: ScalarNode,
  value: ConfigNode,
  report: Report,
): ShellEntry[] {
  const path = `hooks.${event}`;
  if (value.kind === "scalar" && value.value === null) return [];
  if (value.kind !== "list") {
    report(key, path, `is ${shown(value)}, expected a list of hooks ("- command: …"); skipped`);
    return [];
  }
  return readList(event, path, value, report);
}

function readList(event: string, path: string, list: ListNode, report: Report): ShellEntry[] {
  return list.items.flatMap((item, i) => {
    if (item.kind === "map") return readEntry(event, `${path}[${i}]`, item, report) ?? [];
    const text = item.kind === "scalar" && typeof item.value === "string" ? item.value : "…";
    report(item, `${path}[${i}]`, `is ${shown(item)}, expected "command: ${text}"; skipped`);
    return [];
  });
}

function readEntry(
  event: string,
  path: string,
  map: MapNode,
  report: Report,
): ShellEntry | undefined {
  const failClosed = readFailClosed(event, path, map, report);
  const lost = failClosed ? "; skipped, so this fail_closed gate is UNARMED" : "; skipped";
  const command = readCommand(map, path, lost, report);
  if (command === undefined) return undefined;
  for (const [name, { key }] of map.entries) {
    if (KNOWN_KEYS.includes(name)) continue;
    report(
      key,
      `${path}.${name}`,
      `unknown key "${name}", ignored: known are ${KNOWN_KEYS.join(", ")}`,
    );
  }
  return {
    event,
    command,
    matcher: readMatcher(event, path, map, report),
    matcherLine: map.entries.get("matcher")?.key.line,
    timeout: readTimeout(path, map, report),
    failClosed,
    path,
    line: map.line,
  };
}

function readCommand(
  map: MapNode,
  path: string,
  lost: string,
  report: Report,
): string | undefined {
  const node = at(map, "command");
  if (node?.kind === "scalar" && typeof node.value === "string" && node.value.trim()) {
    const args = map.entries.get("args");
    if (!args) return node.value.trim();
    // rule 2.2: running the command without what belongs to it would run something else
    report(args.key, `${path}.args`, `args belong into command, in one string${lost}`);
    return undefined;
  }
  if (!node && at(map, "hooks")) {
    report(
      map,
      path,
      `has no command: put command beside matcher, without a nested hooks list${lost}`,
    );
  } else if (!node) report(map, path, `has no command, expected a non-empty string${lost}`);
  else report(node, `${path}.command`, `is ${shown(node)}, expected a non-empty string${lost}`);
  return undefined;
}

function readMatcher(
  event: string,
  path: string,
  map: MapNode,
  report: Report,
): string | undefined {
  const entry = map.entries.get("matcher");
  if (!entry || (entry.value.kind === "scalar" && entry.value.value === null)) return undefined;
  const { key, value } = entry;
  if (value.kind !== "scalar" || typeof value.value !== "string") {
    report(
      key,
      `${path}.matcher`,
      `is ${shown(value)}, expected a string; ignored, the hook fires on every tool`,
    );
    return undefined;
  }
  const matcher = value.value.trim();
  if (matcher && !findEvent(event)?.tool) {
    report(key, `${path}.matcher`, `${event} takes no matcher (only tool calls do); ignored`);
    return undefined;
  }
  return matcher || undefined;
}

/** What Python's `int()` makes of a value; undefined where it raises. */
function pythonInt(node: ScalarNode): number | undefined {
  const { value } = node;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number") return Number.isFinite(value) ? Math.trunc(value) : undefined;
  if (typeof value !== "string" || node.type !== "str") return undefined;
  const text = value.trim().replace(/\p{Nd}/gu, digitOf);
  return /^[+-]?[0-9]+(?:_[0-9]+)*$/.test(text) ? Number(text.replaceAll("_", "")) : undefined;
}

/** The value of a digit of any script: they stand in runs of ten. */
function digitOf(digit: string): string {
  let first = digit.codePointAt(0)!;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((digit.codePointAt(0)! - first) % 10);
}

function readTimeout(path: string, map: MapNode, report: Report): number {
  const entry = map.entries.get("timeout");
  if (!entry) return DEFAULT_TIMEOUT;
  const seconds = entry.value.kind === "scalar" ? pythonInt(entry.value) : undefined;
  const say = (message: string) => report(entry.key, `${path}.timeout`, message);
  if (seconds === undefined) {
    say(
      `is ${
        shown(entry.value)
      }, expected seconds from 1 to ${MAX_TIMEOUT}; using ${DEFAULT_TIMEOUT}`,
    );
    return DEFAULT_TIMEOUT;
  }
  if (seconds < 1) {
    say(`is ${shown(entry.value)}, below 1 second; using ${DEFAULT_TIMEOUT}`);
    return DEFAULT_TIMEOUT;
  }
  if (seconds <= MAX_TIMEOUT) return seconds;
  say(`is ${shown(entry.value)}, over the limit; using ${MAX_TIMEOUT}`);
  return MAX_TIMEOUT;
}

/** Both spellings; the snake_case one wins, and null is as if it were not there (rule 2.6). */
function failClosedEntry(map: MapNode): [string, MapEntry] | undefined {
  for (const name of ["fail_closed", "failClosed"]) {
    const entry = map.entries.get(name);
    if (entry && !(entry.value.kind === "scalar" && entry.value.value === null)) {
      return [name, entry];
    }
  }
  return undefined;
}

function readFailClosed(event: string, path: string, map: MapNode, report: Report): boolean {
  const found = failClosedEntry(map);
  if (!found) return false;
  const [name, { key, value }] = found;
  const say = (message: string) => report(key, `${path}.${name}`, message);
  let closed = false;
  if (value.kind === "scalar" && typeof value.value === "boolean") closed = value.value;
  else {
    const word = value.kind === "scalar" && typeof value.value === "string" ? value.value : "";
    closed = TRUE_WORDS.has(word.trim().toLowerCase());
    say(`is ${shown(value)}, expected true or false; taken as ${closed}`);
  }
  if (!closed || findEvent(event)?.canBlock) return closed;
  say(`${event} cannot block, only pre_tool_call can; ignored`);
  return false;
}

/** rule 2.8: an exact copy is registered once, and is a closed gate if any copy is. */
function withoutDuplicates(
  entries: readonly ShellEntry[],
  report: (entry: ShellEntry, message: string) => void,
): ShellEntry[] {
  const kept = new Map<string, ShellEntry>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.event, entry.matcher ?? null, entry.command]);
    const first = kept.get(key);
    if (!first) kept.set(key, entry);
    else {
      report(entry, `same event, matcher and command as ${first.path}; registered once`);
      if (entry.failClosed) kept.set(key, { ...first, failClosed: true });
    }
  }
  return [...kept.values()];
}
