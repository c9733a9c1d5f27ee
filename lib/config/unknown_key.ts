/** What is said of a key that nobody reads. */
import { firstChars, printable } from "../events/json.ts";
import { nearest } from "../events/nearest.ts";

/** `unknown key "x", ignored: …`, with the nearest of the known keys, or all of them. */
export function unknownKeyText(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  const hint = near ? `did you mean "${near}"?` : `known are ${known.join(", ")}`;
  return `unknown key "${printable(firstChars(key, 80))}", ignored: ${hint}`;
}
