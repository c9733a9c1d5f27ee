/** What `list`, `test` and `doctor` all look at: each hook's consent, drift and file, and every problem. */
import { statSync } from "node:fs";
import process from "node:process";
import { readQueueSettings } from "../config/queue_settings.ts";
import { readServeSettings } from "../config/serve_settings.ts";
import { findApproval } from "../consent/allowlist.ts";
import { type Drift, driftOf } from "../consent/drift.ts";
import { homePaths, ownershipProblems } from "../consent/ownership.ts";
import { entryScript } from "../dispatch/register.ts";
import { type Registry, standingAcceptance } from "../dispatch/registry.ts";
import type { Json, JsonObject } from "../events/json.ts";
import { JsonNumber } from "../events/json.ts";
import { type Problem, problemText } from "../events/problem.ts";
import type { ShellEntry } from "../sources/shell/entry.ts";

/** Where a hook stands with consent: approved; accepted at its next run; or left out. */
export type Consent = "approved" | "accepted" | "unapproved";

/** One shell hook, looked at. */
export interface Surveyed {
  readonly entry: ShellEntry;
  readonly consent: Consent;
  /** A closed gate that would not run (rule 6.5). */
  readonly unarmed: boolean;
  /** Absolute; absent when no file can be named. */
  readonly script?: string;
  readonly approvedAt?: string;
  readonly drift: Drift;
}

function mtimeMs(file: string | undefined): number | undefined {
  if (file === undefined) return undefined;
  try {
    return statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
}

/** Looks at every shell hook; runs none. */
export function survey(registry: Registry, acceptFlag: boolean): Surveyed[] {
  const standing = standingAcceptance(registry, acceptFlag);
  return registry.entries.map((entry) => {
    const approval = findApproval(registry.allowlist, entry.event, entry.command);
    const consent = approval ? "approved" : standing ? "accepted" : "unapproved";
    const script = entryScript(registry, entry);
    return {
      entry,
      consent,
      unarmed: entry.failClosed && consent === "unapproved",
      script,
      approvedAt: approval?.approvedAt,
      drift: approval ? driftOf(approval, mtimeMs(script)) : { drifted: false },
    };
  });
}

/** All problems: of the files read, and of who may write them (rule 6.2). */
export function allProblems(registry: Registry, surveyed: readonly Surveyed[]): Problem[] {
  const { context, allowlist, problems } = registry;
  const scripts = surveyed.flatMap(({ script }) =>
    script ? [{ path: script, what: "script" }] : []
  );
  const paths = homePaths(context.home, context.configFile, allowlist.file);
  const owner = { uid: process.getuid?.(), gid: process.getgid?.() };
  return [
    ...problems,
    ...readServeSettings(registry.settings.serve, context.configFile).problems,
    ...readQueueSettings(registry.root, context.configFile).problems,
    ...ownershipProblems([...paths, ...scripts], owner),
  ];
}

/** A problem as `--json` shows it. */
export function problemJson(problem: Problem): JsonObject {
  const shown: JsonObject = new Map<string, Json>([
    ["severity", problem.severity],
    ["file", problem.file],
  ]);
  if (problem.path) shown.set("path", problem.path);
  if (problem.line !== undefined) shown.set("line", new JsonNumber(String(problem.line)));
  shown.set("message", problem.message);
  shown.set("text", problemText(problem));
  return shown;
}

/** A hook as `--json` shows it. */
export function hookJson(
  { entry, consent, unarmed, script, approvedAt, drift }: Surveyed,
): JsonObject {
  const shown: JsonObject = new Map<string, Json>([
    ["source", "shell"],
    ["event", entry.event],
    ["command", entry.command],
  ]);
  if (entry.matcher !== undefined) shown.set("matcher", entry.matcher);
  shown.set("timeout", new JsonNumber(String(entry.timeout)));
  shown.set("fail_closed", entry.failClosed);
  shown.set("consent", consent);
  shown.set("unarmed", unarmed);
  if (approvedAt !== undefined) shown.set("approved_at", approvedAt);
  if (script !== undefined) shown.set("script", script);
  shown.set("drifted", drift.drifted);
  if (drift.drifted) {
    shown.set("script_mtime_at_approval", drift.from ?? "");
    shown.set("script_mtime", drift.to ?? "");
  }
  shown.set("path", entry.path);
  shown.set("line", new JsonNumber(String(entry.line)));
  return shown;
}
