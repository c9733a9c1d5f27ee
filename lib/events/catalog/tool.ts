/** Events around one tool call. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import {
  API_REQUEST_ID,
  ARGS,
  DURATION_MS,
  MIDDLEWARE_TRACE,
  SESSION_ID,
  TASK_ID,
  TOOL_CALL_ID,
  TOOL_NAME,
  TURN_ID,
} from "./fields.ts";

const IDS = [TASK_ID, SESSION_ID, TOOL_CALL_ID, TURN_ID, API_REQUEST_ID];

const RESULT: Field = {
  name: "result",
  type: "string",
  about: "what the tool returned, a JSON text",
  required: true,
};
const STATUS: Field = {
  name: "status",
  type: "string",
  about: "how the call went",
  required: true,
  values: ["ok", "error", "blocked"],
};
const ERROR_TYPE: Field = {
  name: "error_type",
  type: "string|null",
  about: "the kind of error; null when there was none",
  required: true,
};
const ERROR_MESSAGE: Field = {
  name: "error_message",
  type: "string|null",
  about: "the error's text; null when there was none",
  required: true,
};

const SAMPLE_IDS = {
  task_id: "task_20260726_a41f",
  session_id: "sess_20260726_0915_7c21",
  tool_call_id: "call_8Jk2mQ",
  turn_id: "turn_0003",
  api_request_id: "req_0007",
};
const SAMPLE_CALL = {
  tool_name: "terminal",
  args: { command: "git status --short", timeout: 30 },
};
const SAMPLE_RESULT = '{"output": " M src/app.py\\n", "exit_code": 0, "error": null}';

/** In the order of the catalogue, kind by kind. */
export const tool = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_tool_call",
    kind: "directive",
    tool: true,
    canBlock: true,
    about:
      "Once before every tool call, ahead of the tool itself. Any block beats any approve, the first of each wins; modify directives add up into one copy of the arguments.",
    privacy: "raw arguments can hold the user's content, paths, commands and secrets",
    answers: [
      '{"action":"block","message"|"reason":…}, or "deny" for "block", or under "decision"',
      '{"action":"approve","message"?,"rule_key"?}: a human must say yes; "ask" means the same',
      '{"action":"modify","args":{…}} or {"decision":"modify","tool_input":{…}}',
      '{"action":"allow"}, {"decision":"approve"}: no directive',
      'Claude Code: {"hookSpecificOutput":{"permissionDecision":…,"permissionDecisionReason"?,"updatedInput"?}}, {"continue":false,"stopReason"?}',
      'Cursor: {"permission":"deny"|"ask"|"allow","user_message"|"agent_message"?}',
      "exit 2: block, with the message from stdout, else the first 400 characters of stderr",
    ],
    fields: [TOOL_NAME, ARGS, ...IDS, MIDDLEWARE_TRACE],
    variants: [{
      name: "default",
      about: "a tool is about to run",
      sample: { ...SAMPLE_CALL, ...SAMPLE_IDS, middleware_trace: [] },
    }],
  },
  {
    ...OBSERVES,
    name: "transform_tool_result",
    kind: "transform",
    about:
      "After post_tool_call, before a tool's result joins the conversation. The first string replaces the result, an empty one too.",
    privacy: "shows the result that goes to the model and the arguments, as they are",
    answers: ['a JSON string, or {"result":"…"}'],
    fields: [
      TOOL_NAME,
      ARGS,
      RESULT,
      ...IDS,
      DURATION_MS,
      STATUS,
      ERROR_TYPE,
      ERROR_MESSAGE,
    ],
    variants: [{
      name: "default",
      about: "a result is about to reach the model",
      sample: {
        tool_name: "web_extract",
        args: { urls: ["https://example.com/pricing"] },
        result: '{"content": "Pricing\\nTeam plan: 20 USD a month"}',
        ...SAMPLE_IDS,
        duration_ms: 812,
        status: "ok",
        error_type: null,
        error_message: null,
      },
    }],
  },
  {
    ...OBSERVES,
    name: "transform_terminal_output",
    kind: "transform",
    about:
      "In the terminal tool, after a foreground command's output is captured and before it is cut to its final length. The first string replaces the output, an empty one too.",
    privacy: "command and output can hold credentials",
    answers: ['a JSON string, or {"output":"…"}'],
    fields: [
      {
        name: "command",
        type: "string",
        about: "the shell command that was run",
        required: true,
      },
      {
        name: "output",
        type: "string",
        about: "stdout and stderr together, up to the capture limit",
        required: true,
      },
      { name: "returncode", type: "integer", about: "the exit code", required: true },
      TASK_ID,
      {
        name: "env_type",
        type: "string",
        about: 'where it ran, such as "local" or "docker"',
        required: true,
      },
    ],
    variants: [{
      name: "default",
      about: "a foreground command has ended",
      sample: {
        command: "find . -name '*.py'",
        output: "./app.py\n./tests/test_app.py\n",
        returncode: 0,
        task_id: "task_20260726_a41f",
        env_type: "local",
      },
    }],
  },
  {
    ...OBSERVES,
    name: "post_tool_call",
    tool: true,
    about:
      "After every tool call, whether it succeeded, failed or was blocked. Return values are ignored.",
    privacy: "results and error texts can hold any content of tools and users, and secrets",
    fields: [
      TOOL_NAME,
      ARGS,
      RESULT,
      ...IDS,
      DURATION_MS,
      STATUS,
      ERROR_TYPE,
      ERROR_MESSAGE,
      MIDDLEWARE_TRACE,
    ],
    variants: [
      {
        name: "ok",
        about: "the tool returned",
        values: { status: ["ok"] },
        sample: {
          ...SAMPLE_CALL,
          result: SAMPLE_RESULT,
          ...SAMPLE_IDS,
          duration_ms: 143,
          status: "ok",
          error_type: null,
          error_message: null,
          middleware_trace: [],
        },
      },
      {
        name: "error",
        about: "the tool failed; `result` is the error as JSON",
        values: { status: ["error"] },
        sample: {
          tool_name: "read_file",
          args: { path: "/home/ada/project/missing.txt" },
          result: '{"error": "File not found: /home/ada/project/missing.txt"}',
          ...SAMPLE_IDS,
          duration_ms: 4,
          status: "error",
          error_type: "FileNotFoundError",
          error_message: "File not found: /home/ada/project/missing.txt",
          middleware_trace: [],
        },
      },
      {
        name: "blocked",
        about: "a hook or a guard refused the call; the tool never ran",
        values: { status: ["blocked"] },
        sample: {
          tool_name: "terminal",
          args: { command: "rm -rf build" },
          result: '{"error": "blocked: ask before deleting"}',
          ...SAMPLE_IDS,
          duration_ms: 0,
          status: "blocked",
          error_type: "blocked",
          error_message: "blocked: ask before deleting",
          middleware_trace: [],
        },
      },
    ],
  },
];
