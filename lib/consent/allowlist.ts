/** The allowlist: which (event, command) pairs may run (rules 6.1 and 6.2). Reading only. */

import * as fs from "node:fs";
import path from "node:path";
import {
  firstChars,
  isObject,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  parseJson,
  printable,
  stringAt,
} from "../events/json.ts";
import type { Problem } from "../events/problem.ts";

/** One approved pair. */
export interface Approval {
  /** Trimmed. */
  readonly event: string;
  /** Trimmed; compared as the exact string. */
  readonly command: string;
  /** When it was approved, as written; absent from entries written by hand. */
  readonly approvedAt?: string;
  /** The script's mtime then, as written; absent when unknown. */
  readonly scriptMtime?: string;
  /** How it was approved, as written. */
  readonly approvedVia?: string;
}

/** What an allowlist file says. */
export interface Allowlist {
  /** The file, as it was opened. */
  readonly file: string;
  /** Good entries, also when others are bad. */
  readonly approvals: readonly Approval[];
  /** What was wrong; each names the file. A missing file is no problem. */
  readonly problems: readonly Problem[];
  /** May we add to it? False when it cannot be read or parsed: then it is never overwritten. */
  readonly writable: boolean;
}

/** Where a home keeps its allowlist. */
export function allowlistFile(home: string): string {
  return path.join(home, "shell-hooks-allowlist.json");
}

/**
 * Reads the allowlist. Never throws: what cannot be read or is of another shape approves nothing
 * and is a problem (rule 6.2).
 */
export function readAllowlist(file: string): Allowlist {
  const document = readDocument(file);
  if (document.state === "missing") return { file, approvals: [], problems: [], writable: true };
  if (document.state !== "parsed") {
    const problem = allowlistProblem(
      file,
      `"${printable(file)}" approves nothing: it ${document.reason}`,
    );
    return { file, approvals: [], problems: [problem], writable: document.state === "empty" };
  }
  return { file, ...readValue(file, document.value), writable: true };
}

/** The approval of a pair, or undefined; of several the last. Both are trimmed before comparing. */
export function findApproval(
  allowlist: Allowlist,
  event: string,
  command: string,
): Approval | undefined {
  const [wantedEvent, wantedCommand] = [event.trim(), command.trim()];
  return allowlist.approvals.findLast((a) =>
    a.event === wantedEvent && a.command === wantedCommand
  );
}

/** A problem of the whole file, or of the entry at `entry`. */
export function allowlistProblem(
  file: string,
  message: string,
  entry = "",
  event?: string,
): Problem {
  const where = { severity: "warning", file, path: entry, message } as const;
  return event === undefined ? where : { ...where, event };
}

/** An allowlist file's content, before its shape is looked at. */
export type Document =
  | { readonly state: "missing" }
  | { readonly state: "parsed"; readonly value: Json }
  /** `reason` reads on after "it". */
  | { readonly state: "empty" | "unreadable"; readonly reason: string };

/** Reads the file as one JSON value; a byte order mark is tolerated. Never throws. */
export function readDocument(file: string): Document {
  try {
    // A FIFO would block the read for ever.
    if (!fs.statSync(file).isFile()) return unreadable("is not a regular file; expected JSON");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(fs.readFileSync(file));
    if (text.trim() === "") return { state: "empty", reason: `is empty; expected ${EXPECTED}` };
    return { state: "parsed", value: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      return unreadable(`cannot be parsed as JSON: ${error.message}; mend it or move it away`);
    }
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return { state: "missing" };
    if (error instanceof TypeError) {
      return unreadable("is not UTF-8, so it cannot be parsed; mend it or move it away");
    }
    return unreadable(`cannot be read (${code ?? "unknown error"}); expected ${EXPECTED}`);
  }
}

function unreadable(reason: string): Document {
  return { state: "unreadable", reason };
}

const EXPECTED = '{"approvals": [{"event": …, "command": …}]}';
/** More bad entries than this are counted, not listed. */
const LISTED = 10;

function readValue(file: string, value: Json): Pick<Allowlist, "approvals" | "problems"> {
  const shape = (found: string) => {
    const message = `"${printable(file)}" approves nothing: expected ${EXPECTED}, found ${found}`;
    return { approvals: [], problems: [allowlistProblem(file, message)] };
  };
  if (!isObject(value)) return shape(kindOf(value));
  const list = value.get("approvals");
  if (list === undefined) return shape('an object without "approvals"');
  if (!Array.isArray(list)) return shape(`${kindOf(list)} under "approvals"`);
  return readEntries(file, list);
}

function readEntries(
  file: string,
  list: readonly Json[],
): Pick<Allowlist, "approvals" | "problems"> {
  const approvals: Approval[] = [];
  const problems: Problem[] = [];
  let bad = 0;
  list.forEach((item, index) => {
    const approval = approvalOf(item);
    if (approval) approvals.push(approval);
    else if (++bad <= LISTED) problems.push(entryProblem(file, index, item));
  });
  if (bad > LISTED) {
    const more = `${bad - LISTED} more entries of "${printable(file)}" approve nothing either`;
    problems.push(allowlistProblem(file, more));
  }
  return { approvals, problems };
}

/** The approval an item is, or undefined when it is none. */
export function approvalOf(item: Json): Approval | undefined {
  if (!isObject(item)) return undefined;
  const event = stringAt(item, "event")?.trim();
  const command = stringAt(item, "command")?.trim();
  if (!event || !command) return undefined;
  const optional = {
    approvedAt: stringAt(item, "approved_at"),
    scriptMtime: stringAt(item, "script_mtime_at_approval"),
    approvedVia: stringAt(item, "approved_via"),
  };
  const known = Object.entries(optional).filter(([, text]) => text !== undefined);
  return { event, command, ...Object.fromEntries(known) };
}

function entryProblem(file: string, index: number, item: Json): Problem {
  const found = isObject(item) ? missingPart(item) : `found ${kindOf(item)}`;
  const message = `entry of "${printable(file)}" approves nothing: ` +
    `expected an object with "event" and "command", ${found}`;
  const event = isObject(item) ? stringAt(item, "event")?.trim() : undefined;
  return allowlistProblem(file, message, `approvals[${index}]`, event || undefined);
}

function missingPart(item: JsonObject): string {
  for (const key of ["event", "command"]) {
    const value = item.get(key);
    if (value === undefined) return `"${key}" is missing`;
    if (typeof value !== "string") return `"${key}" is ${kindOf(value)}`;
    if (value.trim() === "") return `"${key}" is empty`;
  }
  return "found another shape";
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  if (typeof value === "string") return `the string "${printable(firstChars(value, 40))}"`;
  return typeof value === "boolean" ? "a boolean" : "a number";
}
