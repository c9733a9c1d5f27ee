/** The agent waits for a human. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import { PLATFORM, SESSION_ID, SESSION_KEY } from "./fields.ts";

const ASKED: readonly Field[] = [
  {
    name: "kind",
    type: "string",
    about: 'what is asked for, such as "clarify" or "approval"',
    required: true,
  },
  { name: "request_id", type: "string", about: "the request; opaque", required: true },
  { ...SESSION_ID, type: "string|null" },
  SESSION_KEY,
  { ...PLATFORM, type: "string|null" },
  { name: "prompt", type: "string|null", about: "what the human is asked", required: true },
  {
    name: "extras",
    type: "object|null",
    about: "more on the request, such as the choices offered",
    required: true,
  },
];

const SAMPLE = {
  kind: "clarify",
  request_id: "hin_20260726_0001",
  session_id: "sess_20260726_0915_7c21",
  session_key: "agent:main:telegram:dm:84120377",
  platform: "telegram",
  prompt: "Which branch should I deploy?",
  extras: { choices: ["main", "release-2.4"] },
};

/** In the order of the catalogue. */
export const human = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "on_human_input_request",
    about: "When the agent asks a human and waits. Return values are ignored.",
    privacy: "the question can hold content of the user and the project",
    fields: ASKED,
    variants: [{ name: "default", about: "a question is open", sample: SAMPLE }],
  },
  {
    ...OBSERVES,
    name: "on_human_input_resolved",
    about:
      "When that wait has ended: answered, timed out or called off. Return values are ignored.",
    privacy: "the question can hold content of the user and the project",
    fields: [
      ...ASKED,
      {
        name: "outcome",
        type: "string",
        about: 'how it ended, such as "answered" or "timeout"',
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "the question is settled",
      sample: { ...SAMPLE, outcome: "answered" },
    }],
  },
];
