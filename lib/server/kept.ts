/** The routes on deliveries that are kept: look, send again, remove, lift what keeps a target back. */
import { fromJs, type Json, JsonNumber } from "../events/json.ts";
import {
  type KeptDelivery,
  type KeptFilter,
  type KeptQueue,
  LIFTED,
  NotAccepted,
} from "../outbound/engine.ts";
import { keptJson } from "../outbound/kept_json.ts";
import type { TargetCounts } from "../outbound/outbox.ts";
import { TargetNames } from "../outbound/target_names.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import type { Service } from "./service.ts";

const number = (value: number) => new JsonNumber(String(value));

/** What a filter says over HTTP. */
export interface FilterRead {
  readonly ids?: readonly string[];
  readonly target?: string;
  readonly state?: KeptDelivery["state"];
  readonly event?: string;
  readonly before?: string;
  readonly after?: string;
  readonly all?: true;
}

type Counts = ReadonlyMap<string, TargetCounts>;

const namesOf = (counts: Counts) =>
  new TargetNames([...counts].map(([key, { name }]) => [key, name]));

/** Runs `act` on what is kept; refuses where nothing is, and says why where the store fails us. */
async function onKept(
  { outbox }: Service,
  act: (kept: KeptQueue) => Promise<Response>,
): Promise<Response> {
  if (!outbox.kept) {
    return errorAnswer("not_kept", "the queue is memory: it keeps no deliveries", {
      hint: "set hermes_hooks.outbound.queue to sqlite or a redis URL",
    });
  }
  try {
    return await act(outbox.kept);
  } catch (error) {
    if (!(error instanceof NotAccepted)) throw error;
    return errorAnswer("not_accepted", error.message);
  }
}

async function filterOf({ outbox }: Service, read: FilterRead): Promise<KeptFilter | Response> {
  const { ids, target, state, event, before, after } = read;
  const counts = await outbox.counts();
  const targets = target === undefined ? undefined : namesOf(counts).keysOf(target);
  if (targets?.length === 0) {
    return errorAnswer("unknown_target", `no target is called "${target}"`, {
      hint: "GET /v1/targets lists them",
    });
  }
  return {
    ...(ids && { ids }),
    ...(targets && { targets }),
    ...(state && { states: [state] }),
    ...(event !== undefined && { event }),
    ...(before !== undefined && { before: new Date(before) }),
    ...(after !== undefined && { after: new Date(after) }),
  };
}

/** `GET /v1/deliveries/kept`. */
export function listKept(
  service: Service,
  read: FilterRead & { readonly limit?: number; readonly offset?: number },
): Promise<Response> {
  return onKept(service, async (kept) => {
    const filter = await filterOf(service, read);
    if (filter instanceof Response) return filter;
    const names = namesOf(await service.outbox.counts());
    const found = await kept.find(filter, { limit: read.limit, offset: read.offset });
    const shown = found.map((each) => keptJson(each, names.of(each.target)));
    return jsonAnswer(new Map([["deliveries", shown]]));
  });
}

/** `GET /v1/deliveries/{id}`. */
export function showKept(service: Service, id: string): Promise<Response> {
  return onKept(service, async (kept) => {
    const [found] = await kept.find({ ids: [id] });
    if (!found) {
      return errorAnswer("unknown_delivery", `delivery "${id}" is not kept: delivered, or purged`);
    }
    const name = namesOf(await service.outbox.counts()).of(found.target);
    return jsonAnswer(keptJson(found, name, true));
  });
}

/** `POST /v1/deliveries/redeliver` and `…/purge`: nothing said is nothing meant. */
export function changeKept(
  service: Service,
  verb: "redeliver" | "purge",
  read: FilterRead,
): Promise<Response> {
  return onKept(service, async (kept) => {
    if (Object.keys(read).length === 0) {
      return errorAnswer("bad_request", `say which deliveries to ${verb}, or "all": true`);
    }
    const filter = await filterOf(service, read);
    if (filter instanceof Response) return filter;
    const count = number(await kept[verb](filter));
    return jsonAnswer(new Map([["count", count]]), verb === "purge" ? 200 : 202);
  });
}

/** `GET /v1/targets`. */
export async function listTargets({ outbox }: Service): Promise<Response> {
  const counts = await outbox.counts();
  const statuses = await outbox.kept?.statuses();
  const shown = [...counts].map(([key, { inFlight, ...count }]) =>
    fromJs({ ...count, in_flight: inFlight, ...statuses?.get(key) })
  );
  return jsonAnswer(
    new Map<string, Json>([["queue", outbox.kept ? "kept" : "memory"], ["targets", shown]]),
  );
}

/** `POST /v1/targets/enable`. */
export function enableTarget(service: Service, name: string): Promise<Response> {
  return onKept(service, async (kept) => {
    const counts = await service.outbox.counts();
    const keys = namesOf(counts).keysOf(name);
    if (keys.length === 0) {
      return errorAnswer("unknown_target", `no target is called "${name}"`, {
        hint: "GET /v1/targets lists them",
      });
    }
    for (const key of keys) await kept.setStatus(key, LIFTED);
    return jsonAnswer(new Map([["enabled", [name]]]));
  });
}
