/** `hermes_hooks:` as a schema: all settings that are ours alone (rule 1.5). */
import { z } from "zod";
import { HOST_MEMORY_MB } from "../bounds.ts";
import { serveSchema } from "../serve_settings.ts";
import { ownOutboundSchema } from "./own_outbound.ts";
import { count } from "./value.ts";

/** The loader skips what is null before it asks the schema of a key. */
const serveKeys = Object.fromEntries(
  Object.entries(serveSchema.shape).map(([key, field]) => [key, field.nullable()]),
);

/** The whole block. */
export const ownSchema = z.strictObject({
  serve: z.strictObject(serveKeys).nullish()
    .meta({ description: "the listener (hermes-hooks serve)", rule: "11" }),
  outbound: ownOutboundSchema,
  hosts: z.strictObject({
    memory_mb: count(HOST_MEMORY_MB)
      .describe("MiB the process of a plugin or a gateway hook may take, 0 for no bound"),
  }).nullish().meta({ description: "the processes of plugins and gateway hooks", rule: "8.1b" }),
}).nullish().meta({ description: "settings of hermes-hooks alone", rule: "1.5" });
