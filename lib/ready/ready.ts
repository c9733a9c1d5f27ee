/** The ready-made hooks: what there is, and how each stands in a config. */
import { stringify } from "yaml";
import { parse } from "yaml";
import { GATEWAY_FILES, SHELL_FILES } from "./files.ts";

/** One hook's lines in a config. */
export interface ReadyEntry {
  /** The event it stands under. */
  readonly event: string;
  /** Its keys in order, `command` among them. */
  readonly keys: Readonly<Record<string, string | number | boolean>>;
}

/** A ready-made hook. */
export interface ReadyHook {
  readonly name: string;
  readonly kind: "shell" | "gateway";
  /** One line on what it does. */
  readonly about: string;
  /** The events it is for. */
  readonly events: readonly string[];
  /** Its files: path below `agent-hooks/` (shell) or `hooks/<name>/` (gateway), and text. */
  readonly files: ReadonlyMap<string, string>;
  /** As its header shows it; a gateway hook needs no lines. */
  readonly entry?: ReadyEntry;
}

/** The lines of the comment at the head of a script, without `#`. */
function header(text: string): string[] {
  const lines = text.split("\n").slice(1);
  const end = lines.findIndex((line) => !line.startsWith("#"));
  return lines.slice(0, end).map((line) => line.replace(/^# ?/, ""));
}

/** The config in a header is the one source of matcher, timeout and the rest. */
function shellHook(name: string, text: string): ReadyHook {
  const lines = header(text);
  const from = lines.indexOf("Config:") + 1;
  const config = lines.slice(from, lines.indexOf("", from)).join("\n");
  const { hooks } = parse(config) as { hooks: Record<string, ReadyEntry["keys"][]> };
  const [event, list] = Object.entries(hooks)[0]!;
  const about = lines[0]!.slice(name.length + 2).replace(/\.$/, "");
  const files = new Map([[`${name}.sh`, text]]);
  return { name, kind: "shell", about, events: [event], files, entry: { event, keys: list[0]! } };
}

function gatewayHook(name: string, texts: Readonly<Record<string, string>>): ReadyHook {
  const told = parse(texts["HOOK.yaml"] ?? "") as
    | { description?: unknown; events?: unknown }
    | null;
  const events = [told?.events ?? []].flat().map(String);
  const about = String(told?.description ?? "").replace(/\.$/, "");
  return { name, kind: "gateway", about, events, files: new Map(Object.entries(texts)) };
}

/** All of them: shell hooks, then gateway hooks, each by name. */
export function readyHooks(): ReadyHook[] {
  return [
    ...Object.entries(SHELL_FILES).map(([name, text]) => shellHook(name, text)),
    ...Object.entries(GATEWAY_FILES).map(([name, texts]) => gatewayHook(name, texts)),
  ];
}

/** Entries as lines of a config, each event once; ends in a newline, empty for none. */
export function configLines(entries: readonly ReadyEntry[]): string {
  const events = new Map<string, ReadyEntry["keys"][]>();
  for (const { event, keys } of entries) events.set(event, [...events.get(event) ?? [], keys]);
  if (events.size === 0) return "";
  return stringify({ hooks: Object.fromEntries(events) }, YAML_STYLE);
}

/** How we write YAML: strings that any 1.1 reader takes for strings, and no line folded. */
export const YAML_STYLE = { version: "1.1", lineWidth: 0 } as const;
