/** Delegation: child agents. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";
import { DURATION_MS } from "./fields.ts";

const PARENT = "sess_20260726_0915_7c21";
const CHILD = "sess_20260726_0921_sub1";

/** In the order of the catalogue. */
export const subagent = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "subagent_start",
    about:
      "Once for each child agent, when it is built and about to run; to stop a delegation, block `delegate_task` in pre_tool_call. Return values are ignored.",
    privacy: "the child's goal can hold content of the user and the project",
    fields: [
      {
        name: "parent_session_id",
        type: "string|null",
        about: "the session that delegates",
        required: true,
      },
      {
        name: "parent_turn_id",
        type: "string|null",
        about: "the turn that delegates, when known",
        required: true,
      },
      {
        name: "parent_subagent_id",
        type: "string|null",
        about: "the child agent that delegates; null at the top",
        required: true,
      },
      {
        name: "child_session_id",
        type: "string|null",
        about: "the child's session",
        required: true,
      },
      {
        name: "child_subagent_id",
        type: "string",
        about: "the child's stable id",
        required: true,
      },
      {
        name: "child_role",
        type: "string",
        about: 'the role in force, such as "leaf" or "orchestrator"',
        required: true,
      },
      { name: "child_goal", type: "string", about: "what the child is to do", required: true },
    ],
    variants: [
      {
        name: "default",
        about: "started by the agent at the top",
        sample: {
          parent_session_id: PARENT,
          parent_turn_id: "turn_0002",
          parent_subagent_id: null,
          child_session_id: CHILD,
          child_subagent_id: "sa-0-5d1c",
          child_role: "leaf",
          child_goal: "List every test that touches the login cookie",
        },
      },
      {
        name: "nested",
        about: "started by another child agent",
        sample: {
          parent_session_id: CHILD,
          parent_turn_id: "turn_0001",
          parent_subagent_id: "sa-0-5d1c",
          child_session_id: "sess_20260726_0922_sub2",
          child_subagent_id: "sa-1-9f40",
          child_role: "leaf",
          child_goal: "Read tests/test_login.py and summarise its fixtures",
        },
      },
    ],
  },
  {
    ...OBSERVES,
    name: "subagent_stop",
    about: "Once for each child agent, after it has ended. Return values are ignored.",
    privacy: "the summary and the redacted tool history can show how the project is built",
    fields: [
      {
        name: "parent_session_id",
        type: "string|null",
        about: "the session that delegated",
        required: true,
      },
      {
        name: "parent_turn_id",
        type: "string|null",
        about: "the turn that delegated, when known",
        required: true,
      },
      {
        name: "child_session_id",
        type: "string|null",
        about: "the child's session",
        required: true,
      },
      {
        name: "child_role",
        type: "string|null",
        about: "the child's role; null when roles are off",
        required: true,
      },
      {
        name: "child_summary",
        type: "string|null",
        about: "what the child answered its parent",
        required: true,
      },
      {
        name: "child_status",
        type: "string",
        about: "how it ended",
        required: true,
        values: ["completed", "failed", "interrupted", "error"],
      },
      {
        name: "tool_call_history",
        type: "list of objects",
        about:
          "its tool calls in order: `tool_name`, `tool_input` (bounded), `input_bytes`, `output_bytes`, `status`; no raw input or output",
        required: true,
      },
      DURATION_MS,
    ],
    variants: [
      {
        name: "completed",
        about: "the child came to its end",
        values: { child_status: ["completed"] },
        sample: {
          parent_session_id: PARENT,
          parent_turn_id: "turn_0002",
          child_session_id: CHILD,
          child_role: "leaf",
          child_summary: "Three tests touch the cookie; all are in tests/test_login.py.",
          child_status: "completed",
          tool_call_history: [{
            tool_name: "search_files",
            tool_input: { pattern: "cookie" },
            input_bytes: 21,
            output_bytes: 640,
            status: "ok",
          }],
          duration_ms: 18342,
        },
      },
      {
        name: "failed",
        about: "it failed, was interrupted, or broke",
        values: { child_status: ["failed", "interrupted", "error"] },
        sample: {
          parent_session_id: PARENT,
          parent_turn_id: "turn_0002",
          child_session_id: CHILD,
          child_role: null,
          child_summary: null,
          child_status: "error",
          tool_call_history: [],
          duration_ms: 951,
        },
      },
    ],
  },
];
