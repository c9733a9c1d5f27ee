/** A command as the words it stands for. */
import { splitWords, WordsError } from "../words.ts";
import type { CommandPlace } from "./place.ts";
import { type Refusal, refuse } from "./refusal.ts";

/** Its words with `~` expanded in each (rule 3.1); a refusal when it cannot be parsed. */
export function commandWords(
  command: string,
  place: Pick<CommandPlace, "expandTilde" | "windows">,
): string[] | Refusal {
  try {
    const words = splitWords(command, { keepBackslashes: place.windows ?? false });
    return words.map(place.expandTilde);
  } catch (error) {
    if (error instanceof WordsError) return refuse("cannot be parsed", error.message);
    throw error;
  }
}
