/** The shapes that go over HTTP: they check what comes in and describe the rest in `/openapi.json`. */
import { z } from "zod";
import { isObject, type Json, type JsonObject } from "../events/json.ts";

/** An object whose digits and key order are kept: read by our own reader, so only looked at here. */
const keptObject = z.custom<JsonObject>((value) => isObject(value as Json), "expected an object")
  .meta({ type: "object" });

/** The path of the event routes. */
export const eventParams = z.object({
  event: z.string().describe("an event's name, such as pre_tool_call"),
});

/** The path of the delivery routes. */
export const deliveryParams = z.object({
  id: z.string().regex(/^[0-9a-f]{32}$/, "expected 32 hex digits")
    .describe("a delivery's id, 32 hex digits"),
});

/** The query of `/v1/outbound`. */
export const outboundQuery = z.object({
  flush: z.coerce.number("expected a number of seconds").min(0, "expected 0 or more")
    .max(300, "expected at most 300").optional()
    .describe("wait so many seconds for these deliveries to be settled; default: do not wait"),
});

/** The body of `/v1/outbound`. */
export const outboundBody = z.object({
  event: z.string("expected a string").min(1).describe("the event's name"),
  wire: keptObject.describe("the event in the wire form that hooks read"),
  occurred_at: z.iso.datetime({
    offset: true,
    error: "expected a time such as 2026-01-31T12:00:00Z",
  })
    .optional().describe("when it was fired; default: now"),
  targets: z.array(z.string()).optional()
    .describe(
      "keys of the targets it is meant for: when they are not ours, nothing is taken (409)",
    ),
});

/** The body of `/v1/events/{event}`: checked as `fire` checks its stdin. */
export const eventBody = z.record(z.string(), z.unknown())
  .describe("the event's fields, bare, or in the wire form (known by its hook_event_name)");

/** The body of `/v1/plugins`. */
export const pluginsBody = z.object({
  event: z.string("expected a string").min(1).describe("the event's name"),
  fields: keptObject.describe("the event's fields, bare"),
});

/** `/v1/plugins`. */
export const pluginsRan = z.object({
  outcomes: z.array(z.object({
    name: z.string().describe("the plugin"),
    outcome: z.enum(["directive", "none", "failed"]),
    duration_ms: z.number(),
    directive: z.unknown().optional(),
    error: z.string().optional(),
    warnings: z.array(z.string()),
  })),
  warnings: z.array(z.string()),
});

const hookOutcome = z.object({
  source: z.enum(["shell", "plugin", "gateway"]),
  name: z.string(),
  outcome: z.enum(["directive", "none", "failed"]),
  duration_ms: z.number(),
  directive: z.unknown().optional(),
  error: z.string().optional(),
});

/** The verdict, as `fire` prints it. */
export const verdict = z.looseObject({
  event: z.string(),
  decision: z.string().optional(),
  message: z.string().optional(),
  hooks: z.array(hookOutcome),
  warnings: z.array(z.string()),
});

/** Every refusal and failure. */
export const errorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
});

const digest = z.string().nullable().describe("SHA-256 of the file's bytes, hex; null: no file");

/** `/healthz`. */
export const health = z.object({ status: z.literal("ok") });

/** `/readyz`. */
export const ready = z.object({
  status: z.enum(["ready", "stopping"]),
  version: z.string(),
  pid: z.int(),
  config_sha256: digest,
  allowlist_sha256: digest,
});

/** `/v1/reload`. */
export const reloaded = z.object({
  reloaded: z.literal(true),
  hooks: z.int().describe("how many shell hooks are configured"),
  config_sha256: digest,
  allowlist_sha256: digest,
  warnings: z.array(z.string()),
});

/** `/v1/hooks`. */
export const hooks = z.object({
  safe_mode: z.boolean(),
  hooks: z.array(z.looseObject({ source: z.string(), event: z.string() })),
  gateway: z.array(z.looseObject({ name: z.string(), events: z.array(z.string()) })),
  problems: z.array(z.looseObject({ severity: z.string(), message: z.string() })),
});

