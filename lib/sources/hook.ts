/** One hook, one shape: what the dispatcher knows of a shell, plugin or gateway hook. */
import type { JsonObject } from "../events/json.ts";
import type { Fields, Outcome, Source } from "../events/outcome.ts";

/** One event on its way through the hooks; built once and shared by all of them. */
export interface Call {
  readonly event: string;
  /** The event's own fields, bare, in the caller's order: what plugins get. Default none. */
  readonly fields?: Fields;
  /** The wire form (rule 3.3). */
  readonly wire: JsonObject;
  /** The wire form as text: what a shell hook reads on stdin. */
  readonly text: string;
  /** The working folder of the event, absolute and existing (rule 3.2). */
  readonly cwd: string;
  /** Set when the event carries one: what matchers are compared with. */
  readonly toolName?: string;
}

/** Does a hook's matcher take this call? */
export interface Match {
  readonly matched: boolean;
  /** Why the answer is not certain, for the verdict's warnings. */
  readonly warning?: string;
}

/** A hook that is registered: it may run. */
export interface Hook {
  readonly source: Source;
  /** The command of a shell hook; the name of a plugin or gateway hook. */
  readonly name: string;
  readonly event: string;
  /** Absent: it takes every call of its event. */
  readonly matcher?: string;
  matches(call: Call): Match | Promise<Match>;
  /** Never throws: a failure is an outcome. */
  run(call: Call): Promise<Outcome>;
}
