/** `hooks.outbound` of a config: targets and located problems out (rule 10.1). */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { NETWORK_WORDS, TARGET_FORMATS, TARGET_KEYS } from "../config/bounds.ts";
import { expandTilde } from "../config/home.ts";
import type { ConfigNode, MapNode } from "../config/node.ts";
import { at } from "../config/node.ts";
import { type QueueAsked, queueAsked } from "../config/queue_asked.ts";
import { findEvent } from "../events/catalog.ts";
import { firstChars, printable } from "../events/json.ts";
import { hintFor } from "../events/names.ts";
import type { Problem } from "../events/problem.ts";
import { compileMatcher, type Matcher } from "../sources/shell/matcher/matcher.ts";
import { addressRefusal, isLoopbackHost, literalAddress } from "./address.ts";
import { type Endpoint, readEndpoint, shownText, shownUrl } from "./target/endpoint.ts";
import { type Entry, given, shown, textOf, warnUnknown, wordAt } from "./target/entry.ts";
import { readHeaders } from "./target/headers.ts";
import { readLimits } from "./target/limits.ts";
import { readSecrets } from "./target/secrets.ts";
import { Target, TOOL_EVENTS } from "./target/shape.ts";

export { signingState, Target } from "./target/shape.ts";
export type { TargetOptions } from "./target/shape.ts";

/** What {@link readTargets} returns. */
export interface Targets {
  /** In config order; disabled ones too. */
  readonly targets: readonly Target[];
  readonly problems: readonly Problem[];
}

/**
 * Reads every target. A bad entry is a problem and takes no other down.
 * @param root the whole config, already expanded; undefined when there is none
 * @param file the config file, for problems and relative `ca_file`s
 * @param env where `secret_env` is looked up
 */
export function readTargets(
  root: ConfigNode | undefined,
  file: string,
  env: Readonly<Record<string, string>>,
): Targets {
  const list = given(at(root, "hooks"), "outbound");
  const problems: Problem[] = [];
  if (list === undefined) return { targets: [], problems };
  const warn = (node: ConfigNode, at: string, message: string) =>
    problems.push({ severity: "warning", file, path: at, line: node.line, message });
  if (list.kind !== "list") {
    warn(list, "hooks.outbound", `is ${shown(list)}, expected a list of targets ("- url: …")`);
    return { targets: [], problems };
  }
  const keys = new Map<string, number>();
  const queue = queueAsked(root);
  const targets = list.items.flatMap((item, i) => {
    const where = `hooks.outbound[${i}]`;
    if (item.kind === "map") {
      return readTarget(item, where, file, env, keys, problems, queue) ?? [];
    }
    // The text may be a URL with a password in it.
    const what = item.kind === "scalar" && typeof item.value === "string" ? "text" : shown(item);
    warn(item, where, `is ${what}, expected a mapping with url and events; skipped`);
    return [];
  });
  return { targets, problems };
}

