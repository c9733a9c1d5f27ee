/** `plugins:` as a schema (rule 8). The agent keeps keys of its own there, so others may stand. */
import { z } from "zod";
import { CALLBACK_TIMEOUT } from "../bounds.ts";
import { yesNo } from "./value.ts";

const FOLDER = /^(?![\s.]*$)[^\\/\0]+$/;
const unique = (names: string[]) => new Set(names.map((name) => name.trim())).size === names.length;

/** The whole block. */
export const pluginsSchema = z.looseObject({
  enabled: z.array(z.string().regex(FOLDER)).refine(unique).nullable().default([]).meta({
    description: "the plugins to load: names of folders under <home>/plugins",
    rule: "8.1",
    examples: [["guard"]],
  }),
  hook_callback_timeout: z.number().min(CALLBACK_TIMEOUT.from).max(CALLBACK_TIMEOUT.to).nullable()
    .default(CALLBACK_TIMEOUT.fallback).meta({
      description: "seconds a callback or a gateway handler may take, 0 for no bound; " +
        "a pre_tool_call callback that takes longer blocks",
      rule: "8.3, 9.3",
    }),
  stream_reasoning_deltas: yesNo().meta({
    description: "send the deltas of a model's reasoning to on_stream_delta too",
    rule: "8.4",
  }),
  fail_closed: yesNo().meta({
    description: "a pre_tool_call callback that throws, or a plugin that cannot be loaded, blocks",
    rule: "8.5",
  }),
}).nullish().meta({ description: "plugins", rule: "8.1" });
