/** The bus: an event in, its hooks one after another, one verdict out. */
import { statSync } from "node:fs";
import path from "node:path";
import type { EventRow } from "../events/catalog.ts";
import { isObject, type Json, type JsonObject, stringAt, writeJson } from "../events/json.ts";
import type { Fields, Outcome, Verdict } from "../events/outcome.ts";
import { sessionId, toolName, toWire } from "../events/payload.ts";
import { nudgeLimit, reduce } from "../events/verdict.ts";
import { problemText } from "../events/problem.ts";
import type { Call, Hook } from "../sources/hook.ts";
import type { ConsentOptions, PluginSource, Registration } from "./register.ts";
import { register } from "./register.ts";
import { type Registry, touches } from "./registry.ts";

/** The event's own folder when it is absolute and there, else ours (rule 3.2). */
function workingFolder(fields: Fields, startFolder: string): string {
  const cwd = fields.get("cwd");
  if (typeof cwd !== "string" || !path.isAbsolute(cwd) || cwd.includes("\0")) return startFolder;
  return isFolder(cwd) ? cwd : startFolder;
}

function isFolder(cwd: string): boolean {
  try {
    return statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // no permission, too long a name: as if it were not there
  }
}

/** One event as its hooks see it. */
export function callOf(registry: Registry, row: EventRow, event: string, fields: Fields): Call {
  const { startFolder, profile } = registry.context;
  const cwd = workingFolder(fields, startFolder);
  // Built when first asked for: an event without hooks or targets needs neither.
  let wire: JsonObject | undefined, text: string | undefined;
  return {
    event,
    fields,
    cwd,
    // An empty name is none: a matcher such as ".*" must not take it for a tool.
    toolName: toolName(fields) || undefined,
    get wire() {
      return wire ??= toWire(event, fields, { cwd, profile, telemetry: row.telemetry });
    },
    get text() {
      return text ??= writeJson(this.wire);
    },
  };
}

/** rule 8.1b: what the gateway says to itself is nobody's to judge, or to be told. */
export function isInternal(event: string, fields: Fields): boolean {
  const message = fields.get("event");
  return event === "pre_gateway_dispatch" && isObject(message) && message.get("internal") === true;
}

/** rule 8.4: the model's reasoning is sent to nobody who did not ask for it. */
function isWithheldReasoning(registry: Registry, event: string, fields: Fields): boolean {
  return event === "on_stream_delta" && fields.get("kind") === "reasoning" &&
    !registry.settings.plugins.streamReasoning;
}

const WITHHELD = "a reasoning delta goes to no hook without plugins.stream_reasoning_deltas: true";

/** Is this event kept from hooks and from those outside (rules 8.1b and 8.4)? */
export function isWithheld(registry: Registry, event: string, fields: Fields): boolean {
  return isInternal(event, fields) || isWithheldReasoning(registry, event, fields);
}

/** rule 2.4: a tool call without a tool's name passes by every gate with a matcher. */
function passedBy(hooks: readonly Hook[], call: Call): string[] {
  if (call.event !== "pre_tool_call" || call.toolName !== undefined) return [];
  const names = hooks.filter((hook) => hook.matcher !== undefined).map((hook) => `"${hook.name}"`);
  if (names.length === 0) return [];
  return [`the event has no tool_name, so hooks with a matcher did not run: ${names.join(", ")}`];
}

async function runMatching(
  hooks: readonly Hook[],
  call: Call,
  warnings: string[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const hook of hooks) {
    const match = hook.matcher === undefined ? undefined : await hook.matches(call);
    if (match?.warning) warnings.push(match.warning);
    if (match && !match.matched) continue;
    // rule 5.2: all matching hooks run, also after a block
    outcomes.push(await hook.run(call));
  }
  return outcomes;
}

