/** The files that hooks in folders say of themselves: plugin.yaml and HOOK.yaml, as schemas. */
import { z } from "zod";
import { catalog, pluginEvents } from "../../events/catalog.ts";

const label = (description: string) =>
  z.union([z.string(), z.number()]).nullish().meta({ description });

/** plugin.yaml (rule 8.1). Keys that the agent reads may stand beside these. */
export const pluginManifestSchema = z.looseObject({
  name: label("the plugin's name: that of its folder, which counts"),
  version: label("shown by list"),
  description: label("shown by list"),
  provides_hooks: z.array(z.enum(pluginEvents())).nullish().meta({
    description: "the events it registers for: it is loaded for these only; " +
      "without it, it is loaded for every event to find out",
    examples: [["pre_tool_call"]],
  }),
  hooks: z.never().optional().meta({ description: "not read: write provides_hooks" }),
}).nullable().meta({ title: "plugin.yaml of a plugin", rule: "8.1" });

const names = catalog().filter(({ kind }) => kind === "gateway").map(({ name }) => name);
const exact = names.filter((name) => !name.includes("<"));
const wild = [...new Set(names.map((name) => `${name.replace(/:.*$/, "")}:*`))];
const subscription = z.union([
  z.enum([...exact, ...wild]),
  z.string().regex(/^command:[^\s*<>]+$/),
]);

/** HOOK.yaml (rules 9.1 and 9.2). */
export const hookYamlSchema = z.looseObject({
  name: z.string().nullish().describe("its name; default: that of its folder"),
  description: z.string().nullish().describe("shown by list"),
  events: z.union([z.array(subscription).min(1), subscription]).meta({
    description: "what it listens to: events, and all of a base, such as command:*",
    doc: "gateway event, or a list of them",
    examples: [["agent:end", "command:*"]],
  }),
}).meta({ title: "HOOK.yaml of a gateway hook", rule: "9.1, 9.2" });
