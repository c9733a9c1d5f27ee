/**
 * The whole of config.yaml as one schema: for editors, the docs and tests. The loaders stay written
 * by hand, since they say what is wrong and where; `tests/config_schema_test.ts` holds the two
 * together. It judges values as they are after `${NAME}` was replaced, and knows of no machine:
 * whether a file is there, a variable is set or a matcher compiles is the loaders' business.
 */
import { z } from "zod";
import { MAX_VERIFY_NUDGES, YES_NO } from "../bounds.ts";
import { hooksSchema } from "./hooks.ts";
import { ownSchema } from "./own.ts";
import { pluginsSchema } from "./plugins.ts";
import { count } from "./value.ts";

const words: readonly string[] = YES_NO;
const word = z.string().refine((text) => words.includes(text.trim().toLowerCase()));

/** Other top-level keys belong to the agent: any may stand (rule 1.5). */
export const configSchema = z.looseObject({
  hooks: hooksSchema,
  hooks_auto_accept: z.union([z.boolean(), word]).nullable().default(false).meta({
    description: "approve hooks not seen before without asking: whoever can write this file then " +
      "decides what runs",
    rule: "6.4",
  }),
  plugins: pluginsSchema,
  agent: z.looseObject({
    max_verify_nudges: count(MAX_VERIFY_NUDGES)
      .describe("how often pre_verify may send the agent back to work in one turn"),
  }).nullish().meta({ description: "settings of the agent that count here", rule: "5.4" }),
  hermes_hooks: ownSchema,
}).meta({ title: "config.yaml of a Hermes home" });
