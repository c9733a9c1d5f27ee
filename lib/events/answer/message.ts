/** Answers on a message's way into the gateway (rules 4.5 and 4.5b). */
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { badVerb, directive, quoted, reading, UNCOUNTED, usable, verbAt } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

function readDispatch(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  if (!value.has("action")) return UNCOUNTED;
  const verb = verbAt(value, "action");
  if (verb === "allow") return reading({ directive: directive([["action", "allow"]]) });
  if (verb === "skip") {
    return reading({
      directive: directive([["action", "skip"], ["reason", usable(value.get("reason"))]]),
    });
  }
  if (verb === "rewrite") return rewrite(value);
  return reading({ malformed: [badVerb("action", value.get("action"), "skip, rewrite, allow")] });
}

function rewrite(value: JsonObject): Reading {
  const text = value.get("text");
  if (typeof text === "string") {
    return reading({ directive: directive([["action", "rewrite"], ["text", text]]) });
  }
  return reading({ malformed: [`a rewrite without a string "text": ${quoted(value)}`] });
}

/** `pre_gateway_dispatch`. */
export const dispatch: Family = {
  read: readDispatch,
  advice: () => 'the verb stands under "action": skip, rewrite or allow',
};

function readAdmission(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  if (!value.has("action")) return UNCOUNTED;
  const verb = verbAt(value, "action");
  if (verb === "handled") {
    return reading({
      directive: directive([["action", "handled"], ["reply", usable(value.get("reply"))]]),
    });
  }
  if (verb === "continue" || verb === "allow") return reading({});
  return reading({ malformed: [badVerb("action", value.get("action"), "handled")] });
}

/** `post_gateway_admission`. */
export const admission: Family = {
  read: readAdmission,
  advice: () => 'say {"action": "handled", "reply": "…"}',
};
