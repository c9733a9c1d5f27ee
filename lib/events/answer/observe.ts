/** Answers on events that only observe: whatever is said, nothing comes of it (rule 4.8). */
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { quoted, reading } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";
import { asksNothing, toolCall } from "./tool_call.ts";

function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  if (value.size === 0 || asksNothing(value)) return reading({});
  const asks = toolCall.read(value)?.counted;
  const what = asks ? "this event cannot block" : "this event only observes";
  return reading({ hints: [`${what}: ${quoted(value)} counts for nothing here`] });
}

/** Every event that neither decides nor transforms. */
export const observe: Family = { read, advice: () => "" };
