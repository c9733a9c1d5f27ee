/** What plugins add to a new session's system prompt, within the seeds' limits (rule 8.2). */
import { firstChars, type Json } from "../../events/json.ts";
import type { CallResult, HostedSection } from "../host/host.ts";
import type { LoadedPlugin } from "./plugins.ts";

/** What `max_chars` may be at most, and is when a plugin does not say; in code points. */
export const MAX_SECTION_CHARS = 4000;
/** What the whole block may be at most, headings included; in code points. */
export const MAX_BLOCK_CHARS = 8000;
/** How many sections a prompt may have. */
export const MAX_SECTIONS = 32;

const ID = /^[a-z0-9._-]{1,128}$/;
const POSITION = "after_memory";

/** What a section's function is told of the new session. */
export interface SessionInfo {
  readonly session_id: string;
  readonly model: string;
  readonly provider: string;
  readonly platform: string;
  readonly profile_name: string;
  readonly cwd: string;
}

/** The keys of {@link SessionInfo}. */
export const SESSION_KEYS = [
  "session_id",
  "model",
  "provider",
  "platform",
  "profile_name",
  "cwd",
] as const;

/** One section that is in the block. */
export interface Section {
  readonly plugin: string;
  readonly id: string;
  readonly position: string;
  /** The length of its text, in code points. */
  readonly chars: number;
  readonly text: string;
}

/** What {@link promptSections} returns. */
export interface PromptSections {
  /** By id. */
  readonly sections: readonly Section[];
  /** As it goes into the prompt; empty when there is no section. */
  readonly block: string;
  /** Why others are left out, each naming plugin and section. */
  readonly warnings: readonly string[];
}

interface Candidate {
  readonly plugin: LoadedPlugin;
  readonly section: HostedSection;
}

const countChars = (text: string): number => [...text].length;

/** The line over a section, so that whoever reads the prompt sees where it comes from. */
export function sectionHeading(plugin: string, id: string): string {
  return `## Plugin section: ${id} (plugin: ${plugin})`;
}

function rendered({ plugin, id, text }: Section): string {
  return `${sectionHeading(plugin, id)}\n\n${text}`;
}

const named = (plugin: string, id: string) =>
  `plugin "${plugin}": prompt section "${firstChars(id, 128)}"`;

/** Which rule of registration it breaks, if any. */
function refusal({ id, position, maxChars }: HostedSection): string | undefined {
  if (!ID.test(id)) {
    return "its id must be 1 to 128 characters of a-z, 0-9, dot, underscore and hyphen";
  }
  if (position !== POSITION) return `its position is "${position}", only "${POSITION}" is possible`;
  if (maxChars === undefined) return undefined;
  if (Number.isInteger(maxChars) && maxChars >= 1 && maxChars <= MAX_SECTION_CHARS) {
    return undefined;
  }
  const shown = Number.isNaN(maxChars) ? "no number" : maxChars;
  return `its max_chars is ${shown}, expected a whole number from 1 to ${MAX_SECTION_CHARS}`;
}

/** Those registered by the rules, by id; of two with one id the plugin loaded first has it. */
function accepted(plugins: readonly LoadedPlugin[], warnings: string[]): Candidate[] {
  const byId = new Map<string, Candidate>();
  for (const plugin of plugins) {
    for (const section of plugin.sections) {
      const { id } = section;
      const who = named(plugin.plugin.name, id);
      const broken = refusal(section);
      const first = byId.get(id);
      if (broken) warnings.push(`${who} is left out: ${broken}`);
      else if (first) {
        const owner = first.plugin.plugin.name;
        warnings.push(`${who} is left out: plugin "${owner}" has registered this id already`);
      } else byId.set(id, { plugin, section });
    }
  }
  return [...byId.values()].sort((a, b) => a.section.id < b.section.id ? -1 : 1);
}

function failure(result: Exclude<CallResult, { kind: "returned" }>): string {
  if (result.kind === "overran") return `its function timed out after ${result.afterMs / 1000}s`;
  if (result.kind === "stillRunning") return "its function is still running for an earlier session";
  return result.kind === "threw" ? `its function threw: ${result.error}` : result.error;
}

/** The text, or why it cannot be used. */
async function textOf(
  { plugin: { host }, section }: Candidate,
  info: SessionInfo,
  timeoutMs: number,
): Promise<{ text: string } | { reason: string }> {
  const { content, maxChars = MAX_SECTION_CHARS } = section;
  let text: Json;
  if ("text" in content) text = content.text;
  else {
    const fields = new Map<string, Json>(SESSION_KEYS.map((key) => [key, info[key]]));
    const result = await host.call(content.callback, "system_prompt_section", fields, timeoutMs);
    if (result.kind !== "returned") return { reason: failure(result) };
    text = result.value;
  }
  if (typeof text !== "string") return { reason: "its text is no string" };
  if (text.trim() === "") return { reason: "its text is empty" };
  const chars = countChars(text);
  if (chars > maxChars) return { reason: `its text has ${chars} characters, over ${maxChars}` };
  return { text };
}

/**
 * What a new session gets; calls the functions, so once a session and no more. One that breaks a
 * rule is left out with a warning, and the rest stay.
 * @param plugins in load order
 * @param timeoutMs for each function; 0: no bound
 */
export async function promptSections(
  plugins: readonly LoadedPlugin[],
  info: SessionInfo,
  timeoutMs: number,
): Promise<PromptSections> {
  const warnings: string[] = [];
  const candidates = accepted(plugins, warnings);
  // Side by side: each plugin is a process of its own.
  const texts = await Promise.all(candidates.map((one) => textOf(one, info, timeoutMs)));
  const sections: Section[] = [];
  const parts: string[] = [];
  let total = 0;
  candidates.forEach(({ plugin, section: { id, position } }, i) => {
    const name = plugin.plugin.name;
    const leaveOut = (why: string) => warnings.push(`${named(name, id)} is left out: ${why}`);
    const found = texts[i]!;
    if ("reason" in found) return leaveOut(found.reason);
    const { text } = found;
    if (sections.length >= MAX_SECTIONS) return leaveOut(`there are ${MAX_SECTIONS} already`);
    const section = { plugin: name, id, position, chars: countChars(text), text };
    const part = rendered(section);
    const joined = countChars(part) + (parts.length > 0 ? 2 : 0);
    if (total + joined > MAX_BLOCK_CHARS) {
      return leaveOut(`all of them together would have over ${MAX_BLOCK_CHARS} characters`);
    }
    total += joined;
    sections.push(section);
    parts.push(part);
  });
  return { sections, block: parts.join("\n\n"), warnings };
}
