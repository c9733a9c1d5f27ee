/** docs/reference-config.md: every key of the config, from its schema. */
import { configSchema } from "../lib/config/schema/config.ts";
import { hookYamlSchema, pluginManifestSchema } from "../lib/config/schema/folders.ts";
import { describedSchema, type JsonSchema } from "../lib/config/schema/json_schema.ts";
import { block, code, pageHead, table, wrap } from "./docs_markdown.ts";

/** A config with every block; a test holds it against the loaders. */
export const EXAMPLE = `hooks:
  pre_tool_call:
    - matcher: "terminal|write_file"
      command: "~/.hermes/agent-hooks/check.sh --strict"
      timeout: 10
      fail_closed: true
  on_session_end:
    - command: ~/.hermes/agent-hooks/log-session.sh
  outbound:
    - name: ci-notify
      url: https://ci.example.com/hermes-events
      events: [on_session_end, subagent_stop]
      secret_env: HERMES_OUTBOUND_WEBHOOK_SECRET
  output_spill:
    max_chars: 10000
hooks_auto_accept: false
plugins:
  enabled: [guard]
  hook_callback_timeout: 30
  fail_closed: true
agent:
  max_verify_nudges: 3
hermes_hooks:
  serve:
    listen: 127.0.0.1:8645
    token_env: HERMES_HOOKS_TOKEN
    max_inflight: 256
  hosts:
    memory_mb: 512`;

const shown = (value: unknown) => code(typeof value === "string" ? value : JSON.stringify(value));

/** More words than this are not listed but linked to. */
const LISTED = 20;

function typeText(schema: JsonSchema): string {
  if (schema.doc !== undefined) return schema.doc;
  const words = (schema.enum ?? []).filter((word) => word !== null);
  if (words.length > LISTED) return "[event](reference-events.md)";
  if (words.length > 0) return words.map(shown).join(" or ");
  if (schema.const !== undefined) return shown(schema.const);
  if (schema.not) return "nothing";
  if (schema.anyOf) {
    // A number that may be written as a string: worth no word in every row.
    if (schema.anyOf.some(({ minimum }) => minimum !== undefined)) return "number";
    return [...new Set(schema.anyOf.map(typeText).filter((text) => text !== ""))].join(" or ");
  }
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  return types.map((type) => {
    if (type === "object") return "mapping";
    if (type === "integer") return "whole number";
    if (type !== "array") return String(type);
    const inside = schema.items ? typeText(schema.items) : "";
    return inside === "" || schema.items?.$ref ? "list" : `list: ${inside}`;
  }).join(" or ");
}

function boundsText({ anyOf = [], ...schema }: JsonSchema): string {
  const bounded = [schema, ...anyOf].find((each) => (each as JsonSchema).minimum !== undefined);
  if (!bounded) return "";
  const { minimum, maximum } = bounded as JsonSchema;
  return maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`;
}

interface Block {
  readonly title: string;
  readonly schema: JsonSchema;
  /** For keys that name no rule of their own. */
  readonly rule: string;
  readonly about?: string;
  readonly skip?: (key: string) => boolean;
}

function keyRow(key: string, schema: JsonSchema, { schema: around, rule }: Block): string[] {
  const { default: fallback, description = "" } = schema;
  const missing = around.required?.includes(key) ? "required" : "";
  return [
    code(key),
    typeText(schema),
    fallback === undefined ? missing : shown(fallback),
    boundsText(schema),
    description,
    schema.rule ?? rule,
  ];
}

function section(each: Block): string {
  const { title, schema, about = "", skip = () => false } = each;
  const keys = Object.entries(schema.properties ?? {}).filter(([key]) => !skip(key));
  const rows = keys.map(([key, value]) => keyRow(key, value, each));
  const head = ["Key", "Type", "Default", "Bounds", "What it does", "Rule"];
  const body = rows.length > 0 ? table(head, rows) : "No keys in this version.";
  return [`## ${title}`, ...(about ? [wrap(about)] : []), body].join("\n\n");
}

