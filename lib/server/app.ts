/** The application: requests in, answers out; which runtime listens is no business of it. */
import { type Context as HonoContext, Hono } from "hono";
import type { z } from "zod";
import { fromJs, type Json, parseJson, writeJson } from "../events/json.ts";
import { isObject, JsonNumber, JsonSyntaxError } from "../events/json.ts";
import { toolName } from "../events/payload.ts";
import { deliveriesFor } from "../outbound/deliveries.ts";
import type { Call } from "../sources/hook.ts";
import { VERSION } from "../version.ts";
import { errorAnswer, jsonAnswer, jsonText } from "./answer.ts";
import { readBody } from "./body.ts";
import { firedRow, fireEvent, stoppingAnswer, told } from "./fire_event.ts";
import { type Door, refusal } from "./guard.ts";
import { pluginEvent } from "./plugin_event.ts";
import { changeKept, enableTarget, listKept, listTargets, showKept } from "./kept.ts";
import { type Route, type RouteName, ROUTES } from "./routes.ts";
import * as schemas from "./schemas.ts";
import type { Service } from "./service.ts";
import { targetsOf } from "./targets.ts";

interface Env {
  Bindings: { readonly door: Door };
}

type Ask = HonoContext<Env>;
type Handler = (ask: Ask) => Response | Promise<Response>;

/** Answers requests; see {@link createApp}. */
export type App = (request: Request, door: Door) => Response | Promise<Response>;

const number = (value: number) => new JsonNumber(String(value));
const object = (entries: readonly (readonly [string, Json])[]) => jsonAnswer(new Map(entries));

/** What is undefined is left out: null would say something. */
function present(value: object): Json {
  return fromJs(Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)));
}

type Checked<T extends z.ZodType> =
  | { readonly ok: true; readonly value: z.infer<T> }
  | { readonly ok: false; readonly answer: Response };

/** The first thing wrong, or the value. */
function checked<T extends z.ZodType>(schema: T, value: unknown): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const [issue] = result.error.issues;
  const where = issue?.path.join(".");
  const message = `${where ? `"${where}": ` : ""}${issue?.message ?? "not what was expected"}`;
  return { ok: false, answer: errorAnswer("bad_request", message) };
}

