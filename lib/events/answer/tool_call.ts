/** Answers on `pre_tool_call`: block, approve, modify or allow, in every dialect (rule 4.2). */
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Directive } from "../outcome.ts";
import {
  badVerb,
  directive,
  firstUsable,
  objectAt,
  quoted,
  reading,
  usable,
  verbAt,
} from "./reading.ts";
import type { Family, Reading } from "./reading.ts";

type Ask = "block" | "approve" | "modify" | "allow";
type VerbKey = "action" | "decision" | "permissionDecision" | "permission" | "continue";

const STRENGTH: readonly Ask[] = ["block", "approve", "modify", "allow"];

const COMMON: readonly (readonly [string, Ask])[] = [
  ["block", "block"],
  ["deny", "block"],
  ["ask", "approve"],
  ["allow", "allow"],
];

// "approve" under decision is Claude's old allow; under action a human must say yes.
const VERBS: Readonly<Record<Exclude<VerbKey, "continue">, ReadonlyMap<string, Ask>>> = {
  action: new Map([...COMMON, ["approve", "approve"], ["modify", "modify"]]),
  decision: new Map([...COMMON, ["approve", "allow"], ["modify", "modify"]]),
  permissionDecision: new Map(COMMON),
  permission: new Map(COMMON),
};

/** Where the reason stands in the dialect of each verb; the others' places are looked at after. */
const REASONS: Readonly<Record<VerbKey, readonly string[]>> = {
  action: ["message", "reason"],
  decision: ["reason", "message"],
  permissionDecision: ["permissionDecisionReason"],
  permission: ["user_message", "agent_message"],
  continue: ["stopReason"],
};

interface Said {
  /** The answer itself. */
  readonly top: JsonObject;
  /** Its `hookSpecificOutput`; empty when it has none. */
  readonly own: JsonObject;
}

interface Heard {
  readonly key: VerbKey;
  readonly ask: Ask;
}

/** Reads an answer object; undefined for any other kind of value. */
function read(value: Json): Reading | undefined {
  if (!isObject(value)) return undefined;
  const said: Said = { top: value, own: objectAt(value, "hookSpecificOutput") };
  const malformed: string[] = [];
  const heard = hear(said, malformed);
  const strongest = STRENGTH.flatMap((ask) => heard.find((h) => h.ask === ask) ?? [])[0];
  const counted = heard.length > 0 || malformed.length > 0 || said.own.has("updatedInput");
  const warnings: string[] = [];
  const asked = answerOf(said, strongest, malformed, warnings);
  return reading({ malformed, warnings, counted, ...(asked && { directive: asked }) });
}

function hear({ top, own }: Said, malformed: string[]): Heard[] {
  const heard: Heard[] = [];
  for (const key of ["action", "decision", "permissionDecision", "permission"] as const) {
    const place = key === "permissionDecision" ? own : top;
    if (!place.has(key)) continue;
    const ask = VERBS[key].get(verbAt(place, key) ?? "");
    if (ask) heard.push({ key, ask });
    else malformed.push(badVerb(key, place.get(key), [...VERBS[key].keys()].join(", ")));
  }
  if (top.has("continue")) {
    const go = top.get("continue");
    if (typeof go === "boolean") heard.push({ key: "continue", ask: go ? "allow" : "block" });
    else malformed.push(`"continue" is neither true nor false: ${quoted(go)}`);
  }
  return heard;
}

function answerOf(
  said: Said,
  strongest: Heard | undefined,
  malformed: string[],
  warnings: string[],
): Directive | undefined {
  const ask = strongest?.ask ?? "allow";
  if (ask === "block") return block(said, strongest!.key);
  if (ask === "approve") return approve(said, strongest!.key, malformed);
  if (ask === "modify") {
    const args = rewrite(said, strongest!.key);
    if (args) return modify(args);
    malformed.push(`a modify without an object in "args": ${quoted(said.top)}`);
    return undefined;
  }
  const args = said.own.get("updatedInput") ?? null;
  const unused = REWRITES.find((key) =>
    isObject(said.top.get(key)) || (key !== "updatedInput" && isObject(said.own.get(key)))
  );
  if (unused && strongest) {
    warnings.push(`"${unused}" beside ${strongest.key} changes nothing: ${SAY.modify}`);
  }
  if (isObject(args)) return modify(args);
  if (args !== null) malformed.push(`"updatedInput" is no object: ${quoted(args)}`);
  return undefined;
}

