/** What a gateway hook may listen to: an event by name, or all events of a base (rule 9.2). */
import type { ConfigNode } from "../../config/node.ts";
import { catalog, type EventRow, findEvent } from "../../events/catalog.ts";
import { hintFor } from "../../events/names.ts";
import { printable } from "../../events/json.ts";

/** The row that stands for every command is no event by its own name. */
const PLACEHOLDER = "command:<name>";

/** The row of a gateway event that can be fired, `command:model` included; undefined for others. */
export function gatewayRow(event: string): EventRow | undefined {
  if (event === PLACEHOLDER) return undefined;
  const row = findEvent(event);
  return row?.kind === "gateway" ? row : undefined;
}

/** `command` of `command:model`. */
export function baseOf(event: string): string {
  return event.slice(0, Math.max(0, event.indexOf(":")));
}

/** Do events of this base exist? */
function isBase(base: string): boolean {
  return catalog().some(({ kind, name }) => kind === "gateway" && baseOf(name) === base);
}

/** An event that is none, and what was probably meant; for a HOOK.yaml and the command line. */
export function unknownEvent(event: string): string {
  if (event === PLACEHOLDER) return `"${PLACEHOLDER}" stands for any: name one, or "command:*"`;
  if (event.includes("*")) return `"${printable(event)}" is no single event, such as "agent:end"`;
  const hint = hintFor(event, "hook_yaml");
  return `unknown event "${printable(event)}"${hint ? `: ${hint}` : ""}`;
}

/** An event to try a subscription with: itself, or the first of its base. */
export function exampleOf(subscription: string): string {
  if (subscription === "command:*") return "command:model";
  if (!subscription.endsWith(":*")) return subscription;
  const base = baseOf(subscription);
  const row = catalog().find(({ kind, name }) => kind === "gateway" && baseOf(name) === base);
  return row?.name ?? subscription;
}

/** Why a word cannot be listened to; undefined when it can. */
function refusal(word: string): string | undefined {
  if (!word.includes("*")) return gatewayRow(word) ? undefined : unknownEvent(word);
  const base = /^([^:*]+):\*$/.exec(word)?.[1];
  if (base !== undefined && isBase(base)) return undefined;
  const shown = printable(word);
  if (word === "*") return `"*" alone is no event: name a base, such as "agent:*"`;
  if (base !== undefined) return `no event starts with "${printable(base)}:"`;
  return `"${shown}" is no event: a wildcard is a base and ":*", such as "command:*"`;
}

/** Says what is wrong with a node, and where below `events`. */
export type SayAt = (node: ConfigNode, path: string, message: string) => void;

/**
 * The events a hook listens to, each once, in the order written; what is none is told and left out.
 * @param events the value of `events`: a list, or one string read as one item
 */
export function readSubscriptions(events: ConfigNode, say: SayAt): string[] {
  const items = events.kind === "list" ? events.items : [events];
  const found = new Set<string>();
  items.forEach((item, index) => {
    const path = events.kind === "list" ? `[${index}]` : "";
    if (item.kind !== "scalar" || typeof item.value !== "string") {
      return say(item, path, "expected the name of an event; left out");
    }
    const word = item.value.trim();
    const why = refusal(word);
    if (why === undefined) return found.add(word);
    const list = events.kind !== "list" && /[\s,]/.test(word) ? "; several events are a list" : "";
    say(item, path, `${why}; left out${list}`);
  });
  return [...found];
}
