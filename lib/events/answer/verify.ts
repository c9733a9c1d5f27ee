/** Answers on `pre_verify`: keep the agent going, with a message (rule 4.4). */
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { badVerb, directive, firstUsable, reading, UNCOUNTED, verbAt } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

const SAY = 'say {"action": "continue", "message": "…"}';

// What each key says to go on, and what it may say to let the turn end.
const KEYS = [
  { key: "action", go: "continue", end: ["finish", "allow"], text: ["message", "reason"] },
  { key: "decision", go: "block", end: ["approve", "allow"], text: ["reason", "message"] },
] as const;

function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  const malformed: string[] = [];
  let counted = false;
  for (const { key, go, end, text } of KEYS) {
    if (!value.has(key)) continue;
    counted = true;
    const verb = verbAt(value, key);
    if (verb === go) {
      const message = firstUsable(value, text)?.trim();
      if (message !== undefined) {
        return reading({
          directive: directive([["action", "continue"], ["message", message]]),
          malformed,
        });
      }
      malformed.push(`"${go}" without a message keeps nobody going: ${SAY}`);
    } else if (!end.some((word) => word === verb)) {
      malformed.push(badVerb(key, value.get(key), `${go}; ${SAY}`));
    }
  }
  return counted ? reading({ malformed }) : UNCOUNTED;
}

/** `pre_verify`, from shell hooks and plugins. */
export const verify: Family = { read, advice: () => SAY };
