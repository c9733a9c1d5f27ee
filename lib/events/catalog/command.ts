/** Slash commands. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";
import { SESSION_KEY } from "./fields.ts";

/** In the order of the catalogue. */
export const command = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_command",
    about:
      "Right before a recognised slash command is handled; not for commands that cut into a running agent (/stop, /approve). Return values are ignored.",
    privacy: "`args_raw` can hold content of the user and secrets typed after the command",
    fields: [
      {
        name: "surface",
        type: "string",
        about: "where it was typed",
        required: true,
        values: ["cli", "gateway"],
      },
      { name: "command", type: "string", about: "its canonical name", required: true },
      {
        name: "alias_used",
        type: "string|null",
        about: "the name that was typed",
        required: true,
      },
      { name: "args_raw", type: "string", about: "the text after the name", required: true },
      SESSION_KEY,
      { name: "platform", type: "string|null", about: "the messaging platform", required: true },
    ],
    variants: [
      {
        name: "cli",
        about: "typed in the CLI",
        values: { surface: ["cli"] },
        sample: {
          surface: "cli",
          command: "model",
          alias_used: "model",
          args_raw: "anthropic/claude-sonnet-4.6",
          session_key: "sess_20260726_0915_7c21",
          platform: "cli",
        },
      },
      {
        name: "gateway",
        about: "sent in a chat",
        values: { surface: ["gateway"] },
        sample: {
          surface: "gateway",
          command: "new",
          alias_used: "reset",
          args_raw: "",
          session_key: "agent:main:telegram:dm:84120377",
          platform: "telegram",
        },
      },
    ],
  },
];