/** What is said of an event before any hook has run: what of the config touches it, and consent. */
export function warningsBefore(
  registry: Registry,
  registration: Registration | undefined,
  call: Call,
  fields: Fields,
): string[] {
  const { problems, allowlist } = registry;
  const warnings = problems
    .filter((p) => p.file === allowlist.file || touches(p, call.event))
    .map(problemText);
  warnings.push(...registration?.warnings ?? []);
  if (isWithheldReasoning(registry, call.event, fields)) warnings.push(WITHHELD);
  return warnings;
}

/** Runs registered hooks on a call and reduces what they said. */
export async function runHooks(
  registry: Registry,
  registration: Registration,
  call: Call,
  fields: Fields,
): Promise<Verdict> {
  const { settings } = registry;
  const warnings = warningsBefore(registry, registration, call, fields);
  const limit = call.event === "pre_verify" && nudgeLimit(fields, settings.maxVerifyNudges);
  if (limit) warnings.push(limit);
  const runs = limit || isWithheld(registry, call.event, fields) ? [] : registration.hooks;
  warnings.push(...passedBy(runs, call));
  const outcomes = await runMatching(runs, call, warnings);
  const shortened = await shortenContexts(registry, fields, outcomes);
  return reduce(call.event, fields, shortened, { warnings });
}

/** rule 5.3b: what stands in for a long context stands in for it everywhere in the verdict. */
async function shortenContexts(
  registry: Registry,
  fields: Fields,
  outcomes: readonly Outcome[],
): Promise<readonly Outcome[]> {
  const { settings, context: { home }, host: { expandTilde } } = registry;
  if (!outcomes.some((o) => tooLong(o, settings.spill.maxChars))) return outcomes;
  const { spill } = await import("./spill.ts");
  const place = { settings: settings.spill, home, session: sessionId(fields), expandTilde };
  return outcomes.map((outcome) => {
    const text = outcome.directive && stringAt(outcome.directive, "context");
    if (text === undefined) return outcome;
    return {
      ...outcome,
      directive: new Map([...outcome.directive!, ["context", spill(text, place)]]),
    };
  });
}

function tooLong(outcome: Outcome, maxChars: number): boolean {
  const context = outcome.directive && stringAt(outcome.directive, "context");
  return context !== undefined && context.length > maxChars;
}

/**
 * Gets a call ready for those outside before its hooks run; what it gives is called once the
 * verdict is known, hands the call over, and gives warnings for the verdict.
 */
export type Tell = (call: Call) => () => Promise<readonly string[]>;

/** Will this event run no hook whatever is registered (rules 5.4, 8.1b, 8.4)? */
function runsNothing(registry: Registry, event: string, fields: Fields): boolean {
  if (isWithheld(registry, event, fields)) return true;
  return event === "pre_verify" && !!nudgeLimit(fields, registry.settings.maxVerifyNudges);
}

/**
 * The whole of it: consent, hooks, verdict, and then telling those outside.
 * @param plugins the home's, or undefined; no host is started for an event that runs no hook
 * @param tell told of the event as it was fired, once the verdict is known, also of a blocked one
 *   (rule 10.2); not in safe mode (rule 6.7), nor of what is withheld (rules 8.1b and 8.4)
 */
export async function dispatch(
  registry: Registry,
  row: EventRow,
  event: string,
  fields: ReadonlyMap<string, Json>,
  consent: ConsentOptions,
  plugins?: PluginSource,
  tell?: Tell,
): Promise<Verdict> {
  const call = callOf(registry, row, event, fields);
  const wanted = runsNothing(registry, event, fields) ? undefined : plugins;
  const registration = await register(registry, call, consent, wanted);
  const told = !registry.safeMode && !isWithheld(registry, event, fields)
    ? tell?.(call)
    : undefined;
  const verdict = await runHooks(registry, registration, call, fields);
  if (told) {
    const before = verdict.get("warnings");
    verdict.set("warnings", [...(Array.isArray(before) ? before : []), ...await told()]);
  }
  return verdict;
}