/** The body as an object of this shape; what stands under its keys is kept with all its digits. */
async function checkedBody<T extends z.ZodType>(
  service: Service,
  ask: Ask,
  schema: T,
): Promise<Checked<T>> {
  const body = await readBody(ask.req.raw, service.settings.body_timeout * 1000);
  if (!body.ok) return body;
  const bad = (message: string) => ({
    ok: false as const,
    answer: errorAnswer("bad_request", message),
  });
  let given: Json;
  try {
    given = parseJson(body.text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return bad(`not JSON: ${error.message}`);
  }
  if (!isObject(given)) return bad("expected a JSON object");
  return checked(schema, Object.fromEntries(given));
}

/** A secret that only the other process's environment has makes a target of its that is none here. */
async function tellsTheSame(service: Service, call: Call, keys: readonly string[]) {
  const { targets } = targetsOf(service.live.registry);
  const made = await deliveriesFor(call, targets, new Date(), () => {});
  return made.length === keys.length && made.every(({ target }) => keys.includes(target));
}

async function outbound(service: Service, ask: Ask): Promise<Response> {
  const query = checked(schemas.outboundQuery, ask.req.query());
  if (!query.ok) return query.answer;
  const read = await checkedBody(service, ask, schemas.outboundBody);
  if (!read.ok) return read.answer;
  const { event, wire, occurred_at, targets } = read.value;
  const row = firedRow(event);
  if (row instanceof Response) return row;
  const cwd = wire.get("cwd");
  const call: Call = {
    event,
    wire,
    text: writeJson(wire),
    cwd: typeof cwd === "string" ? cwd : service.live.registry.context.startFolder,
    toolName: toolName(wire),
  };
  const fired = occurred_at === undefined ? undefined : new Date(occurred_at);
  if (targets && !await tellsTheSame(service, call, targets)) {
    const message = "this listener would tell other targets of the event: nothing was taken";
    return errorAnswer("other_targets", message);
  }
  const ids = await told(() => service.outbox.tell(call, fired));
  if (ids instanceof Response) return ids;
  const flush = query.value.flush;
  const entries: [string, Json][] = [["ids", [...ids]]];
  if (flush !== undefined) {
    entries.push(["settled", fromJs(await service.outbox.settled(ids, flush * 1000))]);
  }
  return jsonAnswer(new Map(entries), 202);
}

async function kept(service: Service, ask: Ask): Promise<Response> {
  const query = checked(schemas.keptQuery, ask.req.query());
  return query.ok ? await listKept(service, query.value) : query.answer;
}

async function keptOne(service: Service, ask: Ask): Promise<Response> {
  const params = checked(schemas.deliveryParams, ask.req.param());
  return params.ok ? await showKept(service, params.value.id) : params.answer;
}

async function change(service: Service, ask: Ask, verb: "redeliver" | "purge"): Promise<Response> {
  const read = await checkedBody(service, ask, schemas.keptFilter);
  return read.ok ? await changeKept(service, verb, read.value) : read.answer;
}

async function enable(service: Service, ask: Ask): Promise<Response> {
  const read = await checkedBody(service, ask, schemas.enableBody);
  return read.ok ? await enableTarget(service, read.value.target) : read.answer;
}

async function plugins(service: Service, ask: Ask): Promise<Response> {
  const read = await checkedBody(service, ask, schemas.pluginsBody);
  if (!read.ok) return read.answer;
  const { event, fields } = read.value;
  const row = firedRow(event);
  if (row instanceof Response) return row;
  return await pluginEvent(service, row, event, fields);
}

async function reload(service: Service): Promise<Response> {
  const result = await service.reload();
  if (!result.ok) {
    return errorAnswer("config_broken", result.reason, {
      hint: "the present state stays in force",
    });
  }
  const { registry, digests, warnings } = result.live;
  return object([
    ["reloaded", true],
    ["hooks", number(registry.entries.length)],
    ["config_sha256", digests.config],
    ["allowlist_sha256", digests.allowlist],
    ["warnings", [...warnings]],
  ]);
}

function ready({ stopping, pid, live }: Service): Response {
  const status = stopping ? "stopping" : "ready";
  return jsonAnswer(
    new Map<string, Json>([
      ["status", status],
      ["version", VERSION],
      ["pid", number(pid)],
      ["config_sha256", live.digests.config],
      ["allowlist_sha256", live.digests.allowlist],
    ]),
    stopping ? 503 : 200,
  );
}

async function redeliver(service: Service, ask: Ask): Promise<Response> {
  const params = checked(schemas.deliveryParams, ask.req.param());
  if (!params.ok) return params.answer;
  const { id } = params.value;
  if (await service.outbox.redeliver(id)) return jsonAnswer(new Map([["id", id]]), 202);
  return errorAnswer("unknown_delivery", `delivery "${id}" is not held any more`, {
    hint: "GET /v1/deliveries lists those that are",
  });
}

function handlersOf(service: Service): Readonly<Record<RouteName, Handler>> {
  const boot = crypto.randomUUID().slice(0, 8);
  let count = 0;
  let document: string | undefined;
  const unlessStopping = (handler: Handler): Handler => (ask) =>
    service.stopping ? stoppingAnswer() : handler(ask);
  return {
    fire: (ask) => {
      const id = `${boot}-${(++count).toString(36)}`;
      return fireEvent(service, ask.req.raw, ask.req.param("event") ?? "", id);
    },
    hooks: async () => jsonAnswer(await service.describe.hooks(service.live.registry)),
    events: () => jsonAnswer(service.describe.events()),
    deliveries: () =>
      object([[
        "deliveries",
        service.outbox.recent().map((one) => present({ ...one, ms: Math.round(one.ms) })),
      ]]),
    kept: unlessStopping((ask) => kept(service, ask)),
    keptOne: unlessStopping((ask) => keptOne(service, ask)),
    redeliverKept: unlessStopping((ask) => change(service, ask, "redeliver")),
    purgeKept: unlessStopping((ask) => change(service, ask, "purge")),
    targets: unlessStopping(() => listTargets(service)),
    enableTarget: unlessStopping((ask) => enable(service, ask)),
    redeliver: unlessStopping((ask) => redeliver(service, ask)),
    outbound: unlessStopping((ask) => outbound(service, ask)),
    plugins: unlessStopping((ask) => plugins(service, ask)),
    reload: unlessStopping(() => reload(service)),
    healthz: () => object([["status", "ok"]]),
    readyz: () => ready(service),
    metrics: async () => {
      const { text, type } = await service.metrics.text();
      return new Response(text, {
        headers: { "content-type": type, "x-content-type-options": "nosniff" },
      });
    },
    openapi: async () => {
      document ??= writeJson((await import("./openapi.ts")).openapiDocument());
      return jsonText(document);
    },
  };
}

const honoPath = ({ path }: Route) => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Whoever asks for what is not there, or in the wrong way. */
function strayAnswer(path: string): Response {
  const segments = (text: string) => text.split("/");
  const asked = segments(path);
  const route = Object.values<Route>(ROUTES).find((each) => {
    const own = segments(each.path);
    return own.length === asked.length &&
      own.every((part, at) => part === asked[at] || (part.startsWith("{") && asked[at] !== ""));
  });
  if (!route) {
    return errorAnswer("not_found", `there is no "${path}"`, { hint: "see /openapi.json" });
  }
  const { method } = route;
  const headers = { allow: method };
  return errorAnswer("method_not_allowed", `${route.path} takes ${method}`, { headers });
}

/** Builds the application of one listener. */
export function createApp(service: Service): App {
  const app = new Hono<Env>();
  // Around each handler and no middleware: hono goes straight to a handler that stands alone.
  const guarded = (handler: Handler): Handler => (ask) => {
    const { allowed_hosts } = service.settings;
    return refusal(ask.req.raw, ask.req.path, ask.env.door, allowed_hosts) ?? handler(ask);
  };
  const handlers = handlersOf(service);
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const handler: Handler = (ask) =>
      route.socketOnly && ask.env.door.kind !== "unix"
        ? errorAnswer("forbidden", `${route.path} is served on the unix socket only`)
        : handlers[name as RouteName](ask);
    app.on(route.method, honoPath(route), guarded(handler));
  }
  app.notFound(guarded((ask) => strayAnswer(ask.req.path)));
  app.onError((error) => {
    service.log.line("error", `internal error, please report it: ${error.name}: ${error.message}`);
    return errorAnswer("internal", "internal error; the listener's log says more");
  });
  return (request, door) => app.fetch(request, { door });
}
