/** Fields that mean the same wherever they stand. */
import type { Field } from "./row.ts";

export const SESSION_ID: Field = {
  name: "session_id",
  type: "string",
  about: "the session; opaque",
  required: true,
};
export const TASK_ID: Field = {
  name: "task_id",
  type: "string",
  about: "the task or session; empty when unset",
  required: true,
};
export const TURN_ID: Field = {
  name: "turn_id",
  type: "string|null",
  about: "the turn; opaque",
  required: true,
};
export const TOOL_CALL_ID: Field = {
  name: "tool_call_id",
  type: "string|null",
  about: "the model's id for this call",
  required: true,
};
export const API_REQUEST_ID: Field = {
  name: "api_request_id",
  type: "string|null",
  about: "the request to the provider that this belongs to",
  required: true,
};
export const TOOL_NAME: Field = {
  name: "tool_name",
  type: "string",
  about: 'the tool, such as "terminal" or "write_file"; what matchers match',
  required: true,
};
export const ARGS: Field = {
  name: "args",
  type: "object",
  about: "the arguments the model gave the tool; `tool_input` on the wire",
  required: true,
};
export const MIDDLEWARE_TRACE: Field = {
  name: "middleware_trace",
  type: "list",
  about: "what plugin middleware did before this point",
  required: true,
};
export const DURATION_MS: Field = {
  name: "duration_ms",
  type: "number",
  about: "how long it took, in milliseconds",
  required: true,
};
export const MODEL: Field = {
  name: "model",
  type: "string",
  about: 'the model, such as "anthropic/claude-sonnet-4.6"',
  required: true,
};
export const PROVIDER: Field = {
  name: "provider",
  type: "string",
  about: "the provider's name",
  required: true,
};
export const BASE_URL: Field = {
  name: "base_url",
  type: "string|null",
  about: "the provider's endpoint",
  required: true,
};
export const API_MODE: Field = {
  name: "api_mode",
  type: "string",
  about: 'the protocol spoken, such as "chat_completions"',
  required: true,
};
export const PLATFORM: Field = {
  name: "platform",
  type: "string",
  about: 'where the session runs: "cli", "tui" or a messaging platform such as "telegram"',
  required: true,
};
export const USER_MESSAGE: Field = {
  name: "user_message",
  type: "string",
  about: "what the user sent this turn, before skills add to it",
  required: true,
};
export const CONVERSATION_HISTORY: Field = {
  name: "conversation_history",
  type: "list of objects",
  about: "a copy of all messages, in OpenAI's form",
  required: true,
};
export const SESSION_KEY: Field = {
  name: "session_key",
  type: "string|null",
  about: "the chat the session belongs to",
  required: true,
};
export const STARTED_AT: Field = {
  name: "started_at",
  type: "number",
  about: "when the request went out, in seconds since 1970",
  required: true,
};
export const ENDED_AT: Field = {
  name: "ended_at",
  type: "number",
  about: "when it ended, in seconds since 1970",
  required: true,
};
export const API_DURATION: Field = {
  name: "api_duration",
  type: "number",
  about: "how long the provider took, in seconds",
  required: true,
};
export const USER_ID: Field = {
  name: "user_id",
  type: "string",
  about: "the user on the platform",
  required: true,
};
