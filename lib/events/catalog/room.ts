/** Rooms that several agents share. */
import { OBSERVES } from "./row.ts";
import type { EventRow } from "./row.ts";

/** In the order of the catalogue. */
export const room = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "on_room_member_activity",
    about: "When a member of a shared room does something. Return values are ignored.",
    privacy: "ids of rooms and members; `payload` can hold content of the project",
    fields: [
      { name: "room_id", type: "string", about: "the room", required: true },
      { name: "thread_id", type: "string|null", about: "the thread in it", required: true },
      { name: "member_id", type: "string", about: "who is active", required: true },
      { name: "turn_id", type: "string|null", about: "the member's turn", required: true },
      { name: "task_id", type: "string|null", about: "the member's task", required: true },
      {
        name: "execution_generation",
        type: "integer|null",
        about: "which run of the task this is; older runs no longer count",
        required: true,
      },
      {
        name: "kind",
        type: "string",
        about: 'what it does, such as "tool_started"',
        required: true,
      },
      {
        name: "seq",
        type: "integer",
        about: "position in the member's activity",
        required: true,
      },
      { name: "payload", type: "object|null", about: "more, by kind", required: true },
    ],
    variants: [{
      name: "default",
      about: "a member is at work",
      sample: {
        room_id: "room_release",
        thread_id: "thr_0004",
        member_id: "agent_reviewer",
        turn_id: "turn_0011",
        task_id: "task_20260726_a41f",
        execution_generation: 2,
        kind: "tool_started",
        seq: 37,
        payload: { tool_name: "read_file" },
      },
    }],
  },
];
