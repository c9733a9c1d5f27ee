/** `<home>/.env` from disk (rule 1.3). */
import { statSync } from "node:fs";
import path from "node:path";
import { parseDotenv } from "./dotenv.ts";
import { readTextFile } from "./text_file.ts";

/**
 * The variables of `<home>/.env`; none when it is missing, no regular file (a pipe without a writer
 * would hang us), or unreadable. Never throws.
 */
export function readDotenv(home: string): ReadonlyMap<string, string> {
  const file = path.join(home, ".env");
  try {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return new Map();
  } catch {
    return new Map();
  }
  const read = readTextFile(file);
  return read.state === "read" ? parseDotenv(read.text) : new Map();
}
