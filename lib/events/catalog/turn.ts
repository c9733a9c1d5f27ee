/** Events of one turn of the conversation: before it, at its end, and its text. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";
import {
  CONVERSATION_HISTORY,
  MODEL,
  PLATFORM,
  SESSION_ID,
  TASK_ID,
  TURN_ID,
  USER_MESSAGE,
} from "./fields.ts";

/** In the order of the catalogue, kind by kind. */
export const turn = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_llm_call",
    kind: "directive",
    about:
      "Once a turn, before the tool loop starts. All contexts are joined by a blank line and added to the user's message of this turn.",
    privacy: "the user's message and the whole conversation",
    answers: [
      '{"context":"…"}, not blank',
      'Claude Code: {"hookSpecificOutput":{"additionalContext":"…"}}',
      "from a plugin, a plain string that is not blank",
    ],
    fields: [
      SESSION_ID,
      TASK_ID,
      TURN_ID,
      USER_MESSAGE,
      CONVERSATION_HISTORY,
      {
        name: "is_first_turn",
        type: "boolean",
        about: "true on the first turn of a new session",
        required: true,
      },
      MODEL,
      PLATFORM,
      {
        name: "parent_session_id",
        type: "string|null",
        about: "the session that delegated to this one; null at the top",
        required: true,
      },
      {
        name: "sender_id",
        type: "string|null",
        about: "who sent the message, on a messaging platform",
        required: true,
      },
    ],
    variants: [
      {
        name: "first_turn",
        about: "the first turn of a new session",
        sample: {
          session_id: "sess_20260726_0915_7c21",
          task_id: "task_20260726_a41f",
          turn_id: "turn_0001",
          user_message: "Why does the login test fail?",
          conversation_history: [],
          is_first_turn: true,
          model: "anthropic/claude-sonnet-4.6",
          platform: "cli",
          parent_session_id: null,
          sender_id: null,
        },
      },
      {
        name: "later_turn",
        about: "a session that goes on",
        sample: {
          session_id: "sess_20260726_0915_7c21",
          task_id: "task_20260726_a41f",
          turn_id: "turn_0002",
          user_message: "Then fix it, please.",
          conversation_history: [
            { role: "user", content: "Why does the login test fail?" },
            { role: "assistant", content: "The fixture expects a cookie that is never set." },
          ],
          is_first_turn: false,
          model: "anthropic/claude-sonnet-4.6",
          platform: "telegram",
          parent_session_id: null,
          sender_id: "84120377",
        },
      },
    ],
  },
  {
    ...OBSERVES,
    name: "pre_verify",
    kind: "directive",
    about:
      "In a turn that edited code, when the agent is about to finish. The first valid directive keeps it going with its message as a new instruction, at most `agent.max_verify_nudges` times in a row.",
    privacy: "the drafted answer and the paths changed",
    answers: [
      '{"action":"continue","message":"…"}, not blank',
      'Claude Code: {"decision":"block","reason":"…"}, not blank: stopping is blocked, so it goes on',
    ],
    fields: [
      SESSION_ID,
      PLATFORM,
      MODEL,
      {
        name: "coding",
        type: "boolean",
        about: "the turn works in a code folder",
        required: true,
      },
      {
        name: "attempt",
        type: "integer",
        about: "how often this turn was kept going already; 0 the first time",
        required: true,
      },
      {
        name: "final_response",
        type: "string",
        about: "the answer the agent is about to give",
        required: true,
      },
      {
        name: "changed_paths",
        type: "list of strings",
        about: "files edited this turn, sorted; at least one",
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "the agent is about to finish for the first time this turn",
      sample: {
        session_id: "sess_20260726_0915_7c21",
        platform: "cli",
        model: "anthropic/claude-sonnet-4.6",
        coding: true,
        attempt: 0,
        final_response: "The login test passes now: the fixture sets the cookie.",
        changed_paths: ["src/login.py", "tests/test_login.py"],
      },
    }],
  },
  {
    ...OBSERVES,
    name: "transform_llm_output",
    kind: "transform",
    about:
      "Once a turn, before the final answer is delivered; not after an interruption or without an answer. The first string that is not empty replaces the answer.",
    privacy: "the whole final answer",
    answers: ['a JSON string, or {"response_text":"…"}; an empty one does not count'],
    fields: [
      {
        name: "response_text",
        type: "string",
        about: "the final answer of this turn",
        required: true,
      },
      SESSION_ID,
      MODEL,
      PLATFORM,
    ],
    variants: [{
      name: "default",
      about: "an answer is about to be delivered",
      sample: {
        response_text: "The login test passes now. Deploy when you are ready!",
        session_id: "sess_20260726_0915_7c21",
        model: "anthropic/claude-sonnet-4.6",
        platform: "cli",
      },
    }],
  },
  {
    ...OBSERVES,
    name: "post_llm_call",
    about:
      "Once a turn, at the end of one that succeeded and was not interrupted. Return values are ignored.",
    privacy: "prompt, answer and the whole conversation",
    fields: [
      SESSION_ID,
      TASK_ID,
      TURN_ID,
      USER_MESSAGE,
      {
        name: "assistant_response",
        type: "string",
        about: "the agent's final answer of this turn",
        required: true,
      },
      CONVERSATION_HISTORY,
      MODEL,
      PLATFORM,
    ],
    variants: [{
      name: "default",
      about: "a turn has ended with an answer",
      sample: {
        session_id: "sess_20260726_0915_7c21",
        task_id: "task_20260726_a41f",
        turn_id: "turn_0001",
        user_message: "Why does the login test fail?",
        assistant_response: "The fixture expects a cookie that is never set.",
        conversation_history: [
          { role: "user", content: "Why does the login test fail?" },
          { role: "assistant", content: "The fixture expects a cookie that is never set." },
        ],
        model: "anthropic/claude-sonnet-4.6",
        platform: "cli",
      },
    }],
  },
];
