/** The events of other coding agents, and what to use for them here (rule 2.1). */

const GATE = 'use "pre_tool_call"';
const AFTER_TOOL = 'use "post_tool_call"';
const PROMPT = 'use "pre_llm_call"';
const ENDED = 'use "on_session_end" to observe, "pre_verify" to keep the agent going';
const STARTED = 'use "on_session_start"';
const CLOSED = 'use "on_session_finalize"';
const CHILD_STARTED = 'use "subagent_start"';
const CHILD_ENDED = 'use "subagent_stop"';
const APPROVAL = 'use "pre_approval_request" to observe, "pre_tool_call" to decide';
const ANSWERED = 'use "post_llm_call" to observe, "transform_llm_output" to change the answer';
const COMPRESSED =
  'no counterpart here; after compression the gateway fires "session:compress", for a HOOK.yaml';
const ASKED = 'use "on_human_input_request"';
const BEFORE_MODEL = 'use "pre_api_request" to observe, "pre_llm_call" to add context';
const AFTER_MODEL =
  'use "post_api_request" to observe, "transform_llm_output" to change the answer';
const TASK = 'use "on_kanban_task_updated" for tasks on the board; else no counterpart here';
const NONE = "no counterpart here";

/** Whose events are known by name. */
export type Agent = "Claude Code" | "Cursor" | "Gemini CLI" | "Codex";

/** An event of theirs: its spelling, who uses it, what to do here. */
export type ForeignEvent = readonly [name: string, agents: readonly Agent[], advice: string];

/** The events of other agents; a function, so that only a name in question pays for the table. */
export const foreignEvents = (): readonly ForeignEvent[] => [
  ["PreToolUse", ["Claude Code", "Codex", "Cursor"], GATE],
  ["PostToolUse", ["Claude Code", "Codex", "Cursor"], AFTER_TOOL],
  [
    "PostToolUseFailure",
    ["Claude Code", "Cursor"],
    'use "post_tool_call": it fires for failures too, with `status`',
  ],
  ["PostToolBatch", ["Claude Code"], 'use "post_tool_call", once for each call'],
  ["UserPromptSubmit", ["Claude Code", "Codex"], PROMPT],
  ["UserPromptExpansion", ["Claude Code"], 'use "pre_command"'],
  ["Stop", ["Claude Code", "Codex", "Cursor"], ENDED],
  ["StopFailure", ["Claude Code"], 'use "api_request_error", or "on_session_end" with `failed`'],
  ["SubagentStart", ["Claude Code", "Codex", "Cursor"], CHILD_STARTED],
  ["SubagentStop", ["Claude Code", "Codex", "Cursor"], CHILD_ENDED],
  ["SessionStart", ["Claude Code", "Codex", "Cursor", "Gemini CLI"], STARTED],
  ["SessionEnd", ["Claude Code", "Cursor", "Gemini CLI"], CLOSED],
  ["PreCompact", ["Claude Code", "Codex", "Cursor"], COMPRESSED],
  ["PostCompact", ["Claude Code", "Codex"], COMPRESSED],
  ["Notification", ["Claude Code", "Gemini CLI"], `${ASKED} or "pre_approval_request"`],
  ["PermissionRequest", ["Claude Code", "Codex"], APPROVAL],
  ["PermissionDenied", ["Claude Code"], 'use "post_approval_response"'],
  ["Elicitation", ["Claude Code"], ASKED],
  ["ElicitationResult", ["Claude Code"], 'use "on_human_input_resolved"'],
  ["MessageDisplay", ["Claude Code"], 'use "on_interim_message" or "post_llm_call"'],
  ["TeammateIdle", ["Claude Code"], 'use "on_room_member_activity"'],
  ["TaskCreated", ["Claude Code"], TASK],
  ["TaskCompleted", ["Claude Code"], 'use "kanban_task_completed" for tasks on the board'],
  ["Setup", ["Claude Code"], `${NONE}; "gateway:startup", for a HOOK.yaml, is the nearest`],
  ["InstructionsLoaded", ["Claude Code"], NONE],
  ["ConfigChange", ["Claude Code"], NONE],
  ["CwdChanged", ["Claude Code"], NONE],
  ["DirectoryAdded", ["Claude Code"], NONE],
  ["FileChanged", ["Claude Code"], `${NONE}; "post_tool_call" sees the agent's own edits`],
  ["WorktreeCreate", ["Claude Code"], NONE],
  ["WorktreeRemove", ["Claude Code"], NONE],
  ["PreModelSwitch", ["Claude Code"], NONE],
  ["PostModelSwitch", ["Claude Code"], NONE],
  ["beforeShellExecution", ["Cursor"], `${GATE} with matcher "terminal"`],
  ["afterShellExecution", ["Cursor"], `${AFTER_TOOL} with matcher "terminal"`],
  ["beforeMCPExecution", ["Cursor"], `${GATE} with a matcher for the server's tools`],
  ["afterMCPExecution", ["Cursor"], `${AFTER_TOOL} with a matcher for the server's tools`],
  ["beforeReadFile", ["Cursor"], `${GATE} with matcher "read_file"`],
  ["afterFileEdit", ["Cursor"], `${AFTER_TOOL} with matcher "write_file|patch"`],
  ["beforeSubmitPrompt", ["Cursor"], PROMPT],
  ["afterAgentResponse", ["Cursor"], ANSWERED],
  [
    "afterAgentThought",
    ["Cursor"],
    'use "on_stream_delta" of kind "reasoning", with plugins.stream_reasoning_deltas: true',
  ],
  ["beforeTabFileRead", ["Cursor"], NONE],
  ["afterTabFileEdit", ["Cursor"], NONE],
  ["workspaceOpen", ["Cursor"], `${NONE}; "on_session_start" is the nearest`],
  ["BeforeTool", ["Gemini CLI"], GATE],
  ["AfterTool", ["Gemini CLI"], `${AFTER_TOOL}, or "transform_tool_result" to change the result`],
  ["BeforeAgent", ["Gemini CLI"], PROMPT],
  ["AfterAgent", ["Gemini CLI"], ENDED],
  ["BeforeModel", ["Gemini CLI"], BEFORE_MODEL],
  ["AfterModel", ["Gemini CLI"], AFTER_MODEL],
  [
    "BeforeToolSelection",
    ["Gemini CLI"],
    `${NONE}; "pre_tool_call" can refuse the tool when it is called`,
  ],
  ["PreCompress", ["Gemini CLI"], COMPRESSED],
  ["notify", ["Codex"], ENDED],
  ["agent-turn-complete", ["Codex"], ENDED],
  ["approval-requested", ["Codex"], 'use "pre_approval_request"'],
];
