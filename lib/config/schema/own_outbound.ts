/** `hermes_hooks.outbound` as a schema: the queue that all webhooks wait in. */
import { z } from "zod";
import { span } from "./span.ts";

/** A password in a redis URL comes from the environment: `redis://:${REDIS_PASSWORD}@host`. */
const QUEUE = /^\s*(?:memory|sqlite|rediss?:\/\/\S+)\s*$/;

/** The whole block. */
export const ownOutboundSchema = z.strictObject({
  queue: z.string().regex(QUEUE).nullable().default("memory").meta({
    description: "where deliveries wait: memory (best effort), sqlite, or a redis URL (kept)",
    examples: ["sqlite", "redis://127.0.0.1:6379/0"],
    rule: "10.6",
  }),
  retain: span("7d").nullable().meta({
    description: "how long dead letters are kept, 1m to 365d",
    rule: "10.6",
  }),
}).nullish().meta({
  description: "the queue that all webhooks wait in",
  rule: "1.5, 10.6",
});
