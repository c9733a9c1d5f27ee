/** `prompt-sections`: what plugins would add to a new session's system prompt. */
import type { Context } from "../context.ts";
import { openPlugins } from "../dispatch/plugins.ts";
import { readRegistry } from "../dispatch/registry.ts";
import {
  isObject,
  type Json,
  JsonNumber,
  parseJson,
  printable,
  writeJson,
} from "../events/json.ts";
import { notLoaded } from "../sources/plugin/plugins.ts";
import { promptSections, type Section, SESSION_KEYS } from "../sources/plugin/sections.ts";
import type { SessionInfo } from "../sources/plugin/sections.ts";
import { problemText } from "../events/problem.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";

/**
 * The new session as told, over what we know ourselves.
 * @throws UsageError when it is no JSON object of strings, or names something else
 */
function sessionInfo(given: string | undefined, context: Context): SessionInfo {
  const info: Record<(typeof SESSION_KEYS)[number], string> = {
    session_id: "",
    model: "",
    provider: "",
    platform: "cli",
    profile_name: context.profile,
    cwd: context.startFolder,
  };
  for (const [key, value] of readObject(given)) {
    const known = SESSION_KEYS.find((each) => each === key);
    if (!known) {
      throw new UsageError(
        `--session-info: unknown key "${printable(key)}"; known are ${SESSION_KEYS.join(", ")}`,
      );
    }
    if (value === null) continue;
    if (typeof value !== "string") throw new UsageError(`--session-info: "${key}" is no string`);
    info[known] = value;
  }
  return info;
}

function readObject(given: string | undefined): ReadonlyMap<string, Json> {
  if (given === undefined) return new Map();
  let value: Json;
  try {
    value = parseJson(given);
  } catch (error) {
    throw new UsageError(`--session-info is not JSON: ${printable((error as Error).message)}`);
  }
  if (isObject(value)) return value;
  throw new UsageError('--session-info takes a JSON object, such as {"session_id": "s1"}');
}

function sectionJson({ plugin, id, position, chars, text }: Section): Json {
  return new Map<string, Json>([
    ["plugin", plugin],
    ["id", id],
    ["position", position],
    ["chars", new JsonNumber(String(chars))],
    ["text", text],
  ]);
}

/** Runs it: prints the block alone; exit 1 when a plugin or a section had to be left out. */
export async function promptSectionsCommand(
  args: Args,
  io: Io,
  context: Context,
): Promise<number> {
  if (args.words.length > 0) throw new UsageError("prompt-sections takes no further words");
  const info = sessionInfo(args.options["session-info"], context);
  const registry = await readRegistry(context);
  const { settings, plugins: { problems } } = registry;
  const plugins = await openPlugins(registry);
  try {
    const loaded = await plugins?.loadAll() ?? [];
    const made = await promptSections(loaded, info, settings.plugins.callbackTimeout * 1000);
    const warnings = [
      ...problems.map(problemText),
      ...loaded.flatMap(({ plugin, error }) => error ? [notLoaded(plugin.name, error)] : []),
      ...made.warnings,
    ];
    if (registry.safeMode) warnings.push("safe mode: HERMES_SAFE_MODE is set, no plugin is loaded");
    if (args.options.json) {
      const json = new Map<string, Json>([
        ["sections", made.sections.map(sectionJson)],
        ["block", made.block],
        ["warnings", warnings],
      ]);
      io.out(writeJson(json, { printable: true }) + "\n");
    } else {
      if (made.block) io.out(printable(made.block, true) + "\n");
      for (const text of warnings) io.err(`hermes-hooks: warning: ${printable(text)}\n`);
    }
    return warnings.length > 0 ? 1 : 0;
  } finally {
    await plugins?.close();
  }
}
