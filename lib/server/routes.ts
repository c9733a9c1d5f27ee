/** The routes as data: what the application serves and `/openapi.json` describes. */
import type { z } from "zod";
import * as schemas from "./schemas.ts";

/** One route. */
export interface Route {
  readonly method: "GET" | "POST";
  /** With `{name}` for what varies. */
  readonly path: string;
  readonly summary: string;
  /** No token is asked for. */
  readonly open?: true;
  /** Over the unix socket only. */
  readonly socketOnly?: true;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The status of success. */
  readonly status: number;
  /** What success answers; absent: text. */
  readonly answer?: z.ZodType;
  /** The statuses of failure beside 401 and 403. */
  readonly failures: readonly number[];
}

/** Every route, by the name its handler goes by. */
export const ROUTES = {
  fire: {
    method: "POST",
    path: "/v1/events/{event}",
    summary: "runs the hooks of an event and answers the verdict, 200 also for a block",
    params: schemas.eventParams,
    body: schemas.eventBody,
    status: 200,
    answer: schemas.verdict,
    failures: [400, 404, 408, 413, 429, 503],
  },
  hooks: {
    method: "GET",
    path: "/v1/hooks",
    summary: "the hooks in force, with consent and drift, and the problems of the config",
    status: 200,
    answer: schemas.hooks,
    failures: [],
  },
  events: {
    method: "GET",
    path: "/v1/events",
    summary: "the catalogue of events",
    status: 200,
    answer: schemas.events,
    failures: [],
  },
  deliveries: {
    method: "GET",
    path: "/v1/deliveries",
    summary: "the latest attempts to deliver, newest first",
    status: 200,
    answer: schemas.deliveries,
    failures: [],
  },
  kept: {
    method: "GET",
    path: "/v1/deliveries/kept",
    summary: "deliveries in a queue that keeps them, dead letters too, the oldest first",
    query: schemas.keptQuery,
    status: 200,
    answer: schemas.keptDeliveries,
    failures: [400, 404, 409, 503],
  },
  keptOne: {
    method: "GET",
    path: "/v1/deliveries/{id}",
    summary: "one kept delivery, with the event it carries",
    params: schemas.deliveryParams,
    status: 200,
    answer: schemas.keptWhole,
    failures: [400, 404, 409, 503],
  },
  redeliverKept: {
    method: "POST",
    path: "/v1/deliveries/redeliver",
    summary: "makes kept deliveries due now, with all their attempts before them",
    body: schemas.keptFilter,
    status: 202,
    answer: schemas.keptCount,
    failures: [400, 404, 408, 409, 413, 503],
  },
  purgeKept: {
    method: "POST",
    path: "/v1/deliveries/purge",
    summary: "removes kept deliveries for good, but those being sent",
    body: schemas.keptFilter,
    status: 200,
    answer: schemas.keptCount,
    failures: [400, 404, 408, 409, 413, 503],
  },
  targets: {
    method: "GET",
    path: "/v1/targets",
    summary: "how each target stands: what waits, dead letters, disabled or paused",
    status: 200,
    answer: schemas.targets,
    failures: [503],
  },
  enableTarget: {
    method: "POST",
    path: "/v1/targets/enable",
    summary: "lifts what keeps a target from being sent to: a 410 it answered, or a pause",
    body: schemas.enableBody,
    status: 200,
    answer: schemas.enabled,
    failures: [400, 404, 408, 409, 413, 503],
  },
  redeliver: {
    method: "POST",
    path: "/v1/deliveries/{id}/redeliver",
    summary: "sends a delivery that is still held once more, under the same id",
    params: schemas.deliveryParams,
    status: 202,
    answer: schemas.redelivered,
    failures: [400, 404, 503],
  },
  outbound: {
    method: "POST",
    path: "/v1/outbound",
    summary: "takes over the deliveries of an event that was fired elsewhere",
    socketOnly: true,
    query: schemas.outboundQuery,
    body: schemas.outboundBody,
    status: 202,
    answer: schemas.handedOver,
    failures: [400, 404, 408, 409, 413, 503],
  },
  plugins: {
    method: "POST",
    path: "/v1/plugins",
    summary: "runs the plugins' callbacks, and nothing else, on an event that was fired elsewhere",
    socketOnly: true,
    body: schemas.pluginsBody,
    status: 200,
    answer: schemas.pluginsRan,
    failures: [400, 404, 408, 413, 503],
  },
  reload: {
    method: "POST",
    path: "/v1/reload",
    summary: "reads config and allowlist again; with a broken one the present state stays",
    status: 200,
    answer: schemas.reloaded,
    failures: [422, 503],
  },
  healthz: {
    method: "GET",
    path: "/healthz",
    summary: "are we alive",
    open: true,
    status: 200,
    answer: schemas.health,
    failures: [],
  },
  readyz: {
    method: "GET",
    path: "/readyz",
    summary: "do we take events, and which files were read",
    open: true,
    status: 200,
    answer: schemas.ready,
    failures: [503],
  },
  metrics: {
    method: "GET",
    path: "/metrics",
    summary: "counters and timings in Prometheus' text form",
    status: 200,
    failures: [],
  },
  openapi: {
    method: "GET",
    path: "/openapi.json",
    summary: "this description",
    status: 200,
    failures: [],
  },
} as const satisfies Readonly<Record<string, Route>>;

/** The names of the routes. */
export type RouteName = keyof typeof ROUTES;