function readTarget(
  map: MapNode,
  where: string,
  file: string,
  env: Readonly<Record<string, string>>,
  keys: Map<string, number>,
  problems: Problem[],
  queue: QueueAsked,
): Target | undefined {
  let disabled: string | undefined;
  const report = (severity: Problem["severity"], key: string, message: string) => {
    const node = map.entries.get(key.replace(/[.[].*$/, ""))?.key ?? map;
    const place = key ? `${where}.${key}` : where;
    problems.push({ severity, file, path: place, line: node.line, message });
  };
  const entry: Entry = {
    map,
    path: where,
    warn: (key, message) => report("warning", key, message),
    fail: (key, message) => {
      disabled ??= key.startsWith("secret") ? `secret: ${message}` : `${key}: ${message}`;
      report("error", key, `${message}; the target is disabled`);
    },
  };
  warnUnknown(entry, map, TARGET_KEYS);
  const endpoint = readUrl(entry);
  const events = endpoint && readEvents(entry);
  if (!endpoint || !events) return undefined;
  const network = readNetwork(entry);
  checkLiteral(entry, endpoint, network);
  const format = wordAt(entry, "format", TARGET_FORMATS, TARGET_FORMATS[0]);
  const matcher = readMatcher(entry, events);
  const secrets = readSecrets(entry, env, format === "standard") ?? [];
  const headers = readHeaders(entry);
  const ca = readCa(entry, file, env);
  const name = readName(entry, endpoint);
  const options = {
    key: keyOf(name, endpoint, keys),
    name,
    shownUrl: shownUrl(endpoint.url),
    events,
    matcher: matcher?.pattern,
    ...readLimits(entry, queue),
    format,
    redact: readRedact(entry),
    network,
    disabled,
    path: where,
    line: map.line,
  };
  return new Target(options, { endpoint, secrets, headers, ca }, matcher);
}

function readUrl(entry: Entry): Endpoint | undefined {
  const node = given(entry.map, "url");
  const text = textOf(node);
  if (text === undefined) {
    if (node) entry.warn("url", `is ${shown(node)}, expected an http or https URL; skipped`);
    else entry.warn("", "has no url, expected an http or https URL; skipped");
    return undefined;
  }
  const endpoint = readEndpoint(text);
  if (!endpoint) {
    entry.warn("url", `is "${shownText(text)}", expected an http or https URL; skipped`);
    return undefined;
  }
  const { protocol, hostname } = endpoint.url;
  if (protocol !== "https:" && protocol !== "http:") {
    const scheme = printable(protocol.slice(0, -1));
    entry.warn("url", `scheme "${scheme}" is not supported, expected https or http; skipped`);
    return undefined;
  }
  if (protocol === "http:" && !isLoopbackHost(hostname)) {
    entry.warn("url", `plain http to "${hostname}" can be read on the way; use https`);
  }
  return endpoint;
}

function readEvents(entry: Entry): string[] | undefined {
  const node = given(entry.map, "events");
  if (node?.kind !== "list" || node.items.length === 0) {
    const what = node === undefined
      ? "has no events"
      : node.kind === "list"
      ? "is an empty list"
      : `is ${shown(node)}`;
    entry.warn(node ? "events" : "", `${what}, expected a list of events; skipped`);
    return undefined;
  }
  const events = new Set<string>();
  node.items.forEach((item, i) => {
    const name = textOf(item);
    const place = `events[${i}]`;
    if (name === undefined) {
      entry.warn(place, `is ${shown(item)}, expected an event's name; left out`);
    } else if (isTellable(name)) events.add(name);
    else {
      const hint = hintFor(name) ?? "see hermes-hooks events";
      entry.warn(place, `unknown event ${shown(item)}; left out: ${hint}`);
    }
  });
  if (events.size > 0) return [...events];
  entry.warn("events", "names no event that can be sent; skipped");
  return undefined;
}

function isTellable(name: string): boolean {
  const row = findEvent(name);
  return row !== undefined && row.kind !== "gateway";
}

function readMatcher(entry: Entry, events: readonly string[]): Matcher | undefined {
  const node = given(entry.map, "matcher");
  if (node === undefined) return undefined;
  if (node.kind !== "scalar" || typeof node.value !== "string") {
    entry.warn("matcher", `is ${shown(node)}, expected a string; ignored, every tool is sent`);
    return undefined;
  }
  const pattern = node.value.trim();
  if (!pattern) return undefined;
  if (!events.some((event) => TOOL_EVENTS.includes(event))) {
    entry.warn("matcher", `narrows ${TOOL_EVENTS.join(" and ")} only, and neither is listed`);
  }
  const matcher = compileMatcher(pattern);
  if (matcher.kind === "broken") {
    const why = `matcher broken: ${shown(node)}: ${matcher.error}`;
    entry.warn("matcher", `${why}; compared as a literal name`);
  }
  return matcher;
}

/** A value that is no boolean means that someone wanted it: taken as true. */
function readRedact(entry: Entry): boolean {
  const node = given(entry.map, "redact");
  if (node === undefined) return false;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  const off = /^(?:false|no|off|0)$/i.test(textOf(node) ?? "");
  entry.warn("redact", `is ${shown(node)}, expected true or false; taken as ${!off}`);
  return !off;
}

/** A value that cannot be read means that someone wanted a bound: taken as `deny`. */
function readNetwork(entry: Entry): { private: "allow" | "deny" } {
  const node = given(entry.map, "network");
  if (node === undefined) return { private: "allow" };
  if (node.kind !== "map") {
    entry.warn("network", `is ${shown(node)}, expected "private: allow" or "private: deny"`);
    return { private: "deny" };
  }
  warnUnknown(entry, node, ["private"], "network.");
  return { private: wordAt(entry, "network.private", NETWORK_WORDS, "allow", "deny", node) };
}

function checkLiteral(entry: Entry, endpoint: Endpoint, network: { private: "allow" | "deny" }) {
  const address = literalAddress(endpoint.url.hostname);
  const refusal = address && addressRefusal(address, network);
  if (refusal) entry.fail("url", `address "${address}" ${refusal}`);
}

function readCa(
  entry: Entry,
  file: string,
  env: Readonly<Record<string, string>>,
): string | undefined {
  const node = given(entry.map, "ca_file");
  if (node === undefined) return undefined;
  const named = textOf(node);
  if (named === undefined) {
    entry.fail("ca_file", `is ${shown(node)}, expected a file with certificates`);
    return undefined;
  }
  const ca = path.resolve(path.dirname(file), expandTilde(named, env));
  try {
    const text = readFileSync(ca, "utf8");
    if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
    entry.fail("ca_file", `"${printable(ca)}" holds no certificate in PEM form`);
  } catch (error) {
    const code = (error as { code?: string }).code ?? "unknown error";
    entry.fail("ca_file", `"${printable(ca)}" cannot be read: ${code}`);
  }
  return undefined;
}

function readName(entry: Entry, endpoint: Endpoint): string {
  const node = given(entry.map, "name");
  const name = textOf(node) ?? scalarName(node);
  if (name !== undefined) return printable(firstChars(name, 80));
  if (node) entry.warn("name", `is ${shown(node)}, expected a label; ignored`);
  return printable(endpoint.url.host);
}

function scalarName(node: ConfigNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value !== "string" ? String(node.value) : undefined;
}

/** The same as long as name and URL are, whatever else changes; the URL itself does not show. */
function keyOf(name: string, endpoint: Endpoint, keys: Map<string, number>): string {
  const hash = createHash("sha256").update(endpoint.url.href).digest("hex").slice(0, 12);
  const key = `${name} ${hash}`;
  const count = (keys.get(key) ?? 0) + 1;
  keys.set(key, count);
  return count === 1 ? key : `${key} #${count}`;
}
