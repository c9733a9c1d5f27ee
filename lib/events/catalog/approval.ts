/** A dangerous command needs a yes. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import { TOOL_CALL_ID, TURN_ID } from "./fields.ts";

const ASKED: readonly Field[] = [
  {
    name: "command",
    type: "string",
    about: "the terminal command or script in question; redacted for gateway and smart",
    required: true,
  },
  { name: "description", type: "string", about: "why it was held up", required: true },
  {
    name: "pattern_key",
    type: "string",
    about: 'the rule that caught it first, such as "rm_rf"',
    required: true,
  },
  {
    name: "pattern_keys",
    type: "list of strings",
    about: "all rules that caught it",
    required: true,
  },
  {
    name: "session_key",
    type: "string",
    about: "the session or chat; to send notices where they belong",
    required: true,
  },
  {
    name: "surface",
    type: "string",
    about:
      'who decides: a human in the CLI or TUI ("cli") or in a chat ("gateway"), or a model ("smart")',
    required: true,
    values: ["cli", "gateway", "smart"],
  },
  TURN_ID,
  TOOL_CALL_ID,
];

const CHOICES = ["once", "session", "always", "deny", "timeout", "notify_failed"];

const SAMPLE = {
  command: "rm -rf build/",
  description: "recursive delete",
  pattern_key: "rm_rf",
  pattern_keys: ["rm_rf"],
  session_key: "sess_20260726_0915_7c21",
};
const SAMPLE_IDS = { turn_id: "turn_0003", tool_call_id: "call_8Jk2mQ" };
const CLI = { ...SAMPLE, surface: "cli", ...SAMPLE_IDS };
const CHAT = {
  ...SAMPLE,
  session_key: "agent:main:telegram:dm:84120377",
  surface: "gateway",
  ...SAMPLE_IDS,
};
const SMART = {
  ...SAMPLE,
  command: "curl -H 'Authorization: ***' https://api.example.com/v1/items -X DELETE",
  description: "deletes over the network; sends credentials",
  pattern_key: "curl_delete",
  pattern_keys: ["curl_delete", "auth_header"],
  surface: "smart",
  ...SAMPLE_IDS,
};

/** In the order of the catalogue. */
export const approval = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_approval_request",
    about:
      "Before a human or a model is asked whether a held-up command may run; to stop the tool itself use pre_tool_call. Return values are ignored.",
    privacy: "the command can hold secrets; only smart is certain to redact them",
    fields: ASKED,
    variants: [
      {
        name: "cli",
        about: "a prompt in the CLI or TUI",
        values: { surface: ["cli"] },
        sample: CLI,
      },
      {
        name: "gateway",
        about: "a question in a chat",
        values: { surface: ["gateway"] },
        sample: CHAT,
      },
      {
        name: "smart",
        about: "`approvals.mode=smart`, before the model is asked; always redacted",
        values: { surface: ["smart"] },
        sample: SMART,
      },
    ],
  },
  {
    ...OBSERVES,
    name: "post_approval_response",
    about:
      "After the decision, a timeout, or when the gateway could not deliver the question. Return values are ignored.",
    privacy: "the command can hold secrets; besides, how it was decided",
    fields: [
      ...ASKED,
      {
        name: "choice",
        type: "string",
        about: "what was decided",
        required: true,
        values: [...CHOICES, "smart_approve", "smart_deny"],
      },
      {
        name: "decided_by",
        type: "string",
        about: "who decided; with smart only",
        required: false,
        values: ["aux_llm"],
      },
    ],
    variants: [
      {
        name: "cli",
        about: "a prompt in the CLI or TUI",
        optional: [],
        values: { surface: ["cli"], choice: CHOICES },
        sample: { ...CLI, choice: "once" },
      },
      {
        name: "gateway",
        about: "a question in a chat; `notify_failed` when it could not be delivered",
        optional: [],
        values: { surface: ["gateway"], choice: CHOICES },
        sample: { ...CHAT, choice: "deny" },
      },
      {
        name: "smart",
        about: "a model decided",
        values: { surface: ["smart"], choice: ["smart_approve", "smart_deny"] },
        sample: { ...SMART, choice: "smart_deny", decided_by: "aux_llm" },
      },
    ],
  },
];
