/** Which kept deliveries a command line means. */
import type { KeptFilter, KeptState } from "../outbound/engine.ts";
import { readDuration } from "../config/duration.ts";
import { printable } from "../events/json.ts";
import { type Args, UsageError } from "./args.ts";

const STATES: readonly KeptState[] = ["waiting", "retrying", "sending", "dead"];

/** A moment: an ISO time, or an age such as `2h` before now. */
function moment(name: string, text: string, now: Date): Date {
  const age = /^[0-9]+[smhd]$/.test(text) ? readDuration(text) : undefined;
  if (age !== undefined) return new Date(now.getTime() - age);
  const date = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T.*)?$/.test(text) ? new Date(text) : undefined;
  if (date && !Number.isNaN(date.getTime())) return date;
  throw new UsageError(
    `--${name} takes a time such as 2026-01-31T12:00:00Z, or an age such as 90m, 2h or 7d, not ` +
      `"${printable(text)}"`,
  );
}

function states(given: readonly string[] | undefined): readonly KeptState[] | undefined {
  const wrong = given?.find((each) => !STATES.includes(each as KeptState));
  if (wrong === undefined) return given as readonly KeptState[] | undefined;
  throw new UsageError(`--state takes ${STATES.join(", ")}, not "${printable(wrong)}"`);
}

function idsOf(words: readonly string[]): readonly string[] {
  const wrong = words.find((word) => !/^[0-9a-f]{32}$/.test(word));
  if (wrong === undefined) return words;
  throw new UsageError(`"${printable(wrong)}" is no delivery's id: 32 hex digits`);
}

/**
 * Reads ids and options; `keysOf` finds a target's keys by its name.
 * @throws UsageError for what cannot be read, or a target that nobody knows
 */
export function filterOf(
  args: Args,
  words: readonly string[],
  now: Date,
  keysOf: (name: string) => readonly string[],
): KeptFilter {
  const { target, state, before, after, event } = args.options;
  const filter: { -readonly [K in keyof KeptFilter]: KeptFilter[K] } = {};
  if (words.length > 0) filter.ids = idsOf(words);
  if (target !== undefined) {
    filter.targets = keysOf(target);
    if (filter.targets.length === 0) throw new UsageError(`no target "${printable(target)}"`);
  }
  const wanted = states(state);
  if (wanted) filter.states = wanted;
  if (event !== undefined) {
    if (event.length > 1) throw new UsageError("--event is taken once here");
    filter.event = event[0];
  }
  if (before !== undefined) filter.before = moment("before", before, now);
  if (after !== undefined) filter.after = moment("after", after, now);
  return filter;
}

/** Does a filter say anything at all? */
export function isEmpty(filter: KeptFilter): boolean {
  return Object.keys(filter).length === 0;
}
