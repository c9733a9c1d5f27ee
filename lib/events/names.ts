/** Names that are no event here, and what was probably meant (rule 2.1). */
import { catalog, findEvent } from "./catalog.ts";
import { foreignEvents } from "./foreign.ts";
import { nearest, plain } from "./nearest.ts";

export { editDistance, nearest } from "./nearest.ts";

/** Where the name stands: under `hooks:` (or an outbound target's events), or in a HOOK.yaml. */
export type Place = "config" | "hook_yaml";

const IN_HOOK_YAML = "gateway event: belongs in a HOOK.yaml under <home>/hooks";
const IN_CONFIG = "plugin event: belongs under hooks: in config.yaml, or in a plugin";

/**
 * What to say of a name that cannot stand where it was found: `did you mean "pre_tool_call"?`,
 * that it belongs elsewhere, or what to use for another agent's event. Undefined: nothing comes
 * to mind, or the name is fine there.
 */
export function hintFor(name: string, place: Place = "config"): string | undefined {
  if (findEvent(name) || isWildcard(name)) return misplaced(name, place);
  // Spelt our way, it is a slip; spelt theirs, it was brought along.
  const ours = place === "hook_yaml" || name.includes("_");
  return (ours ? slip(name, place) ?? foreign(name) : foreign(name) ?? slip(name, place)) ??
    slipElsewhere(name, place);
}

function misplaced(name: string, place: Place): string | undefined {
  const row = findEvent(name);
  if (place === "hook_yaml") return row && row.kind !== "gateway" ? IN_CONFIG : undefined;
  if (row?.pluginOnly) return "plugin-only event: register it in a plugin";
  return row && row.kind !== "gateway" ? undefined : IN_HOOK_YAML;
}

/** `agent:*` and its like, for a base that has events. */
function isWildcard(name: string): boolean {
  return /^[a-z]+:\*$/.test(name) &&
    catalog().some((row) => row.kind === "gateway" && row.name.startsWith(name.slice(0, -1)));
}

function foreign(name: string): string | undefined {
  const wanted = plain(name);
  const entry = foreignEvents().find(([theirs]) => plain(theirs) === wanted);
  if (!entry) return undefined;
  const [, agents, advice] = entry;
  const last = agents[agents.length - 1];
  const who = agents.length === 1 ? last : `${agents.slice(0, -1).join(", ")} and ${last}`;
  return `${who} event: ${advice}`;
}

function namesFor(place: Place): string[] {
  const gateway = place === "hook_yaml";
  return catalog().filter((row) => (row.kind === "gateway") === gateway).map((row) => row.name);
}

function slip(name: string, place: Place): string | undefined {
  const near = nearest(name, namesFor(place));
  return near && `did you mean "${near}"?`;
}

/** A slip for a name that would be wrong here too: says so at once. */
function slipElsewhere(name: string, place: Place): string | undefined {
  const other = nearest(name, namesFor(place === "config" ? "hook_yaml" : "config"));
  if (other) return `did you mean "${other}"? ${misplaced(other, place)}`;
  const theirs = nearest(name, foreignEvents().map(([each]) => each));
  return theirs && `did you mean "${theirs}"? ${foreign(theirs)}`;
}
