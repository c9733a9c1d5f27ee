/** The agent's loop as the gateway runs it. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";
import { PLATFORM } from "./fields.ts";

/** In the order of the catalogue. */
export const loop = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "agent_loop_stopped",
    about: "When a running agent's loop was stopped from outside. Return values are ignored.",
    privacy: "ids of chats and routing",
    fields: [
      { name: "session_key", type: "string", about: "the chat it ran for", required: true },
      { ...PLATFORM, type: "string|null" },
      { name: "reason", type: "string|null", about: "why it was stopped", required: true },
      {
        name: "invalidation_reason",
        type: "string|null",
        about: "why what it had under way no longer counts",
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "a loop was stopped",
      sample: {
        session_key: "agent:main:telegram:dm:84120377",
        platform: "telegram",
        reason: "user_stop",
        invalidation_reason: "stop_command",
      },
    }],
  },
];
