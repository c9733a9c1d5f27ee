/** `POST /v1/plugins`: the plugins' part of an event fired elsewhere, so that they keep their state. */
import { callOf, isWithheld } from "../dispatch/dispatch.ts";
import type { EventRow } from "../events/catalog.ts";
import { type Json, JsonNumber, type JsonObject } from "../events/json.ts";
import type { Fields, Outcome } from "../events/outcome.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import { stoppingAnswer } from "./fire_event.ts";
import { ENDED } from "./inflight.ts";
import type { Service } from "./service.ts";

function outcomeJson({ name, outcome, durationMs, directive, error, warnings }: Outcome): Json {
  const shown: JsonObject = new Map<string, Json>([
    ["name", name],
    ["outcome", outcome],
    ["duration_ms", new JsonNumber(String(Math.round(durationMs)))],
  ]);
  if (directive) shown.set("directive", directive);
  if (error !== undefined) shown.set("error", error);
  return shown.set("warnings", [...warnings]);
}

async function run({ live }: Service, row: EventRow, event: string, fields: Fields): Promise<Json> {
  const release = live.plugins?.hold();
  try {
    const wanted = isWithheld(live.registry, event, fields) ? undefined : live.plugins;
    const { hooks, warnings } = await wanted?.hooksFor(event) ?? { hooks: [], warnings: [] };
    const call = callOf(live.registry, row, event, fields);
    const outcomes: Json[] = [];
    for (const hook of hooks) outcomes.push(outcomeJson(await hook.run(call)));
    return new Map<string, Json>([["outcomes", outcomes], ["warnings", [...warnings]]]);
  } finally {
    release?.();
  }
}

/**
 * Runs the callbacks of an event, and no shell hook; refuses under safe mode, since whoever asks
 * is under none.
 */
export async function pluginEvent(
  service: Service,
  row: EventRow,
  event: string,
  fields: Fields,
): Promise<Response> {
  if (service.live.registry.safeMode) {
    return errorAnswer("forbidden", "the listener runs in safe mode: it has no plugins");
  }
  const ran = await service.inflight.run(() => run(service, row, event, fields));
  return ran === ENDED ? stoppingAnswer() : jsonAnswer(ran);
}
