/** Recording and revoking approvals: the allowlist's only writer (rules 6.2 and 6.3). */

import * as fs from "node:fs";
import path from "node:path";
import { isObject, type Json, type JsonObject, printable, writeJson } from "../events/json.ts";
import type { Problem } from "../events/problem.ts";
import { refuseLiteralTilde, withFlock } from "../platform/flock.ts";
import type { ApprovedVia } from "./accept.ts";
import { allowlistProblem, approvalOf, readDocument } from "./allowlist.ts";
import { utcText } from "./instant.ts";
import { replaceFile } from "./replace.ts";

/** A pair to approve. */
export interface NewApproval {
  readonly event: string;
  readonly command: string;
  /** The resolved script or program, absolute: its mtime is recorded. Absent: none is. */
  readonly script?: string;
  readonly via: ApprovedVia;
}

/** How the allowlist is written. */
export interface WriteOptions {
  /** The time to record as `approved_at`. */
  readonly now: Date;
  /** How long other writers are waited for, in ms. Default 10,000. */
  readonly waitMs?: number;
}

/** Records one approval; see {@link recordApprovals}. */
export async function recordApproval(
  file: string,
  approval: NewApproval,
  options: WriteOptions,
): Promise<Problem | undefined> {
  return await recordApprovals(file, [approval], options);
}

/**
 * Records approvals in one write, under the lock the original takes. A pair that is there is
 * brought up to date (time, mtime, `approved_via`) and keeps its other fields; a new one is added
 * at the end. The home is made (0700) when missing.
 * @returns why nothing was written, or undefined; never throws
 */
export async function recordApprovals(
  file: string,
  approvals: readonly NewApproval[],
  options: WriteOptions,
): Promise<Problem | undefined> {
  if (approvals.length === 0) return undefined;
  const done = await change(file, options.waitMs, true, (root) => {
    const list = approvalList(root);
    for (const approval of approvals) addTo(list, approval, options.now);
    return approvals.length;
  });
  return done.problem;
}

/**
 * Removes every approval of exactly this command (trimmed), whatever its event.
 * @returns how many were removed, and why nothing could be when that failed; never throws
 */
export async function revokeCommand(
  file: string,
  command: string,
  options: Pick<WriteOptions, "waitMs"> = {},
): Promise<{ removed: number; problem?: Problem }> {
  const { count, problem } = await change(file, options.waitMs, false, (root) => {
    const list = root.get("approvals");
    if (!Array.isArray(list)) return 0;
    const kept = list.filter((item) => approvalOf(item)?.command !== command.trim());
    root.set("approvals", kept);
    return list.length - kept.length;
  });
  return problem ? { removed: 0, problem } : { removed: count };
}

interface Change {
  readonly count: number;
  readonly problem?: Problem;
}

/** Read, `edit`, write, all under the lock; written only when `edit` says it changed something. */
async function change(
  file: string,
  waitMs: number | undefined,
  mayCreate: boolean,
  edit: (root: JsonObject) => number,
): Promise<Change> {
  try {
    refuseLiteralTilde(file);
    if (mayCreate) fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    else if (!fs.existsSync(file)) return { count: 0 };
    return await withFlock(`${file}.lock`, () => {
      const document = readDocument(file);
      if (document.state === "unreadable") return failed(file, `it ${document.reason}`);
      const root = document.state === "parsed" ? rootObject(document.value) : new Map();
      const count = edit(root);
      if (count > 0) replaceFile(file, allowlistText(root));
      return { count };
    }, waitMs === undefined ? {} : { waitMs });
  } catch (error) {
    return failed(file, error instanceof Error ? error.message : String(error));
  }
}

function failed(file: string, reason: string): Change {
  const message = `"${printable(file)}" was not changed: ${printable(reason)}`;
  return { count: 0, problem: allowlistProblem(file, message) };
}

// rule 6.2: what can be parsed but is of another shape is kept beside our record.
function rootObject(value: Json): JsonObject {
  return isObject(value) ? value : new Map([["allowlist_before", value]]);
}

function approvalList(root: JsonObject): Json[] {
  const list = root.get("approvals");
  if (Array.isArray(list)) return list;
  if (list !== undefined && list !== null) root.set(freeKey(root, "approvals_before"), list);
  const fresh: Json[] = [];
  root.set("approvals", fresh);
  return fresh;
}

function freeKey(root: JsonObject, name: string): string {
  let key = name;
  for (let n = 2; root.has(key); n++) key = `${name}_${n}`;
  return key;
}

function addTo(list: Json[], approval: NewApproval, now: Date): void {
  const [event, command] = [approval.event.trim(), approval.command.trim()];
  const same = list.filter((item): item is JsonObject => {
    const known = approvalOf(item);
    return known?.event === event && known.command === command;
  });
  if (same.length === 0) {
    const entry: JsonObject = new Map<string, Json>([["event", event], ["command", command]]);
    list.push(entry);
    same.push(entry);
  }
  const mtime = scriptMtime(approval.script);
  for (const entry of same) {
    entry.set("approved_at", utcText(BigInt(now.getTime()) * 1_000_000n));
    entry.set("approved_via", approval.via);
    // A time that is no longer known would be compared with a script it does not belong to.
    if (mtime === undefined) entry.delete("script_mtime_at_approval");
    else entry.set("script_mtime_at_approval", mtime);
  }
}

function scriptMtime(script: string | undefined): string | undefined {
  if (script === undefined) return undefined;
  try {
    return utcText(fs.statSync(script, { bigint: true }).mtimeNs);
  } catch {
    return undefined;
  }
}

/** As Python's `json.dumps(value, indent=2, sort_keys=True)` writes it: ASCII, no last newline. */
function allowlistText(root: JsonObject): string {
  return writeJson(root, { indent: 2, sortKeys: true }).replace(/[^\n -~]/g, (c) => {
    return "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
  });
}
