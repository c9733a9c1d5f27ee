/** Events of a streamed answer; they go through a queue of their own for each hook (rule 8.4). */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import { MODEL, PROVIDER, SESSION_ID } from "./fields.ts";

const STREAM: readonly Field[] = [
  { name: "turn_id", type: "string|null", about: "the turn, when known", required: false },
  {
    name: "iteration",
    type: "integer",
    about: "which round of the tool loop this is",
    required: true,
  },
  SESSION_ID,
  MODEL,
  PROVIDER,
  {
    name: "surface",
    type: "string",
    about: 'who asked: "cli", "discord", "telegram" and so on',
    required: true,
  },
];

const SAMPLE = {
  turn_id: "turn_0001",
  iteration: 1,
  session_id: "sess_20260726_0915_7c21",
  model: "anthropic/claude-sonnet-4.6",
  provider: "openrouter",
  surface: "cli",
};

/** In the order of the catalogue. */
export const stream = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "on_stream_start",
    about: "When a streamed answer starts. Return values are ignored.",
    privacy: "ids and routing only",
    fields: STREAM,
    variants: [{ name: "default", about: "a stream has started", sample: SAMPLE }],
  },
  {
    ...OBSERVES,
    name: "on_stream_delta",
    about:
      "For each piece of a streamed answer; a slow hook loses only its own oldest events. Return values are ignored.",
    privacy: "the model's raw output; reasoning only when switched on",
    fields: [
      { name: "delta", type: "string", about: "the piece of text", required: true },
      {
        name: "kind",
        type: "string",
        about: "what it is a piece of",
        required: true,
        values: ["text", "reasoning"],
      },
      ...STREAM,
    ],
    variants: [
      {
        name: "text",
        about: "a piece of the answer",
        values: { kind: ["text"] },
        sample: { delta: "The fixture expects", kind: "text", ...SAMPLE },
      },
      {
        name: "reasoning",
        about: "a piece of the reasoning; only with `plugins.stream_reasoning_deltas: true`",
        values: { kind: ["reasoning"] },
        sample: { delta: "The test log mentions a cookie, so", kind: "reasoning", ...SAMPLE },
      },
    ],
  },
  {
    ...OBSERVES,
    name: "on_stream_end",
    about: "After a streamed answer has ended or failed. Return values are ignored.",
    privacy: "the whole answer; the error's text can hold provider data",
    fields: [
      { name: "final_text", type: "string", about: "the whole answer", required: true },
      { name: "finished", type: "boolean", about: "it came to its end", required: true },
      {
        name: "error",
        type: "string|null",
        about: "what went wrong; null when nothing did",
        required: true,
      },
      ...STREAM,
    ],
    variants: [
      {
        name: "finished",
        about: "the stream came to its end",
        sample: {
          final_text: "The fixture expects a cookie that is never set.",
          finished: true,
          error: null,
          ...SAMPLE,
        },
      },
      {
        name: "error",
        about: "the stream broke off",
        sample: {
          final_text: "The fixture expects",
          finished: false,
          error: "connection closed by the provider",
          ...SAMPLE,
        },
      },
    ],
  },
  {
    ...OBSERVES,
    name: "on_interim_message",
    about:
      "When a message of the assistant is shown in the middle of the loop, before the final answer, streamed or not. Return values are ignored.",
    privacy: "the whole text of the message",
    fields: [
      { name: "text", type: "string", about: "the message", required: true },
      {
        name: "already_streamed",
        type: "boolean",
        about: "its text was streamed before",
        required: true,
      },
      ...STREAM,
    ],
    variants: [{
      name: "default",
      about: "a message was shown",
      sample: { text: "I will look at the test log first.", already_streamed: false, ...SAMPLE },
    }],
  },
];
