/** Skills. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";
import { SESSION_ID, TASK_ID } from "./fields.ts";

/** In the order of the catalogue. */
export const skill = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "on_skill_lifecycle",
    about: "After the recorded use of a skill has changed. Return values are ignored.",
    privacy: "names of local skills and where they came from",
    fields: [
      {
        name: "action",
        type: "string",
        about: 'what happened to it, such as "used", "created" or "patched"',
        required: true,
      },
      { name: "skill_name", type: "string", about: "the skill", required: true },
      {
        name: "provenance",
        type: "string|null",
        about: 'where it came from, such as "bundled" or "agent"',
        required: true,
      },
      { ...TASK_ID, type: "string|null" },
      { ...SESSION_ID, type: "string|null" },
      { name: "use_count", type: "integer|null", about: "uses so far", required: true },
      {
        name: "reused",
        type: "boolean|null",
        about: "it had been used before",
        required: true,
      },
      {
        name: "reuse_after_patch",
        type: "boolean|null",
        about: "the first use after it was changed",
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "a skill's use has changed",
      sample: {
        action: "used",
        skill_name: "release-notes",
        provenance: "agent",
        task_id: "task_20260726_a41f",
        session_id: "sess_20260726_0915_7c21",
        use_count: 4,
        reused: true,
        reuse_after_patch: false,
      },
    }],
  },
];
