/** `init`: lays out a home, and installs ready-made hooks; nothing that is there is replaced. */
import fs from "node:fs";
import path from "node:path";
import { expandTilde, resolveHome } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { readTextFile } from "../config/text_file.ts";
import { replaceFile } from "../consent/replace.ts";
import type { Context } from "../context.ts";
import { allowLine } from "../dispatch/register.ts";
import { type Json, writeJson } from "../events/json.ts";
import { nearest } from "../events/names.ts";
import { CONFIG_TEXT } from "../ready/config_text.ts";
import { installHook, type Laid, layOutHome } from "../ready/home.ts";
import { type Inserted, insertEntries } from "../ready/insert.ts";
import { configLines, type ReadyEntry, type ReadyHook, readyHooks } from "../ready/ready.ts";
import { quoteWords } from "../sources/shell/words.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { column, line, type Style, styleFor } from "./style.ts";

/** The hooks that `--with` names, each once. */
function chosen(args: Args, all: readonly ReadyHook[]): ReadyHook[] {
  const names = (args.options.with ?? []).flatMap((value) => value.split(","))
    .map((name) => name.trim().replace(/\.sh$/, "")).filter((name) => name !== "");
  if (args.options.with && names.length === 0) {
    throw new UsageError(
      "--with needs the name of a ready-made hook; see: hermes-hooks init --list",
    );
  }
  return [...new Set(names)].map((name) => {
    const hook = all.find((each) => each.name === name);
    if (hook) return hook;
    const near = nearest(name, all.map((each) => each.name));
    throw new UsageError(
      `no ready-made hook is named "${line(name)}"` +
        (near ? `: did you mean "${near}"?` : "; see: hermes-hooks init --list"),
    );
  });
}

/** The entry as it must stand in this home's config: with `~` in the usual home, else absolute. */
function entryFor(hook: ReadyHook, context: Context): ReadyEntry | undefined {
  if (!hook.entry) return undefined;
  const userHome = context.env["HOME"] ?? "";
  const usual = userHome !== "" && context.home === resolveHome({ env: {}, userHome });
  const file = `${hook.name}.sh`;
  const command = usual
    ? `~/.hermes/agent-hooks/${file}`
    : quoteWords([path.join(context.home, "agent-hooks", file)]);
  return { event: hook.entry.event, keys: { ...hook.entry.keys, command } };
}

/** What `--write` would make of the config; a config that cannot be read is a ConfigError. */
async function planned(context: Context, entries: readonly ReadyEntry[]): Promise<Inserted> {
  const file = context.configFile;
  await loadConfig(file, context.env);
  const read = readTextFile(file);
  const text = read.state === "read" ? read.text : CONFIG_TEXT;
  const home = { HOME: context.env["HOME"] };
  const same = (one: string, other: string) => expandTilde(one, home) === expandTilde(other, home);
  return await insertEntries(text, file, entries, same);
}

/** What was done, for people and for `--json`. */
interface Report {
  readonly laid: readonly Laid[];
  readonly entries: readonly ReadyEntry[];
  readonly gateway: readonly ReadyHook[];
  /** Undefined without `--write`. */
  readonly inserted: Inserted | undefined;
}

function laidLine({ path: place, did, note }: Laid, style: Style): string {
  if (did === "made") return `${style.ok} made ${line(place)}`;
  const mark = note === undefined ? style.dot : style.warn;
  return `${mark} kept ${line(place)}: ${note ?? "it is there already"}`;
}

function configReport({ entries, inserted }: Report, context: Context, style: Style): string[] {
  if (entries.length === 0) return [];
  const file = line(context.configFile);
  if (!inserted) {
    return [
      "",
      `add to ${file}, or run it again with --write:`,
      "",
      configLines(entries).trimEnd(),
    ];
  }
  if (!inserted.ok) return ["", "add these lines by hand:", "", configLines(entries).trimEnd()];
  return entries.map((entry) => {
    const what = `hooks.${entry.event}: ${line(String(entry.keys["command"]))}`;
    return inserted.added.includes(entry)
      ? `${style.ok} added to ${file}: ${what}`
      : `${style.dot} in ${file} already: ${what}`;
  });
}

