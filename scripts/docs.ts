/**
 * Writes docs/reference-config.md from the schema of the config, and docs/reference-events.md from
 * the catalogue of events; `scripts/docs` calls it. Also runs under Deno.
 */
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { configReference } from "./docs_config.ts";
import { eventsReference } from "./docs_events.ts";

/** The generated pages, by their names in docs/. */
export const PAGES: Readonly<Record<string, () => string>> = {
  "reference-config.md": configReference,
  "reference-events.md": eventsReference,
};

if (import.meta.main) {
  const docs = path.join(path.dirname(import.meta.dirname!), "docs");
  for (const [name, write] of Object.entries(PAGES)) {
    fs.writeFileSync(path.join(docs, name), write());
    process.stdout.write(`wrote docs/${name}\n`);
  }
}