/** The blocks of the config, from the outside in. */
function blocks(): Block[] {
  const root = describedSchema(configSchema);
  const at = (...keys: string[]) => keys.reduce((schema, key) => schema.properties![key]!, root);
  const events = (key: string) => key !== "outbound" && key !== "output_spill";
  return [
    { title: "The top of the file", schema: root, rule: "", about: OTHERS },
    { title: "`hooks`", schema: at("hooks"), rule: "", skip: events, about: HOOKS },
    {
      title: "`hooks.EVENT[]`: a shell hook",
      schema: root.definitions!.gate_hook!,
      rule: "2",
      about: ENTRY,
    },
    {
      title: "`hooks.outbound[]`: a webhook",
      schema: root.definitions!.outbound_target!,
      rule: "10.1",
    },
    {
      title: "`hooks.outbound[].network`",
      schema: root.definitions!.outbound_target!.properties!.network!,
      rule: "10.1",
    },
    { title: "`hooks.output_spill`", schema: at("hooks", "output_spill"), rule: "5.3b" },
    { title: "`plugins`", schema: at("plugins"), rule: "8.1" },
    { title: "`agent`", schema: at("agent"), rule: "5.4" },
    { title: "`hermes_hooks`", schema: at("hermes_hooks"), rule: "1.5", about: OWN },
    {
      title: "`hermes_hooks.serve`",
      schema: at("hermes_hooks", "serve"),
      rule: "11",
      about: SERVE,
    },
    { title: "`hermes_hooks.hosts`", schema: at("hermes_hooks", "hosts"), rule: "8.1b" },
    { title: "`hermes_hooks.outbound`", schema: at("hermes_hooks", "outbound"), rule: "1.5" },
    { title: "plugin.yaml", schema: describedSchema(pluginManifestSchema), rule: "8.1" },
    { title: "HOOK.yaml", schema: describedSchema(hookYamlSchema), rule: "9.1" },
  ];
}

const OTHERS = "Other top-level keys belong to the agent and are ignored.";
const HOOKS = "A list of shell hooks under the name of an event (see " +
  "[reference-events.md](reference-events.md)), and two blocks that are no events.";
const ENTRY = "A `matcher` counts on `pre_tool_call` and `post_tool_call` only, `fail_closed` on " +
  "`pre_tool_call` only. Elsewhere they are warned about and ignored.";
const OWN = "All settings of hermes-hooks alone. A key nobody knows is warned about.";
const SERVE = "More in [listener.md](listener.md).";

const INTRO =
  "`<home>/config.yaml`, read as PyYAML reads it. A key that is left out, and mostly one " +
  "with nothing after it, has its default. A value that cannot be used is a warning that says what " +
  "is used instead; `hermes-hooks config check` shows them all. `${NAME}` in a value is replaced " +
  "from the environment, then from `<home>/.env`. Rules are those of [behaviour.md](behaviour.md).";

const EDITORS = "An editor with the YAML language server completes and checks the file when its " +
  "first line names the schema:";

const LANGUAGE = "The schema is JSON Schema draft 7, which that server understands in full. " +
  "`hermes-hooks schema plugin` and `schema hook` print those of plugin.yaml and HOOK.yaml. Set " +
  "`yaml.yamlVersion` to `1.1` in VS Code, so that `yes` and `on` are booleans there too. The " +
  "schema knows values as they are once `${NAME}` is replaced: a list or a word that holds one is " +
  "marked though it may be right.";

/** The whole page. */
export function configReference(): string {
  return [
    pageHead("Configuration reference"),
    wrap(INTRO),
    "",
    block("yaml", EXAMPLE),
    "",
    blocks().map(section).join("\n\n"),
    "",
    "## In an editor",
    "",
    wrap(EDITORS),
    "",
    block("sh", "hermes-hooks schema > ~/.hermes/config.schema.json"),
    "",
    block("yaml", "# yaml-language-server: $schema=config.schema.json"),
    "",
    wrap(LANGUAGE),
    "",
  ].join("\n");
}
