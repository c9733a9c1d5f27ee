/** Events of a session's life, seen from the agent. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import { API_REQUEST_ID, MODEL, PLATFORM, SESSION_ID, TASK_ID, TURN_ID } from "./fields.ts";

const REASON: Field = {
  name: "reason",
  type: "string|null",
  about: 'what brought it about, such as "new_session" or "idle"',
  required: false,
};
const OLD_SESSION_ID: Field = {
  name: "old_session_id",
  type: "string|null",
  about: "the session that ends; from the gateway only",
  required: false,
};
const NEW_SESSION_ID: Field = {
  name: "new_session_id",
  type: "string|null",
  about: "the session that replaces it; from the gateway only",
  required: false,
};

const OLD = "sess_20260726_0915_7c21";
const NEW = "sess_20260726_1102_b83e";

/** In the order of the catalogue. */
export const session = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "on_session_start",
    about: "On the first turn of a new session, not when one goes on. Return values are ignored.",
    privacy: "ids and routing only",
    fields: [SESSION_ID, MODEL, PLATFORM],
    variants: [{
      name: "default",
      about: "a session has started",
      sample: { session_id: OLD, model: "anthropic/claude-sonnet-4.6", platform: "cli" },
    }],
  },
  {
    ...OBSERVES,
    name: "on_session_end",
    about:
      "At the end of every turn, whatever came of it; and, in an older and shorter form, when the CLI or TUI exits in the middle of one. Return values are ignored.",
    privacy: "ids, model, platform and outcome; no message text in the canonical form",
    fields: [
      SESSION_ID,
      TASK_ID,
      TURN_ID,
      { ...API_REQUEST_ID, required: false },
      {
        name: "completed",
        type: "boolean",
        about: "the agent came to a final answer",
        required: true,
      },
      { name: "failed", type: "boolean", about: "the turn failed", required: true },
      {
        name: "interrupted",
        type: "boolean",
        about: "the turn was interrupted: a new message, /stop, or exit",
        required: true,
      },
      {
        name: "turn_exit_reason",
        type: "string|null",
        about: "why the turn ended",
        required: true,
      },
      REASON,
      MODEL,
      PLATFORM,
    ],
    variants: [
      {
        name: "canonical",
        about: "the end of a turn",
        optional: [],
        sample: {
          session_id: OLD,
          task_id: "task_20260726_a41f",
          turn_id: "turn_0001",
          completed: true,
          failed: false,
          interrupted: false,
          turn_exit_reason: "final_response",
          model: "anthropic/claude-sonnet-4.6",
          platform: "cli",
        },
      },
      {
        name: "cli_exit",
        about: "the CLI exits in the middle of a turn: not completed, interrupted",
        required: ["session_id", "completed", "interrupted", "model", "platform"],
        optional: [
          "task_id",
          "turn_id",
          "api_request_id",
          "failed",
          "turn_exit_reason",
          "reason",
        ],
        values: { platform: ["cli"] },
        sample: {
          session_id: OLD,
          task_id: "task_20260726_a41f",
          turn_id: "turn_0001",
          api_request_id: "req_0007",
          completed: false,
          interrupted: true,
          reason: "cli_exit",
          model: "anthropic/claude-sonnet-4.6",
          platform: "cli",
        },
      },
      {
        name: "tui_exit",
        about: "the TUI exits",
        required: ["session_id", "completed", "interrupted", "platform"],
        optional: [
          "task_id",
          "turn_id",
          "api_request_id",
          "failed",
          "turn_exit_reason",
          "reason",
          "model",
        ],
        values: { platform: ["tui"] },
        sample: {
          session_id: OLD,
          completed: false,
          interrupted: true,
          reason: "tui_exit",
          model: "anthropic/claude-sonnet-4.6",
          platform: "tui",
        },
      },
    ],
  },
  {
    ...OBSERVES,
    name: "on_session_finalize",
    about:
      "When a CLI, TUI or gateway session is taken down: the last chance to save what hangs on its id. On gateway shutdown and expiry no on_session_reset follows. Return values are ignored.",
    privacy: "ids of sessions and routing",
    fields: [
      {
        name: "session_id",
        type: "string|null",
        about: "the session that ends; null when there was none",
        required: true,
      },
      PLATFORM,
      REASON,
      OLD_SESSION_ID,
      NEW_SESSION_ID,
    ],
    variants: [
      {
        name: "cli",
        about: "the CLI exits, or starts a new session",
        optional: ["reason"],
        values: { platform: ["cli"] },
        sample: { session_id: OLD, platform: "cli", reason: "new_session" },
      },
      {
        name: "tui",
        about: "the TUI closes a session",
        optional: ["reason"],
        values: { platform: ["tui"] },
        sample: { session_id: OLD, platform: "tui" },
      },
      {
        name: "gateway",
        about: "a gateway chat is reset; its replacement exists already",
        required: ["session_id", "platform", "reason", "old_session_id", "new_session_id"],
        optional: [],
        sample: {
          session_id: OLD,
          platform: "telegram",
          reason: "new_session",
          old_session_id: OLD,
          new_session_id: NEW,
        },
      },
      {
        name: "gateway_shutdown",
        about: "the gateway stops, or a chat has been idle too long; nothing replaces the session",
        optional: ["reason"],
        sample: { session_id: OLD, platform: "telegram", reason: "shutdown" },
      },
    ],
  },
  {
    ...OBSERVES,
    name: "on_session_reset",
    about:
      "When a fresh session takes the place of another: in the CLI and TUI at the boundary, in the gateway once the replacement exists. Return values are ignored.",
    privacy: "ids of sessions and routing",
    fields: [
      { ...SESSION_ID, about: "the new session" },
      PLATFORM,
      REASON,
      OLD_SESSION_ID,
      NEW_SESSION_ID,
    ],
    variants: [
      {
        name: "cli",
        about: "in the CLI",
        required: ["session_id", "platform", "reason"],
        optional: [],
        values: { platform: ["cli"] },
        sample: { session_id: NEW, platform: "cli", reason: "new_session" },
      },
      {
        name: "tui",
        about: "in the TUI",
        optional: [],
        values: { platform: ["tui"] },
        sample: { session_id: NEW, platform: "tui" },
      },
      {
        name: "gateway",
        about: "in a gateway chat",
        required: ["session_id", "platform", "reason", "old_session_id", "new_session_id"],
        optional: [],
        sample: {
          session_id: NEW,
          platform: "telegram",
          reason: "new_session",
          old_session_id: OLD,
          new_session_id: NEW,
        },
      },
    ],
  },
];
