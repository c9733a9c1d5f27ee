/** Requests the agent makes on the side: titles, compression, vision, judging approvals. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import {
  API_DURATION,
  API_MODE,
  API_REQUEST_ID,
  BASE_URL,
  ENDED_AT,
  MODEL,
  PROVIDER,
  SESSION_ID,
} from "./fields.ts";

const REQUEST: readonly Field[] = [
  {
    name: "aux_task",
    type: "string",
    about: 'what it is for, such as "title_generation" or "compression"',
    required: true,
  },
  { ...API_REQUEST_ID, type: "string", about: "the request; starts with `aux-`" },
  { ...SESSION_ID, type: "string|null" },
  PROVIDER,
  { ...MODEL, type: "string|null" },
  BASE_URL,
  { ...API_MODE, type: "string|null" },
];

const SAMPLE = {
  aux_task: "title_generation",
  api_request_id: "aux-5b0c77e1",
  session_id: "sess_20260726_0915_7c21",
  provider: "openrouter",
  model: "google/gemini-3-flash",
  base_url: "https://openrouter.ai/api/v1",
  api_mode: "chat_completions",
};

/** In the order of the catalogue. */
export const auxiliary = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_auxiliary_call",
    about:
      "Before a request the agent makes on the side, outside the conversation. Return values are ignored.",
    privacy: "ids and routing only",
    fields: REQUEST,
    variants: [{ name: "default", about: "a request is about to go out", sample: SAMPLE }],
  },
  {
    ...OBSERVES,
    name: "post_auxiliary_call",
    about: "After such a request, whether it succeeded or failed. Return values are ignored.",
    privacy: "the response and the error's text can hold content of the user and the provider",
    fields: [
      ...REQUEST,
      API_DURATION,
      ENDED_AT,
      {
        name: "finish_reason",
        type: "string|null",
        about: "why the model stopped",
        required: true,
      },
      {
        name: "response_model",
        type: "string|null",
        about: "the model that answered",
        required: true,
      },
      { name: "usage", type: "object|null", about: "token counts", required: true },
      {
        name: "response",
        type: "any",
        about: "the response; null when it failed",
        required: true,
      },
      {
        name: "error",
        type: "any",
        about: "the error; null when there was none",
        required: true,
      },
      { name: "error_type", type: "string|null", about: "the error's class", required: true },
    ],
    variants: [
      {
        name: "ok",
        about: "a response has come",
        sample: {
          ...SAMPLE,
          api_duration: 0.612,
          ended_at: 1785057315.447,
          finish_reason: "stop",
          response_model: "google/gemini-3-flash",
          usage: { prompt_tokens: 310, completion_tokens: 9, total_tokens: 319 },
          response: { content: "Fixing the login test" },
          error: null,
          error_type: null,
        },
      },
      {
        name: "error",
        about: "it failed",
        sample: {
          ...SAMPLE,
          api_duration: 30.004,
          ended_at: 1785057344.839,
          finish_reason: null,
          response_model: null,
          usage: null,
          response: null,
          error: "Request timed out",
          error_type: "APITimeoutError",
        },
      },
    ],
  },
];
