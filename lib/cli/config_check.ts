/** `config check [FILE…]`: the problems of config files, for CI; runs nothing and asks nothing. */
import path from "node:path";
import { ownHome } from "../config/home.ts";
import type { Context } from "../context.ts";
import { fromJs, printable, writeJson } from "../events/json.ts";
import { problemText } from "../events/problem.ts";
import { type Args, UsageError } from "./args.ts";
import { withColumns } from "./config_check/columns.ts";
import { checkFile } from "./config_check/files.ts";
import type { Checked, Finding, Level } from "./config_check/finding.ts";
import { checkHome } from "./config_check/home.ts";
import { sarifLog } from "./config_check/sarif.ts";
import type { Io } from "./io.ts";
import { counted, line, type Style, styleFor } from "./style.ts";

async function checkAll(words: readonly string[], context: Context): Promise<Checked> {
  const userHome = ownHome(context.env);
  const files: string[] = [];
  const findings: Finding[] = [];
  for (const word of words) {
    const checked = await checkFile(path.resolve(context.startFolder, word), userHome);
    files.push(...checked.files);
    findings.push(...checked.findings);
  }
  return { files, findings };
}

/** By file, in the order in which they were looked at, then from top to bottom; each once. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const files = [...new Set(findings.map(({ file }) => file))];
  const texts = new Set<string>();
  return findings
    .filter((finding) => {
      const text = JSON.stringify(finding);
      return !texts.has(text) && texts.add(text);
    })
    .sort((a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
    );
}

function shownFile(file: string, folder: string): string {
  const relative = path.relative(folder, file);
  return relative === "" || relative.startsWith("..") ? file : relative;
}

function findingLine(finding: Finding, folder: string, style: Style): string {
  const { file, line: row, column, level, kind, path: where, message } = finding;
  const place = [shownFile(file, folder), row, column].filter((part) => part !== undefined);
  const paint = { error: style.red, warning: style.yellow, note: style.dim }[level];
  const what = where ? `${where}: ${message}` : message;
  return `${line(place.join(":"))} ${paint(level)} ${line(what)} ${style.dim(`[${kind}]`)}`;
}

function countsOf(findings: readonly Finding[]) {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  return { errors: count("error"), warnings: count("warning"), notes: count("note") };
}

function asText({ files, findings }: Checked, folder: string, style: Style): string {
  const { errors, warnings, notes } = countsOf(findings);
  const parts = [
    counted(errors, "error"),
    counted(warnings, "warning"),
    ...(notes > 0 ? [counted(notes, "note")] : []),
  ];
  const mark = errors > 0 ? style.bad : warnings > 0 ? style.warn : style.ok;
  const lines = findings.map((finding) => findingLine(finding, folder, style));
  const sum = files.length + findings.length === 0
    ? `${mark} nothing to check: the home has no config, no hooks and no plugins`
    : `${mark} ${parts.join(", ")} in ${counted(files.length, "file")}`;
  return [...lines, ...(lines.length > 0 ? [""] : []), sum].join("\n") + "\n";
}

function findingJson({ level, kind, file, path: where, line, column, message }: Finding) {
  const text = problemText({ severity: "error", file, path: where, line, column, message });
  return {
    severity: level,
    rule: kind,
    file,
    ...(where && { path: where }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    message,
    text,
  };
}

function asJson({ files, findings }: Checked) {
  const counts = countsOf(findings);
  return { files, problems: findings.map(findingJson), ...counts, ok: counts.errors === 0 };
}

function refuseMixed({ words, options }: Args): void {
  const [what, ...files] = words;
  if (what !== "check") {
    const said = what === undefined ? "" : `, not "${printable(what)}"`;
    throw new UsageError(`config takes the word "check"${said}`);
  }
  if (options.json && options.sarif) throw new UsageError("--json or --sarif, not both");
  const named = options.home !== undefined ? "home" : options.config !== undefined ? "config" : "";
  if (files.length > 0 && named) {
    throw new UsageError(
      `--${named} names a home to check, and so does leaving out FILE: not both`,
    );
  }
}

/** Runs it: exit 1 when there is an error; warnings and notes alone leave it at 0. */
export async function configCommand(args: Args, io: Io, context: Context): Promise<number> {
  refuseMixed(args);
  const files = args.words.slice(1);
  const { "accept-hooks": accept = false, json, sarif } = args.options;
  const found = files.length > 0
    ? await checkAll(files, context)
    : await checkHome(context, accept);
  const findings = inOrder(await withColumns(found.findings));
  const checked = { files: [...new Set(found.files)], findings };
  const { startFolder, env } = context;
  if (sarif || json) {
    const shown = sarif ? sarifLog(checked, startFolder) : asJson(checked);
    io.out(writeJson(fromJs(shown), { printable: true, indent: sarif ? 2 : undefined }) + "\n");
  } else io.out(asText(checked, startFolder, styleFor(io.stdoutTty, env)));
  return findings.some(({ level }) => level === "error") ? 1 : 0;
}
