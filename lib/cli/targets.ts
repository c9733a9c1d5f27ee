/** Outbound targets as `list` and `doctor` show them. */
import type { Context } from "../context.ts";
import { type Json, JsonNumber, type JsonObject } from "../events/json.ts";
import type { ProbeReport } from "../outbound/probe.ts";
import { signingState, type Target } from "../outbound/target.ts";
import { line, type Style } from "./style.ts";

/** One target, two lines: where to, for what, and whether it is signed. */
export function targetLines({ options }: Target, signing: string, style: Style): string[] {
  const narrowed = options.matcher === undefined ? "" : ` · matcher ${line(options.matcher)}`;
  const mark = options.disabled !== undefined
    ? style.bad
    : signing === "signed"
    ? style.ok
    : style.warn;
  return [
    `    ${style.bold(line(options.name))}  ${line(options.shownUrl)}`,
    `      ${[...options.events].map(line).join(", ")}${narrowed} · timeout ${options.timeout}s`,
    `      ${mark} ${line(signing)}`,
  ];
}

/** All targets, for `list`. */
export function allTargetLines(targets: readonly Target[], style: Style): string[] {
  if (targets.length === 0) return [];
  const count = `${targets.length} outbound target${targets.length === 1 ? "" : "s"}`;
  return [
    "",
    count,
    ...targets.flatMap((target) => targetLines(target, signingState(target), style)),
  ];
}

/** A target as `--json` shows it. */
export function targetJson(target: Target): JsonObject {
  const { options } = target;
  const shown: JsonObject = new Map<string, Json>([
    ["name", options.name],
    ["url", options.shownUrl],
    ["events", [...options.events]],
  ]);
  if (options.matcher !== undefined) shown.set("matcher", options.matcher);
  shown.set("timeout", new JsonNumber(String(options.timeout)));
  shown.set("signing", signingState(target));
  shown.set("path", options.path);
  shown.set("line", new JsonNumber(String(options.line)));
  return shown;
}

/** What `doctor` found out about one target. */
export interface TargetFinding {
  readonly target: Target;
  readonly report?: ProbeReport;
  /** Each counts as a problem; a disabled target is one already among the config's. */
  readonly problems: readonly string[];
}

/** Resolves each target's host and connects, without sending anything. */
export async function probeAll(
  targets: readonly Target[],
  context: Context,
): Promise<TargetFinding[]> {
  const { probeTarget } = await import("../outbound/probe.ts");
  return await Promise.all(targets.map(async (target) => {
    if (target.options.disabled !== undefined) return { target, problems: [] };
    const report = await probeTarget(target, { env: context.env, now: context.now });
    return { target, report, problems: report.error === undefined ? [] : [report.error] };
  }));
}

const day = (date: Date) => date.toISOString().slice(0, 10);

/** A probed target, for people. */
export function findingLines(finding: TargetFinding, style: Style): string[] {
  const { target, report, problems } = finding;
  const lines = targetLines(target, signingState(target), style);
  if (!report) return [...lines, `      ${style.dot} not checked: it is disabled`];
  const addresses = report.addresses.map(({ address, refused }) =>
    refused === undefined ? address : `${address} (${refused})`
  );
  if (addresses.length > 0) lines.push(`      ${line(addresses.join(", "))}`);
  if (report.proxy) lines.push(`      through the proxy ${line(report.proxy)}`);
  if (report.reachable) lines.push(`      ${style.ok} connected in ${Math.round(report.ms)} ms`);
  const { certificate } = report;
  if (certificate) {
    const dates = `${day(certificate.validFrom)} to ${day(certificate.validTo)}`;
    lines.push(`      certificate for ${line(certificate.names)}, valid ${dates}`);
  }
  return [
    ...lines,
    ...problems.map((text) => `      ${style.bad} ${style.red(line(text))}`),
    ...report.notes.map((text) => `      ${style.warn} ${line(text)}`),
  ];
}

/** The same as JSON. */
export function findingJson({ target, report, problems }: TargetFinding): JsonObject {
  const shown = targetJson(target);
  shown.set("problems", [...problems]);
  if (!report) return shown;
  shown.set("reachable", report.reachable);
  shown.set("addresses", report.addresses.map(({ address }) => address));
  if (report.proxy !== undefined) shown.set("proxy", report.proxy);
  if (report.certificate) {
    shown.set("certificate_from", report.certificate.validFrom.toISOString());
    shown.set("certificate_to", report.certificate.validTo.toISOString());
  }
  shown.set("notes", [...report.notes]);
  return shown;
}
