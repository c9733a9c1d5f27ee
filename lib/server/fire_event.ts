/** `POST /v1/events/{event}`: what `fire` does, in this process and its environment. */
import { callOf, isWithheld, runHooks, warningsBefore } from "../dispatch/dispatch.ts";
import { type EventRow, findEvent } from "../events/catalog.ts";
import { hintFor } from "../events/names.ts";
import type { Fields, Verdict } from "../events/outcome.ts";
import { readFields } from "../events/payload.ts";
import { reduce } from "../events/verdict.ts";
import { stringAt } from "../events/json.ts";
import { gatewayRow } from "../sources/gateway/subscription.ts";
import { NotAccepted } from "../outbound/engine.ts";
import type { Call } from "../sources/hook.ts";
import { isStreamEvent } from "../sources/stream_queue.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import { readBody } from "./body.ts";
import { ENDED } from "./inflight.ts";
import type { Service } from "./service.ts";

const STOPPING = "the listener is stopping; there is no verdict";

/** The refusal while stopping: whoever asks must not take it for a verdict. */
export function stoppingAnswer(): Response {
  return errorAnswer("stopping", STOPPING, { headers: { "retry-after": "1" } });
}

/** The row of an event that can be fired, or the refusal. */
export function firedRow(event: string): EventRow | Response {
  const row = findEvent(event);
  if (row && row.kind !== "gateway") return row;
  const message = row ? `"${event}" cannot be fired` : `unknown event "${event}"`;
  return errorAnswer("unknown_event", message, {
    hint: hintFor(event) ?? "GET /v1/events lists them",
  });
}

/** rule 9.3: who starts the gateway is answered at once, before the handlers are done or begun. */
function startedUp({ gateway }: Service, event: string, fields: Fields): Verdict {
  void gateway.emit(event, fields);
  return reduce(event, fields, []);
}

/** What came of telling the outbox; a queue that did not accept it makes it a refusal. */
export async function told<T>(tell: () => T | Promise<T>): Promise<T | Response> {
  try {
    return await tell();
  } catch (error) {
    if (!(error instanceof NotAccepted)) throw error;
    const message = `the deliveries of this event were not accepted: ${error.message}`;
    return errorAnswer("not_accepted", message, { headers: { "retry-after": "1" } });
  }
}

/** Runs the hooks in force on one event. */
async function verdictOf(
  service: Service,
  row: EventRow,
  event: string,
  fields: Fields,
): Promise<Verdict | Response> {
  const { live, outbox, gateway } = service;
  if (event === "gateway:startup") return startedUp(service, event, fields);
  if (row.kind === "gateway") return await gateway.emit(event, fields);
  const call = callOf(live.registry, row, event, fields);
  const withheld = isWithheld(live.registry, event, fields);
  // Told now, since it is the event as fired; waited for after the hooks, since a queue that keeps
  // deliveries takes its time to be sure of them.
  const telling = withheld ? undefined : told(() => outbox.tell(call));
  telling?.catch(() => {}); // where a hook fails us first
  const verdict = isStreamEvent(event)
    ? streamed(service, call, fields, withheld)
    : await hooksOf(service, call, fields);
  const refused = await telling;
  return refused instanceof Response ? refused : verdict;
}

async function hooksOf({ live }: Service, call: Call, fields: Fields): Promise<Verdict> {
  // A reload must not end the plugins of an event under way.
  const release = live.plugins?.hold();
  try {
    const registration = await live.registration(call);
    return await runHooks(live.registry, registration, call, fields);
  } finally {
    release?.();
  }
}

/** rule 8.4: whoever streams waits for no hook; each has a queue of its own. */
function streamed({ live, streams }: Service, call: Call, fields: Fields, withheld: boolean) {
  if (!withheld) {
    const hooks = Promise.resolve(live.registration(call)).then((found) => found.hooks);
    streams.pushLater(hooks, call);
  }
  const warnings = warningsBefore(live.registry, undefined, call, fields);
  return reduce(call.event, fields, [], { warnings });
}

/** One event's answer, with a log line and its place in the metrics. */
export async function fireEvent(
  service: Service,
  request: Request,
  event: string,
  id: string,
): Promise<Response> {
  const began = performance.now();
  const refused = (answer: Response) => {
    service.metrics.refused(answer.status);
    logEvent(service, { id, event, ms: performance.now() - began, status: answer.status });
    return answer;
  };
  const row = gatewayRow(event) ?? firedRow(event);
  if (row instanceof Response) return refused(row);
  if (service.stopping) return refused(stoppingAnswer());
  const most = service.settings.max_inflight;
  if (service.inflight.size >= most) {
    const message = `${most} events are at work already (serve.max_inflight)`;
    const headers = { "retry-after": "1" };
    return refused(errorAnswer("too_many_requests", message, { headers }));
  }
  const answer = await service.inflight.run(async () => {
    const body = await readBody(request, service.settings.body_timeout * 1000);
    if (!body.ok) return body.answer;
    const read = readFields(body.text, event);
    if (!read.ok) return errorAnswer("bad_request", read.message);
    return await verdictOf(service, row, event, read.fields);
  });
  if (answer === ENDED) return refused(stoppingAnswer());
  if (answer instanceof Response) return refused(answer);
  // By the row's name: people make up as many commands as they like.
  service.metrics.answered(row.name, answer);
  logEvent(service, { id, event, ms: performance.now() - began, verdict: answer });
  return jsonAnswer(answer, 200, { "x-request-id": id });
}

interface EventLine {
  readonly id: string;
  readonly event: string;
  readonly ms: number;
  readonly verdict?: Verdict;
  /** Of a refusal. */
  readonly status?: number;
}

/** One line an event; what hooks said goes no further than debug. */
function logEvent({ log }: Service, { id, event, ms, verdict, status }: EventLine): void {
  if (!log.writes("info")) return;
  const list = (key: string) => {
    const value = verdict?.get(key);
    return Array.isArray(value) ? value : [];
  };
  const warnings = list("warnings");
  log.line("info", "event", {
    id,
    event,
    decision: verdict && stringAt(verdict, "decision"),
    status,
    hooks: verdict && list("hooks").length,
    ms: Math.round(ms * 100) / 100,
    warnings: warnings.length || undefined,
  });
  if (log.writes("debug")) { for (const text of warnings) log.line("debug", String(text), { id }); }
}
