/** Is anybody told of an event? Asked at every `fire`, so it loads nothing and reads only the tree. */
import { at, type ConfigNode } from "../config/node.ts";
import { queueAsked } from "../config/queue_asked.ts";

/**
 * Does `hooks.outbound` concern this event: is there an entry that lists it, or nothing that could
 * be a list of targets, which is worth a warning? Whether the entry is any good is not asked.
 * @param root the whole config; undefined when there is none
 */
export function outboundConcerns(root: ConfigNode | undefined, event: string): boolean {
  const outbound = at(at(root, "hooks"), "outbound");
  if (outbound === undefined || isNull(outbound)) return false;
  if (outbound.kind !== "list") return true;
  return outbound.items.some((item) => listsEvent(item, event));
}

/** Is another queue than memory asked for? Whether what is asked for can be had is not asked. */
export function keepsDeliveries(root: ConfigNode | undefined): boolean {
  return queueAsked(root) !== "memory";
}

/** Where the entries stand that list this event, such as `hooks.outbound[1]`. */
export function concernedEntries(root: ConfigNode | undefined, event: string): readonly string[] {
  const outbound = at(at(root, "hooks"), "outbound");
  if (outbound === undefined || isNull(outbound)) return [];
  if (outbound.kind !== "list") return ["hooks.outbound"];
  return outbound.items.flatMap((item, i) =>
    listsEvent(item, event) ? [`hooks.outbound[${i}]`] : []
  );
}

function listsEvent(item: ConfigNode, event: string): boolean {
  const events = at(item, "events");
  // One event that is no list is a mistake that touches that event.
  const names = events?.kind === "list" ? events.items : events ? [events] : [];
  return names.some((name) =>
    name.kind === "scalar" && typeof name.value === "string" && name.value.trim() === event
  );
}

function isNull(node: ConfigNode): boolean {
  return node.kind === "scalar" && node.value === null;
}
