/** docs/reference-events.md: every event, from the catalogue. */
import { catalog, type EventKind, type EventRow, type Field } from "../lib/events/catalog.ts";
import { type Json, writeJson } from "../lib/events/json.ts";
import { toWire } from "../lib/events/payload.ts";
import { fieldsOf, sampleFields } from "../lib/events/sample.ts";
import { block, code, list, pageHead, table, wrap } from "./docs_markdown.ts";

const KINDS: Readonly<Record<EventKind, string>> = {
  directive: "A hook can steer what happens.",
  transform: "A hook can replace the content.",
  observe: "What a hook answers is ignored.",
  gateway: "For the handlers of HOOK.yaml folders only; the fields are the handler's context.",
};

const INTRO = "Every event there is, from the table that the program itself reads: " +
  "`hermes-hooks events EVENT` shows the same, and `hermes-hooks schema payload EVENT` prints a " +
  "JSON Schema of what a hook gets.";

const WIRE = "A shell hook gets one JSON object on stdin: `hook_event_name`, `tool_name`, " +
  "`tool_input` (the field `args`), `session_id`, `cwd`, `profile`, and all other fields of the " +
  "event under `extra` (rule 3.3). A plugin's callback gets the fields as they are listed here. " +
  "What a hook may answer is what is listed under the event, as JSON on stdout, or returned by a " +
  "callback; nothing, or `{}`, is no opinion (rules 4 and 5).";

function fieldTable(fields: readonly Field[], required: (field: Field) => string): string {
  const rows = fields.map((field) => {
    const values = field.values
      ? `: ${field.values.map((word) => code(word || '""')).join(", ")}`
      : "";
    return [
      code(field.name),
      field.type.split("|").join(" or "),
      required(field),
      field.about + values,
    ];
  });
  return table(["Field", "Type", "Always there", "What it is"], rows);
}

/** Yes, no, or in which of the variants. */
function whenThere(row: EventRow, name: string): string {
  const having = row.variants.filter((variant) =>
    fieldsOf(row, variant).some((field) => field.name === name && field.required)
  );
  if (having.length === row.variants.length) return "yes";
  return having.length === 0 ? "no" : having.map((variant) => code(variant.name)).join(", ");
}

function wireOf(row: EventRow): Json {
  const fields = sampleFields(row);
  if (row.kind === "gateway") return fields;
  const { telemetry } = row;
  return toWire(row.name, fields, { cwd: "/home/user/project", profile: "default", telemetry });
}

function variantsOf(row: EventRow): string[] {
  const several = row.variants.length > 1
    ? ["Variants:", "", list(row.variants.map(({ name, about }) => `${code(name)}: ${about}`)), ""]
    : [];
  const inside = row.variants.flatMap(({ name, payloadFields }) =>
    payloadFields
      ? [`In ${code("payload")} of ${code(name)}:`, "", fieldTable(payloadFields, requiredText), ""]
      : []
  );
  return [...several, ...inside];
}

const requiredText = ({ required }: Field) => required ? "yes" : "no";

function answersOf(row: EventRow): string[] {
  if (row.answers.length === 0) return [];
  return ["Answers that count:", "", list(row.answers.map(answerText)), ""];
}

/** The JSON in an answer's form as code, the words around it as they are. */
function answerText(answer: string): string {
  return answer.replace(/\{(?:[^{}]|\{[^{}]*\})*\}/g, code);
}

function section(row: EventRow): string {
  const traits = [
    ...(row.tool ? ["a matcher counts"] : []),
    ...(row.canBlock ? ["can block, so a hook can fail closed"] : []),
    ...(row.pluginOnly ? ["for plugins only"] : []),
  ];
  return [
    `### ${code(row.name)}`,
    "",
    wrap(row.about + (traits.length > 0 ? ` (${traits.join("; ")})` : "")),
    "",
    ...answersOf(row),
    ...(row.fields.length > 0
      ? [fieldTable(row.fields, ({ name }) => whenThere(row, name)), ""]
      : ["No fields.", ""]),
    ...variantsOf(row),
    wrap(`Privacy: ${row.privacy}.`),
    "",
    block("json", writeJson(wireOf(row), { indent: 2 })),
    "",
  ].join("\n");
}

function overview(): string {
  const rows = catalog().map((row) => [
    `[${code(row.name)}](#${anchor(row.name)})`,
    row.kind,
    row.answers.length > 0 ? "yes" : "",
    row.about.split(/(?<=\.)\s/)[0]!,
  ]);
  return table(["Event", "Kind", "Answers count", "When"], rows);
}

/** The anchor that a code host gives a heading. */
function anchor(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_-]/g, "");
}

/** The whole page. */
export function eventsReference(): string {
  const kinds = Object.entries(KINDS).map(([kind, about]) => {
    const rows = catalog().filter((row) => row.kind === kind);
    const title = kind[0]!.toUpperCase() + kind.slice(1);
    return [`## ${title} events`, "", about, "", ...rows.map(section)].join("\n");
  });
  return [
    pageHead("Event reference"),
    wrap(INTRO),
    "",
    wrap(WIRE),
    "",
    overview(),
    "",
    kinds.join("\n").trimEnd() + "\n",
  ].join("\n");
}
