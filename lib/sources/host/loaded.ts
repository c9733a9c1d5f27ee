/** What a host says of the file it loaded. */
import {
  isObject,
  type Json,
  JsonNumber,
  type JsonObject,
  printable,
  stringAt,
} from "../../events/json.ts";
import type { HostedSection, Loaded } from "./host.ts";

/** Reads the message; what is not of its form is left out, since the plugin's code could write it. */
export function readLoaded(message: JsonObject): Loaded {
  if (message.get("loaded") !== true) {
    return { ok: false, error: printable(stringAt(message, "error") ?? "") };
  }
  return {
    ok: true,
    callbacks: objectsAt(message, "callbacks").map((item) => ({
      id: numberAt(item, "id") ?? -1,
      event: stringAt(item, "event") ?? "",
    })),
    sections: objectsAt(message, "sections").map(readSection),
    warnings: listAt(message, "warnings").map((warning) => printable(String(warning))),
  };
}

function readSection(item: JsonObject): HostedSection {
  const content = item.get("content");
  const given: JsonObject = isObject(content) ? content : new Map();
  const callback = numberAt(given, "callback");
  return {
    id: stringAt(item, "id") ?? "",
    position: stringAt(item, "position") ?? "",
    maxChars: (item.get("max_chars") ?? null) === null
      ? undefined
      : numberAt(item, "max_chars") ?? NaN,
    content: callback === undefined ? { text: given.get("text") ?? null } : { callback },
  };
}

function listAt(message: JsonObject, key: string): readonly Json[] {
  const value = message.get(key);
  return Array.isArray(value) ? value : [];
}

function objectsAt(message: JsonObject, key: string): readonly JsonObject[] {
  return listAt(message, key).filter(isObject);
}

function numberAt(message: JsonObject, key: string): number | undefined {
  const value = message.get(key);
  return value instanceof JsonNumber ? value.valueOf() : undefined;
}
