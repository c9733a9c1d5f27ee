/** What `exec` tells of: the fields of the events it fires, with nothing in them that is not so. */
import { fromJs, type Json } from "../events/json.ts";
import type { Fields } from "../events/outcome.ts";
import { quoteWords } from "../sources/shell/words.ts";
import { argsOf } from "./exec_command.ts";

/** One run of a command. */
export interface ExecFacts {
  readonly tool: string;
  readonly session: string;
  /** The folder it runs in. */
  readonly cwd: string;
  /** Our id for it. */
  readonly callId: string;
  /** As it was given, and later as hooks changed it. */
  readonly argv: readonly string[];
}

/** How it ended. */
export interface ExecOutcome {
  readonly status: "ok" | "error" | "blocked";
  /** What `exec` exits with. */
  readonly exit: number;
  /** The signal that ended it. */
  readonly signal?: string;
  /** Why it was not run, or could not be. */
  readonly message?: string;
  readonly durationMs: number;
  /** The last of what it wrote, where that was kept. */
  readonly output?: string;
}

const given = (value: object): Fields => fromJs(value) as Fields;

/** `pre_tool_call`. */
export function beforeFields({ tool, session, cwd, callId, argv }: ExecFacts): Fields {
  return new Map<string, Json>([
    ["tool_name", tool],
    ["args", argsOf(argv)],
    ["session_id", session],
    ["cwd", cwd],
    ["task_id", ""],
    ["tool_call_id", callId],
    ["turn_id", null],
    ["api_request_id", null],
    ["middleware_trace", []],
  ]);
}

/** `post_tool_call`. */
export function afterFields(facts: ExecFacts, outcome: ExecOutcome): Fields {
  const { status, exit, signal, message, durationMs, output } = outcome;
  const result = {
    exit_code: exit,
    ...(signal !== undefined && { signal }),
    ...(output !== undefined && { output }),
    error: message ?? null,
  };
  const type = status === "ok"
    ? null
    : status === "blocked"
    ? "blocked"
    : signal !== undefined
    ? "signal"
    : message !== undefined
    ? "not_started"
    : "exit_code";
  const fields = [...beforeFields(facts)].filter(([name]) => name !== "middleware_trace");
  const text = message ?? (signal === undefined ? `exit ${exit}` : `ended by ${signal}`);
  const more = given({
    result: JSON.stringify(result),
    duration_ms: durationMs,
    status,
    error_type: type,
    error_message: status === "ok" ? null : text,
    middleware_trace: [],
  });
  return new Map([...fields, ...more]);
}

/** An event of `--event`: what is known of the run, in the event's own fields where it has any. */
export function reportFields(event: string, facts: ExecFacts, outcome: ExecOutcome): Fields {
  const { session, cwd, argv, tool } = facts;
  const { status, exit, signal, durationMs, message } = outcome;
  const end = event === "on_session_end"
    ? {
      task_id: "",
      turn_id: null,
      completed: status === "ok",
      failed: status !== "ok",
      interrupted: signal !== undefined,
      turn_exit_reason: message ?? (signal === undefined ? `exit ${exit}` : `ended by ${signal}`),
      model: "",
      platform: "cli",
    }
    : {};
  return given({
    session_id: session,
    cwd,
    ...end,
    exec_tool: tool,
    command: quoteWords(argv),
    status,
    exit_code: exit,
    ...(signal !== undefined && { signal }),
    duration_ms: durationMs,
  });
}

/** `pre_approval_request`; with a choice, `post_approval_response`. */
export function approvalFields(
  { session, cwd, argv, callId }: ExecFacts,
  message: string,
  ruleKey: string | undefined,
  choice?: "once" | "deny",
): Fields {
  return given({
    cwd,
    command: quoteWords(argv),
    description: message,
    pattern_key: ruleKey ?? "",
    pattern_keys: ruleKey === undefined ? [] : [ruleKey],
    session_key: session,
    surface: "cli",
    turn_id: null,
    tool_call_id: callId,
    ...(choice !== undefined && { choice }),
  });
}
