/** `schema [config|plugin|hook|payload EVENT]`: JSON Schemas, for editors and for checks elsewhere. */
import type { z } from "zod";
import type { Context } from "../context.ts";
import { fromJs, printable, writeJson } from "../events/json.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";

/** The files a schema can be had of. */
const FILES: Readonly<Record<string, () => Promise<z.ZodType>>> = {
  config: async () => (await import("../config/schema/config.ts")).configSchema,
  plugin: async () => (await import("../config/schema/folders.ts")).pluginManifestSchema,
  hook: async () => (await import("../config/schema/folders.ts")).hookYamlSchema,
};

async function payloadOf(event: string | undefined): Promise<unknown> {
  if (event === undefined) throw new UsageError("schema payload needs an event");
  const { payloadSchema } = await import("../events/payload_schema.ts");
  const schema = payloadSchema(event);
  if (schema) return schema;
  const { hintFor } = await import("../events/names.ts");
  const hint = hintFor(event) ?? "see hermes-hooks events";
  throw new UsageError(`unknown event "${printable(event)}": ${hint}`);
}

async function schemaOf([what = "config", ...rest]: readonly string[]): Promise<unknown> {
  const more = what === "payload" ? rest.slice(1) : rest;
  if (more.length > 0) throw new UsageError(`schema ${what} takes no "${printable(more[0]!)}"`);
  if (what === "payload") return await payloadOf(rest[0]);
  const file = Object.hasOwn(FILES, what) ? FILES[what] : undefined;
  if (!file) {
    throw new UsageError(
      `there is no schema of "${printable(what)}": config, plugin, hook or payload EVENT`,
    );
  }
  const { editorSchema } = await import("../config/schema/json_schema.ts");
  return editorSchema(await file(), what === "config");
}

/** Runs it; exit 0, or 64 for what there is no schema of. */
export async function schema(args: Args, io: Io, _context: Context): Promise<number> {
  io.out(writeJson(fromJs(await schemaOf(args.words)), { indent: 2 }) + "\n");
  return 0;
}
