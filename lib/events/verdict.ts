/** One verdict from what all hooks said (section 5). */
import { isObject, JsonNumber, stringAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Directive, Fields, Outcome, Verdict } from "./outcome.ts";
import { TRANSCRIPTION_FIELDS } from "./answer/transcription.ts";

/** What {@link reduce} takes besides the event, its fields and the outcomes. */
export interface ReduceOptions {
  /** Warnings from before the hooks ran, put in front of the hooks' own. Default none. */
  readonly warnings?: readonly string[];
}

/**
 * The verdict, keys in the order of rule 5.5; what no hook asked for is absent, never null.
 * @param outcomes in registration order; those on events that decide nothing may hold directives,
 *   which are shown under `hooks` and change nothing else
 */
export function reduce(
  event: string,
  fields: Fields,
  outcomes: readonly Outcome[],
  options: ReduceOptions = {},
): Verdict {
  const warnings = [...(options.warnings ?? []), ...outcomes.flatMap((o) => o.warnings)];
  const given = outcomes.filter((o): o is Given => o.directive !== undefined);
  const reducer = event.startsWith("command:") ? commandDecision : REDUCERS.get(event);
  const decided = reducer?.({ fields, given, warnings }) ?? [];
  const verdict: Verdict = new Map([["event", event]]);
  for (const [key, value] of decided) if (value !== undefined) verdict.set(key, value);
  verdict.set("hooks", outcomes.map(shownHook));
  verdict.set("warnings", warnings);
  return verdict;
}

type Given = Outcome & { readonly directive: Directive };

interface Case {
  readonly fields: Fields;
  readonly given: readonly Given[];
  /** A reducer may add its own. */
  readonly warnings: string[];
}

type Entries = readonly (readonly [string, Json | undefined])[];
type Reducer = (the: Case) => Entries;

function shownHook(outcome: Outcome): JsonObject {
  const shown: JsonObject = new Map<string, Json>([
    ["source", outcome.source],
    ["name", outcome.name],
    ["outcome", outcome.outcome],
    ["duration_ms", new JsonNumber(String(Math.max(0, Math.round(outcome.durationMs) || 0)))],
  ]);
  if (outcome.directive) shown.set("directive", outcome.directive);
  if (outcome.error !== undefined) shown.set("error", outcome.error);
  return shown;
}

function withAction(given: readonly Given[], ...actions: string[]): Directive | undefined {
  return given.find((o) => actions.includes(stringAt(o.directive, "action") ?? ""))?.directive;
}

// rule 5.2: any block beats any approve; among equals the first; a block carries no args
const toolCall: Reducer = ({ fields, given }) => {
  const block = withAction(given, "block");
  if (block) return decision("block", block, ["message", "rule_key"]);
  const approve = withAction(given, "approve");
  const args = mergedArgs(fields, given);
  if (!approve) return [["decision", "allow"], ["args", args]];
  return [...decision("approve", approve, ["message", "rule_key"]), ["args", args]];
};

function decision(word: string, from: Directive, keys: readonly string[]): Entries {
  return [["decision", word], ...keys.map((key) => [key, from.get(key)] as const)];
}

/** One copy of the original args with every rewrite in order, shallow; undefined without any. */
function mergedArgs(fields: Fields, given: readonly Given[]): JsonObject | undefined {
  const rewrites = given.map((o) => o.directive.get("args")).filter(isObject);
  if (rewrites.length === 0) return undefined;
  const original = fields.get("args");
  const merged: JsonObject = new Map(isObject(original) ? original : []);
  for (const rewrite of rewrites) for (const [key, value] of rewrite) merged.set(key, value);
  return merged;
}

const contexts: Reducer = ({ given }) => {
  const texts = given.flatMap((outcome) => {
    const text = outcome.directive.get("context");
    return typeof text === "string" ? text : [];
  });
  return [["context", joinContexts(texts)]];
};

