/** Answers on `pre_llm_call`: a text to add to the turn (rule 4.3). */
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { directive, objectAt, quoted, reading, UNCOUNTED, usable } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  const places = [
    ["context", value.get("context")],
    ["additionalContext", objectAt(value, "hookSpecificOutput").get("additionalContext")],
  ] as const;
  const given = places.filter(([, text]) => text !== undefined);
  if (given.length === 0) return UNCOUNTED;
  for (const [, text] of given) {
    if (usable(text) !== undefined) return reading({ directive: directive([["context", text]]) });
  }
  // A blank text or null is a plain "nothing to add".
  const odd = given.filter(([, text]) => text !== null && typeof text !== "string");
  return reading({ malformed: odd.map(([key, text]) => `"${key}" is no string: ${quoted(text)}`) });
}

const advice = () => 'say {"context": "…"}';

/** `pre_llm_call` on stdout. */
export const context: Family = { read, advice };

/** `pre_llm_call` as plugins answer it: a plain non-blank string is a context too (rule 8.5). */
export const contextReturn: Family = {
  advice,
  read(value) {
    if (typeof value !== "string") return read(value);
    return usable(value) === undefined ? reading({}) : read(new Map([["context", value]]));
  },
};
