/** What one hook said, and what all of them decided: the words every room speaks in. */
import type { Json, JsonObject } from "./json.ts";

/** Where a hook comes from. */
export type Source = "shell" | "plugin" | "gateway";

/**
 * What one hook asks for, in its one canonical shape whatever dialect it was said in
 * (rules 4.2–4.7): `{"action":"block","message":…}`, `{"action":"approve","message"?,"rule_key"?,"args"?}`,
 * `{"action":"modify","args":{…}}`, `{"context":…}`, `{"action":"continue","message":…}`,
 * `{"action":"skip","reason"?}`, `{"action":"rewrite","text":…}`, `{"action":"allow"}`,
 * `{"action":"handled","reply"?}`, `{"result"|"output"|"response_text":…}`,
 * `{"prompt"?,"language"?,"model"?}`. Key order is the order shown.
 */
export type Directive = JsonObject;

/** What came of running one hook. */
export interface Outcome {
  readonly source: Source;
  /** The command of a shell hook; the name of a plugin or gateway hook. */
  readonly name: string;
  /** `directive`: it asked for something; `none`: it had no opinion; `failed`: see `error`. */
  readonly outcome: "directive" | "none" | "failed";
  /** Wall time in milliseconds. */
  readonly durationMs: number;
  /** Present when it gave one, and when a closed gate's failure became a block (rule 4.12). */
  readonly directive?: Directive;
  /** Why it failed, in one line. */
  readonly error?: string;
  /** For the verdict's `warnings`, each naming the hook. */
  readonly warnings: readonly string[];
}

/** The verdict (rule 5.5) as it is printed: `event`, the event's own keys, `hooks`, `warnings`. */
export type Verdict = JsonObject;

/** The fields of an event, in the order the caller gave them. */
export type Fields = ReadonlyMap<string, Json>;
