/**
 * The catalogue of events (rule 7): the one place that knows an event. To add one, add a row to
 * its family's file in `catalog/`; validation, samples, docs and the verdict read it from here.
 */
import type { EventKind, EventRow } from "./catalog/row.ts";
import { api } from "./catalog/api.ts";
import { approval } from "./catalog/approval.ts";
import { auxiliary } from "./catalog/auxiliary.ts";
import { command } from "./catalog/command.ts";
import { gateway } from "./catalog/gateway.ts";
import { gatewayHook } from "./catalog/gateway_hook.ts";
import { human } from "./catalog/human.ts";
import { kanban } from "./catalog/kanban.ts";
import { loop } from "./catalog/loop.ts";
import { room } from "./catalog/room.ts";
import { session } from "./catalog/session.ts";
import { skill } from "./catalog/skill.ts";
import { stream } from "./catalog/stream.ts";
import { subagent } from "./catalog/subagent.ts";
import { tool } from "./catalog/tool.ts";
import { transcription } from "./catalog/transcription.ts";
import { turn } from "./catalog/turn.ts";

export type {
  BaseType,
  EventKind,
  EventRow,
  Field,
  FieldType,
  Plain,
  Variant,
} from "./catalog/row.ts";

// The order of the families is the order events are listed in, within each kind. A family builds
// its rows when it is first asked: most of the time `fire` only needs the first one.
const FAMILIES: readonly (() => readonly EventRow[])[] = [
  tool,
  turn,
  transcription,
  api,
  stream,
  session,
  skill,
  subagent,
  gateway,
  command,
  auxiliary,
  loop,
  human,
  room,
  approval,
  kanban,
  gatewayHook,
];

/** The row that stands for every slash command; its name is a placeholder. */
const ANY_COMMAND = "command:<name>";

const found = new Map<string, EventRow>();
let asked = 0;

/** Builds the next family. False: there is none left. */
function askNext(): boolean {
  const family = FAMILIES[asked];
  if (!family) return false;
  asked++;
  for (const row of family()) found.set(row.name, row);
  return true;
}

function exactly(name: string): EventRow | undefined {
  while (!found.has(name) && askNext());
  return found.get(name);
}

/**
 * The row of an event, or undefined when there is none. Names are exact; `command:model` and any
 * other command find the row `command:<name>`, the wildcard `command:*` finds none.
 */
export function findEvent(name: string): EventRow | undefined {
  const row = exactly(name);
  if (row || !name.startsWith("command:") || !/^.{8}[^\s*]+$/.test(name)) return row;
  return exactly(ANY_COMMAND);
}

const KINDS: readonly EventKind[] = ["directive", "transform", "observe", "gateway"];

/** All events: directive, transform, observe, gateway; in rule 7's order within each kind. */
export function catalog(): readonly EventRow[] {
  while (askNext());
  const rows = [...found.values()];
  return KINDS.flatMap((kind) => rows.filter((row) => row.kind === kind));
}

/** Every event that shell hooks, plugins and outbound targets may name: all but the gateway's. */
export function pluginEvents(): string[] {
  return catalog().filter((row) => row.kind !== "gateway").map((row) => row.name);
}

/** Whether it is an event for HOOK.yaml: `agent:end`, `command:model`; not a wildcard. */
export function isGatewayEvent(name: string): boolean {
  return findEvent(name)?.kind === "gateway";
}
