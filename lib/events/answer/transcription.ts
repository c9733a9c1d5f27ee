/** Answers on `pre_transcription`: `prompt`, `language`, `model`, strings only (rule 4.7). */
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { directive, quoted, reading } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

/** The fields that may be set, in the order of the verdict. */
export const TRANSCRIPTION_FIELDS = ["prompt", "language", "model"] as const;

function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  const given = TRANSCRIPTION_FIELDS.filter((key) => value.has(key));
  const set = given.filter((key) => typeof value.get(key) === "string");
  const odd = given.filter((key) => value.get(key) !== null && !set.includes(key));
  const path = value.has("file_path");
  return reading({
    ...(set.length > 0 && { directive: directive(set.map((key) => [key, value.get(key)])) }),
    warnings: path ? ['"file_path" is read-only: ignored'] : [],
    hints: odd.map((key) => `"${key}" is no string: ${quoted(value.get(key))}, ignored`),
    counted: given.length > 0 || path,
  });
}

/** `pre_transcription`, from shell hooks and plugins. */
export const transcription: Family = {
  read,
  advice: () => 'say {"prompt": "…"}, "language" or "model"',
};
