/** One entry of `hooks.outbound` as a schema (rule 10.1). */
import { z } from "zod";
import { pluginEvents } from "../../events/catalog.ts";
import {
  KEPT_MAX_QUEUE,
  NETWORK_WORDS,
  ORDERINGS,
  RETRY_ATTEMPTS,
  TARGET_FORMATS,
  TARGET_LIMITS,
  WHEN_FULL,
} from "../bounds.ts";
import { span } from "./span.ts";
import { numeric, text, yesNo } from "./value.ts";

const NAMES = /^\s*[A-Za-z_][A-Za-z0-9_]*(?:\s+[A-Za-z_][A-Za-z0-9_]*)*\s*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_TEXT = /^[\x20-\x7e\t]*[\x21-\x7e][\x20-\x7e\t]*$/;
const secret = z.string().min(1);
const limits = TARGET_LIMITS;

/** A target. What only the machine can say (is the variable set, the file there) is not in it. */
export const targetSchema = z.strictObject({
  name: z.union([text(), z.number(), z.boolean()]).nullish().meta({
    description: "a label; default: the URL's host",
    examples: ["ci-notify"],
  }),
  url: z.string().regex(/^\s*[Hh][Tt][Tt][Pp][Ss]?:\/\//).refine((url) => URL.canParse(url.trim()))
    .meta({
      description: "where deliveries are posted to; plain http only for loopback",
      examples: ["https://ci.example.com/hermes-events"],
    }),
  events: z.array(z.enum(pluginEvents())).min(1).meta({
    description: "the events it is told of",
    examples: [["on_session_end", "subagent_stop"]],
  }),
  matcher: z.string().nullish().meta({
    description: "narrows pre_tool_call and post_tool_call to tools with such a name, " +
      "as that of a hook does",
    rule: "2.4, 10.1",
  }),
  timeout: numeric(limits.timeout, "decimal").nullable().describe("seconds an attempt may take"),
  secret_env: z.union([z.string().regex(NAMES), z.array(z.string().regex(NAMES)).min(1)]).nullish()
    .meta({
      description: "the variable that holds the secret, or several, the newest first; " +
        "unset or empty: nothing is sent",
      examples: ["HERMES_OUTBOUND_WEBHOOK_SECRET"],
    }),
  secrets: z.array(secret).min(1).nullish()
    .describe("secrets, the newest first; secret_env beats them"),
  secret: secret.nullish().describe("one secret; secret_env and secrets beat it"),
  headers: z.record(
    z.string().regex(HEADER_NAME),
    z.union([z.string().regex(HEADER_TEXT), z.number()]),
  )
    .nullish().describe("more headers to send; never those that are set here"),
  ca_file: text().nullish()
    .describe("certificates (PEM) to trust instead of the system's; relative to the config"),
  concurrency: numeric(limits.concurrency, "decimal").nullable()
    .describe("attempts at a time; more than 1 gives up the order"),
  max_queue: numeric({ ...limits.max_queue, to: KEPT_MAX_QUEUE.to }, "decimal").nullable()
    .describe(
      "deliveries that may wait, at most 1,000,000 with the memory queue; with one that keeps " +
        "deliveries the default is 100,000",
    ),
  when_full: z.enum(WHEN_FULL).nullable().default(WHEN_FULL[0]).meta({
    description: "what gives way in a full queue that keeps deliveries; refuse: the event fails",
    rule: "10.6",
  }),
  ordering: z.enum(ORDERINGS).nullable().default(ORDERINGS[0]).meta({
    description: "session (sqlite only): a session's deliveries one after another",
    rule: "10.6",
  }),
  retry: z.strictObject({
    attempts: numeric(RETRY_ATTEMPTS, "decimal").nullable().describe("attempts in all"),
    max_age: span("72h").nullable().describe("how long after the event it is tried, 1m to 30d"),
    schedule: z.array(z.union([z.string(), z.number()])).min(1).max(100).nullish().meta({
      description: "the waits between attempts; the last one repeats; " +
        "default 5s, 5m, 30m, 2h, 5h, 10h",
      examples: [["5s", "5m", "2h"]],
    }),
  }).nullish().meta({
    description: "how long it is tried, with a queue that keeps deliveries",
    rule: "10.6",
  }),
  rate_limit_per_second: numeric(limits.rate_limit_per_second, "decimal").nullable()
    .describe("attempts a second at most; default: no limit"),
  format: z.enum(TARGET_FORMATS).nullable().default(TARGET_FORMATS[0])
    .describe("standard: with the headers of Standard Webhooks as well"),
  redact: yesNo().describe("take what looks like a secret out of the body"),
  network: z.strictObject({
    private: z.enum(NETWORK_WORDS).nullable().default(NETWORK_WORDS[0])
      .describe("whether an address in a private network may be dialled"),
  }).nullish().describe("which addresses may be dialled"),
}).meta({ id: "outbound_target", description: "one webhook" });
