/** `hooks:` as a schema: shell hooks by event, and the two reserved blocks (rules 2, 5.3b, 10.1). */
import { z } from "zod";
import { catalog, type EventRow } from "../../events/catalog.ts";
import { HOOK_TIMEOUT, SPILL } from "../bounds.ts";
import { targetSchema } from "./target.ts";
import { count, numeric, text, yesNo } from "./value.ts";

const matcher = z.string().nullish().meta({
  description: "Python regular expression that must match the whole name of the tool; " +
    "without one the hook fires on every tool",
  rule: "2.4",
  examples: ["terminal|write_file"],
});
const noMatcher = z.string().regex(/^\s*$/).nullish()
  .describe("only pre_tool_call and post_tool_call take a matcher");
const closed = yesNo().meta({
  description: "any failure of this hook blocks the call; without it a failing hook lets it pass",
  rule: "2.6",
});
const neverClosed = z.literal(false).nullable().default(false)
  .describe("only a hook of pre_tool_call can fail closed");

function entrySchema(id: string, matched: z.ZodType, gate: z.ZodType, about: string) {
  return z.strictObject({
    command: text().meta({
      description: "what is run: split into words as a shell does, and run without one; " +
        "a ~ at the start of a word is expanded",
      rule: "2.3, 3.1",
      examples: ["~/.hermes/agent-hooks/check.sh --strict"],
    }),
    matcher: matched,
    timeout: numeric(HOOK_TIMEOUT, "int").meta({
      description: "seconds the hook may take; then it and all it started is killed",
      rule: "2.5, 3.7",
    }),
    fail_closed: gate,
    failClosed: gate.meta({ description: "the same as fail_closed, which wins", rule: "2.6" }),
  }).meta({ id, description: about });
}

/** One hook of `pre_tool_call`. */
export const gateEntry = entrySchema("gate_hook", matcher, closed, "a hook that can block");
const toolEntry = entrySchema(
  "tool_hook",
  matcher,
  neverClosed,
  "a hook that a matcher can narrow",
);
const plainEntry = entrySchema("hook", noMatcher, neverClosed, "a hook");

function entryOf(row: EventRow) {
  return row.canBlock ? gateEntry : row.tool ? toolEntry : plainEntry;
}

/** The events a shell hook may be written under (rule 2.1). */
export function shellEvents(): EventRow[] {
  return catalog().filter((row) => row.kind !== "gateway" && !row.pluginOnly);
}

const preview = (end: string, fallback: number) =>
  count(fallback).describe(`characters kept from the ${end} of a context that is cut`);

/** `hooks.output_spill`. */
export const spillSchema = z.looseObject({
  enabled: z.boolean().default(true)
    .describe("write a long context of pre_llm_call to a file and pass on its ends only"),
  max_chars: count(SPILL.max_chars).describe("characters above which a context is cut"),
  preview_head: preview("start", SPILL.preview_head),
  preview_tail: preview("end", SPILL.preview_tail),
  directory: z.string().optional()
    .describe("where to, relative to the home; default <home>/hook_outputs"),
}).nullish().meta({ description: "what becomes of a long context", rule: "5.3b" });

/** The whole block. */
export const hooksSchema = z.strictObject({
  ...Object.fromEntries(
    shellEvents().map((row) => [
      row.name,
      z.array(entryOf(row)).nullish().meta({ description: row.about }),
    ]),
  ),
  outbound: z.array(targetSchema).nullish()
    .meta({ description: "webhooks: who is told of events", rule: "10.1" }),
  output_spill: spillSchema,
}).nullish().meta({
  description: "shell hooks, by event, in the order in which they run",
  rule: "2.1",
});
