/** Answers that replace a text: a string, or an object with the field replaced (rule 4.6). */
import { isObject } from "../json.ts";
import { directive, quoted, reading, UNCOUNTED } from "./reading.ts";
import type { Family } from "./reading.ts";

/**
 * The family of one transform.
 * @param field the field it replaces, such as `result`
 * @param emptyCounts may the replacement be the empty string?
 */
export function transform(field: string, emptyCounts: boolean): Family {
  return {
    advice: () => `say {"${field}": "…"}`,
    read(value) {
      if (!isObject(value) && typeof value !== "string") return undefined;
      const text = isObject(value) ? value.get(field) : value;
      if (text === undefined) return UNCOUNTED;
      if (typeof text !== "string") {
        const odd = text === null ? [] : [`"${field}" is no string: ${quoted(text)}`];
        return reading({ malformed: odd });
      }
      if (text === "" && !emptyCounts) return reading({});
      return reading({ directive: directive([[field, text]]) });
    },
  };
}