function lines(report: Report, context: Context, style: Style): string[] {
  const { entries, gateway } = report;
  const allow = entries.map(({ keys }) => `  ${line(allowLine(String(keys["command"])))}`);
  return [
    ...report.laid.map((each) => laidLine(each, style)),
    ...configReport(report, context, style),
    ...(allow.length > 0 ? ["", "they run once you approve them:", ...allow] : []),
    ...gateway.map(({ name }) =>
      `gateway hook "${name}" is loaded when hermes-hooks serve starts; what it needs stands at the ` +
      `head of ${line(path.join(context.home, "hooks", name))}`
    ),
  ];
}

function asJson(report: Report, context: Context): Json {
  const entryJson = ({ event, keys }: ReadyEntry): Json =>
    new Map<string, Json>([["event", event], ["command", String(keys["command"])]]);
  const { inserted, entries } = report;
  const added = inserted?.ok ? inserted.added : [];
  const missing = inserted?.ok ? [] : entries;
  const json = new Map<string, Json>([
    ["home", context.home],
    ["config", context.configFile],
    [
      "paths",
      report.laid.map(({ path: place, did, note }): Json =>
        new Map<string, Json>([["path", place], ["did", did], ...noted(note)])
      ),
    ],
    ["added", added.map(entryJson)],
    ["lines_to_add", configLines(missing)],
    ["approve", entries.map(({ keys }) => String(keys["command"]))],
  ]);
  if (inserted && !inserted.ok) json.set("refused", inserted.refused);
  return json;
}

const noted = (note: string | undefined): [string, Json][] => note ? [["note", note]] : [];

function listReady(args: Args, io: Io, all: readonly ReadyHook[]): number {
  if (args.options.json) {
    const list = all.map(({ name, kind, events, about }): Json =>
      new Map<string, Json>([["name", name], ["kind", kind], ["events", [...events]], [
        "about",
        about,
      ]])
    );
    io.out(writeJson(new Map([["ready_made", list]]), { printable: true }) + "\n");
    return 0;
  }
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  for (const kind of ["shell", "gateway"] as const) {
    const own = all.filter((hook) => hook.kind === kind);
    if (own.length > 0) io.out(`${kind} hooks\n`);
    for (const { name, events, about } of own) {
      io.out(`  ${column(name, width)}${line(events.join(", "))}\n`);
      io.out(`  ${column("", width)}${line(about)}\n`);
    }
  }
  return 0;
}

function writeConfig(file: string, text: string): void {
  const mode = fs.statSync(file).mode & 0o777;
  replaceFile(file, text, mode);
}

/** Lays the home out; exit 1 when something cannot be made or the config cannot be edited safely. */
export async function init(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) {
    throw new UsageError(`init takes no further words; a ready-made hook is named by --with NAME`);
  }
  const all = readyHooks();
  if (args.options.list) return listReady(args, io, all);
  const hooks = chosen(args, all);
  if (args.options.write && hooks.length === 0) {
    throw new UsageError("--write adds the lines of --with NAME: give one");
  }
  const entries = hooks.flatMap((hook) => entryFor(hook, context) ?? []);
  const inserted = args.options.write ? await planned(context, entries) : undefined;
  let laid: Laid[];
  try {
    laid = layOutHome(context.home, context.configFile, CONFIG_TEXT);
    for (const hook of hooks) laid.push(...installHook(context.home, hook));
    if (inserted?.ok && inserted.added.length > 0) writeConfig(context.configFile, inserted.text);
  } catch (error) {
    io.err(`hermes-hooks: init stopped: ${line((error as Error).message)}\n`);
    return 1;
  }
  const gateway = hooks.filter(({ kind }) => kind === "gateway");
  const report = { laid, entries, gateway, inserted };
  if (args.options.json) io.out(writeJson(asJson(report, context), { printable: true }) + "\n");
  else {io.out(
      lines(report, context, styleFor(io.stdoutTty, context.env)).join("\n").trimEnd() + "\n",
    );}
  if (inserted?.ok !== false) return 0;
  io.err(
    `hermes-hooks: ${line(context.configFile)} was left as it is: ${line(inserted.refused)}; ` +
      "add the lines by hand\n",
  );
  return 1;
}