function block(said: Said, key: VerbKey): Directive {
  return directive([["action", "block"], ["message", reason(said, key)]]);
}

function approve(said: Said, key: VerbKey, malformed: string[]): Directive {
  const args = rewrite(said, key);
  const broken = args ? undefined : brokenRewrite(said);
  if (broken !== undefined) malformed.push(broken);
  return directive([
    ["action", "approve"],
    ["message", reason(said, key)],
    ["rule_key", usable(said.top.get("rule_key"))],
    ["args", args],
  ]);
}

function modify(args: JsonObject): Directive {
  return directive([["action", "modify"], ["args", args]]);
}

function reason({ top, own }: Said, key: VerbKey): string | undefined {
  for (const k of new Set([key, ...(Object.keys(REASONS) as VerbKey[])])) {
    const text = firstUsable(k === "permissionDecision" ? own : top, REASONS[k]);
    if (text !== undefined) return text;
  }
  return undefined;
}

const REWRITES = ["args", "tool_input", "updatedInput"] as const;

/** The first object under a rewriting key, the speaker's own dialect first. */
function rewrite({ top, own }: Said, key: VerbKey): JsonObject | undefined {
  const places = key === "permissionDecision" ? [own, top] : [top, own];
  const keys = key === "decision" ? ["tool_input", "args", "updatedInput"] : REWRITES;
  for (const place of places) {
    for (const k of keys) {
      const args = place.get(k);
      if (isObject(args)) return args;
    }
  }
  return undefined;
}

function brokenRewrite({ top, own }: Said): string | undefined {
  for (const place of [top, own]) {
    for (const key of REWRITES) {
      const value = place.get(key) ?? null;
      if (value !== null) return `"${key}" is no object: ${quoted(value)}`;
    }
  }
  return undefined;
}

const SAY = {
  block: 'say {"action": "block", "message": "…"}',
  modify: 'say {"action": "modify", "args": {…}}',
};

const MEANT_BLOCK = [
  "block",
  "blocked",
  "deny",
  "denied",
  "reject",
  "allow",
  "allowed",
  "approved",
];

/** Advice for the mistakes people make most. */
function advice(value: JsonObject): string {
  const own = objectAt(value, "hookSpecificOutput");
  const has = (key: string) => value.has(key) || own.has(key);
  if (MEANT_BLOCK.some(has)) return `to refuse, ${SAY.block}`;
  if (REWRITES.some(has)) return SAY.modify;
  if (has("context") || has("additionalContext")) return 'a context counts on "pre_llm_call"';
  return 'the verb stands under "action": block, approve, modify or allow';
}

/** `pre_tool_call` as shell hooks answer it. */
export const toolCall: Family = { read, advice };

const CANONICAL = ["action", "message", "reason", "rule_key", "args"];

/**
 * `pre_tool_call` as plugins answer it: the canonical shapes only, and a block needs a message
 * (rule 8.5).
 */
export const toolCallReturn: Family = {
  advice,
  read(value) {
    if (!isObject(value)) return undefined;
    const whole = read(value)!;
    const canonical = read(new Map([...value].filter(([key]) => CANONICAL.includes(key))))!;
    const asked = canonical.directive;
    if (asked?.get("action") === "block" && !asked.has("message")) {
      const { directive: _, ...rest } = canonical;
      return { ...rest, warnings: ['a block needs a non-empty "message": ignored'] };
    }
    if (asked || !whole.directive) return canonical;
    const where = 'a plugin says its verb under "action"';
    return { ...canonical, warnings: [`not read from a plugin: ${quoted(value)}; ${where}`] };
  },
};

/** Is it a "go ahead" in some dialect: `allow`, Claude's `approve` or `continue: true`? */
export function asksNothing(value: Json): boolean {
  const said = read(value);
  return !!said?.counted && !said.directive && said.malformed.length === 0;
}
