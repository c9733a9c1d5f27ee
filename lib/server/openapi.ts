/** The OpenAPI document, made from the routes and their schemas. */
import { z } from "zod";
import { fromJs, type Json } from "../events/json.ts";
import { VERSION } from "../version.ts";
import { type Route, ROUTES } from "./routes.ts";
import { errorBody } from "./schemas.ts";

const ABOUT: Readonly<Record<number, string>> = {
  200: "done",
  202: "accepted",
  400: "the request cannot be read",
  401: "the bearer token is missing or wrong (TCP only)",
  403: "refused: an Origin header, or a Host that is none of ours",
  404: "there is no such thing",
  408: "the body did not come in time",
  409: "not as this listener is set up: other targets, or a queue that keeps nothing",
  413: "the body is over 16 MiB",
  422: "the config is broken; the present state stays in force",
  429: "too many events are at work",
  503: "there is no verdict: the listener is stopping, or deliveries could not be accepted",
};

function schemaOf(schema: z.ZodType, io: "input" | "output"): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

function json(schema: unknown) {
  return { "application/json": { schema } };
}

function parametersOf(schema: z.ZodObject | undefined, where: "path" | "query") {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...rest } = schemaOf(field as z.ZodType, "input") as {
      description?: string;
    };
    return { name, in: where, required: where === "path", description, schema: rest };
  });
}

function answersOf({ status, answer, failures, open }: Route) {
  const refusals = open ? [403] : [401, 403];
  const failed = [...refusals, ...failures].sort().map((code) => [
    String(code),
    {
      description: ABOUT[code],
      content: json({ $ref: "#/components/schemas/Error" }),
    },
  ]);
  const content = answer ? { content: json(schemaOf(answer, "output")) } : {};
  return {
    [String(status)]: { description: ABOUT[status], ...content },
    ...Object.fromEntries(failed),
  };
}

function operationOf(name: string, route: Route) {
  const parameters = [
    ...parametersOf(route.params, "path"),
    ...parametersOf(route.query, "query"),
  ];
  return {
    operationId: name,
    summary: route.socketOnly ? `${route.summary} (unix socket only)` : route.summary,
    ...(route.open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: { content: json(schemaOf(route.body, "input")) } } : {}),
    responses: answersOf(route),
  };
}

/** The document, an OpenAPI 3.1 object. */
export function openapiDocument(): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(name, route);
  }
  return fromJs({
    openapi: "3.1.0",
    info: { title: "hermes-hooks", version: VERSION },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "over TCP; the unix socket needs none",
        },
      },
      schemas: { Error: schemaOf(errorBody, "output") },
    },
  });
}
