/** Answers on `transform_api_error_classification`, which only plugins give (rule 5.4). */
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { directive, quoted, reading, UNCOUNTED, usable } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  if (!value.has("reason")) return UNCOUNTED;
  const reason = usable(value.get("reason"))?.trim().toLowerCase();
  if (reason === undefined) {
    return reading({ malformed: [`"reason" says nothing: ${quoted(value.get("reason"))}`] });
  }
  const classification: JsonObject = new Map<string, Json>([["reason", reason]]);
  for (const [key, flag] of value) {
    const known = key === "retryable" || key.startsWith("should_");
    if (known && typeof flag === "boolean") classification.set(key, flag);
  }
  return reading({ directive: directive([["classification", classification]]) });
}

/** `transform_api_error_classification`; its directive is `{"classification": {"reason", …}}`. */
export const classification: Family = {
  read,
  advice: () => 'a classification needs a "reason"',
};
