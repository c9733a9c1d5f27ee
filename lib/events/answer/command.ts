/** What gateway handlers return for `command:<name>` (rule 9.3). */
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { badVerb, directive, quoted, reading, UNCOUNTED, usable, verbAt } from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  if (!value.has("decision")) return UNCOUNTED;
  const verb = verbAt(value, "decision");
  if (verb === "allow") return reading({});
  if (verb === "deny" || verb === "handled") {
    return reading({
      directive: directive([["decision", verb], ["message", usable(value.get("message"))]]),
    });
  }
  if (verb !== "rewrite") {
    const expected = "deny, handled, rewrite, allow";
    return reading({ malformed: [badVerb("decision", value.get("decision"), expected)] });
  }
  const name = usable(value.get("command_name"))?.trim();
  if (name === undefined) {
    return reading({ malformed: [`a rewrite without a "command_name": ${quoted(value)}`] });
  }
  const raw = value.get("raw_args");
  return reading({
    directive: directive([
      ["decision", "rewrite"],
      ["command_name", name],
      ["raw_args", typeof raw === "string" ? raw : undefined],
    ]),
  });
}

/** `command:<name>`, from gateway handlers. */
export const command: Family = {
  read,
  advice: () => 'the verb stands under "decision": deny, handled, rewrite or allow',
};