/** `/v1/events`. */
export const events = z.array(z.looseObject({ name: z.string(), kind: z.string() }));

/** `/v1/deliveries`. */
export const deliveries = z.object({
  deliveries: z.array(z.object({
    at: z.string().describe("when the attempt ended"),
    target: z.string(),
    event: z.string(),
    id: z.string(),
    attempt: z.int().describe("1 for the first"),
    outcome: z.string(),
    status: z.int().optional(),
    error: z.string().optional(),
    location: z.string().optional(),
    ms: z.number(),
    retried: z.boolean().describe("will there be another"),
  })),
});

const moment = z.iso.datetime({
  offset: true,
  error: "expected a time such as 2026-01-31T12:00:00Z",
});
const state = z.enum(["waiting", "retrying", "sending", "dead"]);
const filterKeys = {
  target: z.string().optional().describe("a target's name"),
  state: state.optional(),
  event: z.string().optional().describe("an event's name"),
  before: moment.optional().describe("fired before this moment"),
  after: moment.optional().describe("fired at or after this moment"),
};
const whole = (least: number, most: number) =>
  z.coerce.number(`expected a whole number from ${least} to ${most}`)
    .int().min(least).max(most);

/** The query of `/v1/deliveries/kept`. */
export const keptQuery = z.object({
  ...filterKeys,
  limit: whole(1, 1000).optional().describe("default 100"),
  offset: whole(0, 100_000_000).optional().describe("how many of the oldest to pass by; default 0"),
});

/** The body of `/v1/deliveries/redeliver` and `/v1/deliveries/purge`: at least one key. */
export const keptFilter = z.object({
  ids: z.array(z.string().regex(/^[0-9a-f]{32}$/, "expected 32 hex digits")).min(1).optional(),
  ...filterKeys,
  all: z.literal(true).optional().describe(
    "every one of them: asked for when nothing else is said",
  ),
});

const keptDelivery = z.object({
  id: z.string(),
  target: z.string(),
  event: z.string(),
  state,
  attempts: z.int(),
  occurred_at: z.string(),
  session: z.string().optional(),
  due_at: z.string().optional().describe("when the next attempt is due"),
  ended_at: z.string().optional().describe("when it was given up"),
  error: z.string().optional().describe("why the last attempt failed"),
  status: z.int().optional().describe("the HTTP status of that attempt"),
});

/** `/v1/deliveries/kept`. */
export const keptDeliveries = z.object({ deliveries: z.array(keptDelivery) });

/** `/v1/deliveries/{id}`. */
export const keptWhole = keptDelivery.extend({
  wire: z.looseObject({}).describe("the event, in the wire form"),
});

/** `/v1/deliveries/redeliver` and `/v1/deliveries/purge`. */
export const keptCount = z.object({ count: z.int().describe("how many deliveries that was") });

/** `/v1/targets`. */
export const targets = z.object({
  queue: z.enum(["memory", "kept"]),
  targets: z.array(z.object({
    name: z.string(),
    waiting: z.int(),
    in_flight: z.int(),
    dropped: z.int().describe("since start"),
    delivered: z.int().describe("since start"),
    failed: z.int().describe("since start"),
    dead: z.int().optional().describe("dead letters that are kept"),
    disabled: z.object({ since: z.string(), reason: z.string() }).optional(),
    paused: z.object({ until: z.string(), reason: z.string() }).optional(),
  })),
});

/** The body of `/v1/targets/enable`. */
export const enableBody = z.object({ target: z.string("expected a target's name") });

/** `/v1/targets/enable`. */
export const enabled = z.object({ enabled: z.array(z.string()) });

/** `/v1/deliveries/{id}/redeliver`. */
export const redelivered = z.object({ id: z.string() });

/** `/v1/outbound`. */
export const handedOver = z.object({
  ids: z.array(z.string()),
  settled: z.object({
    delivered: z.int(),
    failed: z.int(),
    dropped: z.int(),
    pending: z.int(),
    unknown: z.int(),
  }).optional().describe("with flush: what became of them"),
});
