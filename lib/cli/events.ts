/** `events [EVENT]`: the catalogue, as a list or one event in full. */
import {
  catalog,
  type EventKind,
  type EventRow,
  type Field,
  findEvent,
} from "../events/catalog.ts";
import { fromJs, type Json, printable, writeJson } from "../events/json.ts";
import type { Variant } from "../events/catalog.ts";
import { toWire } from "../events/payload.ts";
import { sampleFields } from "../events/sample.ts";
import type { Context } from "../context.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { column, type Style, styleFor } from "./style.ts";

const TITLES: Readonly<Record<EventKind, string>> = {
  directive: "directive: a hook can steer what happens",
  transform: "transform: a hook can replace the content",
  observe: "observe: what a hook returns is ignored",
  gateway: "gateway: for HOOK.yaml handlers only",
};

function overview(style: Style): string[] {
  const width = Math.max(...catalog().map(({ name }) => name.length)) + 2;
  const lines = (Object.keys(TITLES) as EventKind[]).flatMap((kind) => [
    style.bold(TITLES[kind]),
    ...catalog().filter((row) => row.kind === kind).map((row) =>
      `  ${column(row.name, width)}${firstSentence(row.about)}`
    ),
    "",
  ]);
  return [...lines, "one in full: hermes-hooks events EVENT"];
}

function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
}

function fieldLines(fields: readonly Field[], needed: (field: Field) => boolean): string[] {
  const name = Math.max(0, ...fields.map((field) => field.name.length)) + 2;
  const type = Math.max(0, ...fields.map((field) => field.type.length)) + 2;
  return fields.map((field) => {
    const values = field.values ? ` (${field.values.join(", ")})` : "";
    const optional = needed(field) ? "" : " optional;";
    return `  ${column(field.name, name)}${
      column(field.type, type)
    }${optional} ${field.about}${values}`
      .replace(/ {2,}(?=optional;)/, "  ").trimEnd();
  });
}

function wireOf(row: EventRow, variant: Variant): Json {
  const fields = sampleFields(row.name, variant.name);
  if (row.kind === "gateway") return new Map(fields);
  return toWire(row.name, fields, {
    cwd: "/home/user/project",
    profile: "default",
    telemetry: row.telemetry,
  });
}

function variantLines(row: EventRow, variant: Variant, style: Style): string[] {
  const several = row.variants.length > 1;
  const inside = variant.payloadFields
    ? [
      "  in payload:",
      ...fieldLines(variant.payloadFields, (f) => f.required).map((l) => `  ${l}`),
    ]
    : [];
  return [
    "",
    several ? style.bold(`variant ${variant.name}`) + `: ${variant.about}` : style.bold("sample"),
    ...inside,
    `  ${writeJson(wireOf(row, variant), { indent: 2 }).replaceAll("\n", "\n  ")}`,
  ];
}

function inFull(row: EventRow, variants: readonly Variant[], style: Style): string[] {
  return [
    `${style.bold(row.name)}  (${row.kind})`,
    row.about,
    "",
    style.bold("fields"),
    ...(row.fields.length > 0 ? fieldLines(row.fields, (f) => f.required) : ["  none"]),
    ...(row.telemetry ? ["  (and telemetry_schema_version, always)"] : []),
    "",
    style.bold("answers that count"),
    ...(row.answers.length > 0 ? row.answers.map((answer) => `  ${answer}`) : ["  none"]),
    "",
    style.bold("privacy"),
    `  ${row.privacy}`,
    ...variants.flatMap((variant) => variantLines(row, variant, style)),
  ];
}

/** An event as `--json` shows it, with these of its variants. */
export function rowJson(row: EventRow, variants: readonly Variant[]): Json {
  const { name, kind, about, fields, privacy, answers, tool, canBlock, pluginOnly, telemetry } =
    row;
  const head = { name, kind, about, fields, answers, privacy };
  const flags = {
    matcher: tool,
    can_block: canBlock,
    plugin_only: pluginOnly,
    telemetry,
  };
  const json = fromJs({ ...head, ...flags }) as Map<string, Json>;
  json.set(
    "variants",
    variants.map((variant): Json => {
      const { payloadFields, ...rest } = variant;
      const shown = fromJs(rest) as Map<string, Json>;
      if (payloadFields) shown.set("payload_fields", fromJs(payloadFields));
      return shown;
    }),
  );
  return json;
}

async function rowOf(name: string): Promise<EventRow> {
  const row = findEvent(name);
  if (row) return row;
  const { hintFor } = await import("../events/names.ts");
  const hint = hintFor(name) ?? "see hermes-hooks events";
  throw new UsageError(`unknown event "${printable(name)}": ${hint}`);
}

/** Runs it; exit 0, or 64 for an event or variant there is none of. */
export async function events(args: Args, io: Io, context: Context): Promise<number> {
  const [name, ...more] = args.words;
  if (more.length > 0) throw new UsageError("events takes one event, or none");
  const style = styleFor(io.stdoutTty, context.env);
  if (name === undefined) {
    if (args.options.variant !== undefined) throw new UsageError("--variant needs an event");
    const json = () => writeJson(catalog().map((row) => rowJson(row, row.variants))) + "\n";
    io.out(args.options.json ? json() : overview(style).join("\n") + "\n");
    return 0;
  }
  const row = await rowOf(name);
  const wanted = args.options.variant;
  const variants = row.variants.filter((v) => wanted === undefined || v.name === wanted);
  if (variants.length === 0) {
    const names = row.variants.map((v) => v.name).join(", ");
    throw new UsageError(`${row.name} has no variant "${printable(wanted!)}"; it has: ${names}`);
  }
  const shown = args.options.json
    ? writeJson(rowJson(row, variants))
    : inFull(row, variants, style).join("\n");
  io.out(shown + "\n");
  return 0;
}
