/** The context a handler gets: the fields as they came, two of them cut (rule 9.3). */
import { firstChars, type Json, type JsonObject } from "../../events/json.ts";

/** How much of a text is handed on, in code points. */
export const TEXT_CHARS = 500;

/** A copy with `message` and `response` cut; `gateway:startup` always has its `platforms`. */
export function contextFor(event: string, fields: ReadonlyMap<string, Json>): JsonObject {
  const context: JsonObject = new Map(fields);
  for (const key of ["message", "response"]) {
    const text = context.get(key);
    if (typeof text === "string") context.set(key, firstChars(text, TEXT_CHARS));
  }
  if (event === "gateway:startup" && !context.has("platforms")) context.set("platforms", []);
  return context;
}
