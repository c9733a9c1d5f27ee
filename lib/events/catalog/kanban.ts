/** The kanban board: tasks, workers and the dispatcher. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";

const PROFILE_NAME: Field = {
  name: "profile_name",
  type: "string|null",
  about: "the profile the process runs under",
  required: true,
};
const BOARD: Field = { name: "board", type: "string|null", about: "the board", required: true };
const TASK: readonly Field[] = [
  { name: "task_id", type: "string", about: "the task", required: true },
  PROFILE_NAME,
  BOARD,
  {
    name: "assignee",
    type: "string|null",
    about: "the profile the task is given to",
    required: true,
  },
  {
    name: "run_id",
    type: "string|integer|null",
    about: "the run of the task",
    required: true,
  },
];
const WORKER_PID: Field = {
  name: "worker_pid",
  type: "integer|null",
  about: "the worker's process",
  required: true,
};
const RETRY_STATUS: Field = {
  name: "retry_status",
  type: "string|object|null",
  about: "whether the task is tried again",
  required: true,
};

const SAMPLE = {
  task_id: "t_9c41e0",
  profile_name: "default",
  board: "default",
  assignee: "coder",
  run_id: 12,
};

/** In the order of the catalogue. */
export const kanban = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "kanban_task_claimed",
    about:
      "In the dispatcher, once a claim is committed and before the worker is started. Return values are ignored.",
    privacy: "ids of board, task, profile and assignee",
    fields: TASK,
    variants: [{ name: "default", about: "a task was claimed", sample: SAMPLE }],
  },
  {
    ...OBSERVES,
    name: "kanban_task_completed",
    about:
      "After a task was completed and cleaned up, usually in the worker. Return values are ignored.",
    privacy: "the summary can hold content of the project and the user",
    fields: [
      ...TASK,
      { name: "summary", type: "string|null", about: "what was done", required: true },
    ],
    variants: [{
      name: "default",
      about: "a task was completed",
      sample: { ...SAMPLE, summary: "Login test fixed; the fixture sets the cookie." },
    }],
  },
  {
    ...OBSERVES,
    name: "kanban_task_blocked",
    about:
      "After a task became blocked; when it waits for another task, still inside that transaction. Return values are ignored.",
    privacy: "the reason can hold content of the project and the user",
    fields: [
      ...TASK,
      { name: "reason", type: "string|null", about: "what it waits for", required: true },
    ],
    variants: [{
      name: "default",
      about: "a task is blocked",
      sample: { ...SAMPLE, reason: "Needs the staging password from Ada" },
    }],
  },
  {
    ...OBSERVES,
    name: "on_kanban_worker_spawned",
    about:
      "After a worker was started and its process id saved; inside the dispatch lock, so be quick. Return values are ignored.",
    privacy: "`workspace_path` can show how the project is built and the user's name",
    fields: [
      ...TASK,
      WORKER_PID,
      {
        name: "workspace_path",
        type: "string|null",
        about: "the folder the worker works in",
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "a worker was started",
      sample: {
        ...SAMPLE,
        worker_pid: 48213,
        workspace_path: "/home/ada/.hermes/kanban/workspaces/t_9c41e0",
      },
    }],
  },
  {
    ...OBSERVES,
    name: "on_kanban_worker_exited",
    about:
      "After the dispatcher found a worker's process gone and has committed taking its task back. Return values are ignored.",
    privacy: "ids, and how the process ended",
    fields: [
      ...TASK,
      WORKER_PID,
      {
        name: "exit_kind",
        type: "string|null",
        about: 'how the process ended, such as "crashed"',
        required: true,
      },
      {
        name: "exit_code",
        type: "integer|null",
        about: "its exit code, if known",
        required: true,
      },
      { name: "outcome", type: "string|null", about: "what became of the run", required: true },
      RETRY_STATUS,
    ],
    variants: [{
      name: "default",
      about: "a worker is gone",
      sample: {
        ...SAMPLE,
        worker_pid: 48213,
        exit_kind: "nonzero_exit",
        exit_code: 1,
        outcome: "crashed",
        retry_status: "requeued",
      },
    }],
  },
  {
    ...OBSERVES,
    name: "on_kanban_worker_stale_claim",
    about:
      "After an expired claim was taken back; not when the process lives and the claim was extended. Return values are ignored.",
    privacy: "ids, and the state of the claim",
    fields: [
      ...TASK,
      WORKER_PID,
      {
        name: "heartbeat_stale",
        type: "boolean|null",
        about: "the worker had stopped reporting",
        required: true,
      },
      RETRY_STATUS,
    ],
    variants: [{
      name: "default",
      about: "a claim was taken back",
      sample: { ...SAMPLE, worker_pid: 48213, heartbeat_stale: true, retry_status: "requeued" },
    }],
  },
  {
    ...OBSERVES,
    name: "on_kanban_task_updated",
    about:
      "After a change to a task's fields was committed, outside claiming, completing and blocking. Return values are ignored.",
    privacy:
      "names of fields only; what the board holds under them can be content of the project and the user",
    fields: [
      ...TASK,
      {
        name: "changed_fields",
        type: "list of strings",
        about: "names of the fields changed, never their values",
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "a task was edited",
      sample: { ...SAMPLE, changed_fields: ["assignee", "priority"] },
    }],
  },
  {
    ...OBSERVES,
    name: "on_kanban_dispatch_tick",
    about:
      "Once each round of the dispatcher, after its lock is released, also when it did nothing or lost the lock. Return values are ignored.",
    privacy: "`result` holds ids of tasks, assignees and paths of work folders",
    fields: [
      BOARD,
      PROFILE_NAME,
      { name: "dry_run", type: "boolean", about: "nothing was really started", required: true },
      {
        name: "outcome",
        type: "string",
        about: 'how the round went, such as "dispatched" or "idle"',
        required: true,
      },
      {
        name: "result",
        type: "object|string|null",
        about: "what was done: tasks, assignees, folders",
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "a round is over",
      sample: {
        board: "default",
        profile_name: "default",
        dry_run: false,
        outcome: "dispatched",
        result: {
          spawned: [["t_9c41e0", "coder", "/home/ada/.hermes/kanban/workspaces/t_9c41e0"]],
          reclaimed: 0,
          crashed: [],
        },
      },
    }],
  },
];