/** All contexts in order, a blank line between (rule 5.3); undefined when there are none. */
export function joinContexts(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

const verify: Reducer = ({ given }) => {
  const go = withAction(given, "continue");
  return go ? decision("continue", go, ["message"]) : [["decision", "finish"]];
};

const dispatch: Reducer = ({ given }) => {
  const first = withAction(given, "skip", "rewrite", "allow");
  if (!first) return [["decision", "allow"]];
  return decision(stringAt(first, "action")!, first, ["reason", "text"]);
};

const admission: Reducer = ({ given }) => {
  const handled = withAction(given, "handled");
  return handled ? decision("handled", handled, ["reply"]) : [["decision", "continue"]];
};

function replacement(field: string): Reducer {
  return ({ given }) => [[field, given.find((o) => o.directive.has(field))?.directive.get(field)]];
}

// rule 5.4: field by field, the last one wins; an empty prompt clears and so counts
const transcription: Reducer = ({ given }) =>
  TRANSCRIPTION_FIELDS.map((field) => {
    const last = given.findLast((o) => o.directive.has(field));
    return [field, last?.directive.get(field)] as const;
  });

const classification: Reducer = ({ given, warnings }) => {
  const valid = given.filter((o) => isObject(o.directive.get("classification")));
  const [winner, ...losers] = valid;
  for (const loser of losers) {
    warnings.push(
      `hook ${loser.name}: classification "${reasonOf(loser)}" not used: ` +
        `"${reasonOf(winner!)}" from hook ${winner!.name} came first`,
    );
  }
  return [["classification", winner?.directive.get("classification")]];
};

function reasonOf(outcome: Given): string {
  const said = outcome.directive.get("classification");
  return (isObject(said) && stringAt(said, "reason")) || "";
}

// rule 9.3: the first that denies, handles or rewrites ends it
const commandDecision: Reducer = ({ given }) => {
  const first = given.find((o) => endsCommand(o.directive))?.directive;
  if (!first) return [["decision", "allow"]];
  return decision(stringAt(first, "decision")!, first, ["message", "command_name", "raw_args"]);
};

/** Does this directive of a `command:<name>` handler end the command (rule 9.3)? */
export function endsCommand(directive: Directive): boolean {
  return ["deny", "handled", "rewrite"].includes(stringAt(directive, "decision") ?? "");
}

const REDUCERS: ReadonlyMap<string, Reducer> = new Map([
  ["pre_tool_call", toolCall],
  ["pre_llm_call", contexts],
  ["pre_verify", verify],
  ["pre_gateway_dispatch", dispatch],
  ["post_gateway_admission", admission],
  ["transform_tool_result", replacement("result")],
  ["transform_terminal_output", replacement("output")],
  ["transform_llm_output", replacement("response_text")],
  ["pre_transcription", transcription],
  ["transform_api_error_classification", classification],
]);

/**
 * Why `pre_verify` runs no hook (rule 5.4), as a warning, or undefined when it runs them. A
 * missing or non-numeric `attempt` is 0.
 * @param maxNudges `agent.max_verify_nudges`, 3 unless set
 */
export function nudgeLimit(fields: Fields, maxNudges: number): string | undefined {
  const said = fields.get("attempt");
  const attempt = said instanceof JsonNumber ? said.valueOf() : 0;
  if (!(attempt >= maxNudges)) return undefined;
  return `attempt ${attempt} has reached agent.max_verify_nudges (${maxNudges}): no hook was run`;
}

/** How to exit on `approve`: 3, for callers that can ask, or 2 for those that cannot. */
export type OnApproval = "ask" | "block";

/** The exit code of `fire` (section 11): 0 go on, 2 block, 3 approval needed. */
export function exitCodeOf(
  verdict: Verdict,
  options: { readonly onApproval?: OnApproval } = {},
): 0 | 2 | 3 {
  if (verdict.get("event") !== "pre_tool_call") return 0;
  const said = verdict.get("decision");
  if (said === "allow") return 0;
  if (said === "approve" && options.onApproval !== "block") return 3;
  return 2;
}
