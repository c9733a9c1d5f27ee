/** What a callback returned, on its way to be read. */
import { fromJs, type Json } from "../../events/json.ts";

/** The value as JSON, where what is no text does not become one (rule 8.5): it is put in a list. */
export function returnedJson(value: unknown): Json {
  const json = fromJs(value);
  return typeof json === "string" && typeof value !== "string" ? [json] : json;
}
