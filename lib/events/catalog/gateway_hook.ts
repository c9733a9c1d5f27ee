/** Events for HOOK.yaml folders (rule 9.3): what a handler gets as its context. */
import { GATEWAY } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import { MODEL, PLATFORM, PROVIDER, SESSION_ID, USER_ID } from "./fields.ts";

const MESSAGING: Field = { ...PLATFORM, about: "the messaging platform" };
const SESSION_KEY: Field = {
  name: "session_key",
  type: "string",
  about: "the chat the session belongs to",
  required: true,
};

const RUN: readonly Field[] = [
  MESSAGING,
  USER_ID,
  { name: "chat_id", type: "string", about: "the chat", required: true },
  {
    name: "thread_id",
    type: "string",
    about: "the topic or thread; empty outside one",
    required: true,
  },
  {
    name: "chat_type",
    type: "string",
    about: "the kind of chat; empty when unknown",
    required: true,
    values: ["dm", "group", "forum", ""],
  },
  SESSION_ID,
  {
    name: "message",
    type: "string",
    about: "the user's message, cut to 500 characters",
    required: true,
  },
];

const REACTION: readonly Field[] = [
  MESSAGING,
  { name: "reaction", type: "string", about: "the emoji's name", required: true },
  { ...USER_ID, about: "who reacted" },
  {
    name: "item_user_id",
    type: "string|null",
    about: "who wrote the message",
    required: true,
  },
  { name: "item_type", type: "string", about: "what was reacted to", required: true },
  { name: "channel_id", type: "string", about: "the channel", required: true },
  { name: "message_ts", type: "string", about: "the message, by its timestamp", required: true },
  { name: "team_id", type: "string|null", about: "the workspace", required: true },
  { name: "event_ts", type: "string", about: "when, as the platform writes it", required: true },
  { name: "raw_event", type: "object", about: "the event as the platform sent it", required: true },
];

const CHAT = { platform: "telegram", user_id: "84120377" };
const KEYED = { ...CHAT, session_key: "agent:main:telegram:dm:84120377" };
const DM = {
  ...CHAT,
  chat_id: "84120377",
  thread_id: "",
  chat_type: "dm",
  session_id: "sess_20260726_0915_7c21",
  message: "What broke in last night's build?",
};
const FORUM = { ...DM, chat_id: "-1002233445566", thread_id: "17", chat_type: "forum" };
const ANSWER = {
  response: "One test: test_login. The fixture expects a cookie that is never set.",
  model: "anthropic/claude-sonnet-4.6",
  provider: "openrouter",
};
const SLACK = {
  platform: "slack",
  reaction: "white_check_mark",
  user_id: "U024BE7LH",
  item_user_id: "U0G9QF9C6",
  item_type: "message",
  channel_id: "C0G9QF9GZ",
  message_ts: "1785057312.000200",
  team_id: "T061EG9R6",
  event_ts: "1785057390.206500",
};
const SLACK_ITEM = { type: "message", channel: "C0G9QF9GZ", ts: "1785057312.000200" };

/** In the order of the catalogue. */
export const gatewayHook = (): readonly EventRow[] => [
  {
    ...GATEWAY,
    name: "gateway:startup",
    about: "When the gateway has started; handlers never delay its readiness.",
    privacy: "names of platforms only",
    fields: [{
      name: "platforms",
      type: "list of strings",
      about: "the platforms that run",
      required: true,
    }],
    variants: [{
      name: "default",
      about: "the gateway is up",
      sample: { platforms: ["telegram", "discord"] },
    }],
  },
  {
    ...GATEWAY,
    name: "session:start",
    about: "When a messaging session is created.",
    privacy: "ids of user and session",
    fields: [MESSAGING, USER_ID, SESSION_ID, SESSION_KEY],
    variants: [{
      name: "default",
      about: "a session was created",
      sample: {
        ...CHAT,
        session_id: "sess_20260726_0915_7c21",
        session_key: "agent:main:telegram:dm:84120377",
      },
    }],
  },
  {
    ...GATEWAY,
    name: "session:end",
    about: "When a messaging session has ended, ahead of a reset.",
    privacy: "ids of user and session",
    fields: [MESSAGING, USER_ID, SESSION_KEY],
    variants: [{ name: "default", about: "a session has ended", sample: KEYED }],
  },
  {
    ...GATEWAY,
    name: "session:reset",
    about: "When a user runs /new or /reset.",
    privacy: "ids of user and session",
    fields: [MESSAGING, USER_ID, SESSION_KEY],
    variants: [{ name: "default", about: "a session was reset", sample: KEYED }],
  },
  {
    ...GATEWAY,
    name: "session:compress",
    about: "When a session's context has been compressed.",
    privacy: "ids of sessions",
    fields: [
      MESSAGING,
      SESSION_ID,
      {
        name: "old_session_id",
        type: "string",
        about: "the session before; empty when compressed in place",
        required: true,
      },
      { name: "in_place", type: "boolean", about: "the session keeps its id", required: true },
      {
        name: "compression_count",
        type: "integer",
        about: "compressions so far",
        required: true,
      },
    ],
    variants: [
      {
        name: "in_place",
        about: "under the same id",
        sample: {
          platform: "telegram",
          session_id: "sess_20260726_0915_7c21",
          old_session_id: "",
          in_place: true,
          compression_count: 1,
        },
      },
      {
        name: "rotated",
        about: "into a new session",
        sample: {
          platform: "telegram",
          session_id: "sess_20260726_1102_b83e",
          old_session_id: "sess_20260726_0915_7c21",
          in_place: false,
          compression_count: 2,
        },
      },
    ],
  },
  {
    ...GATEWAY,
    name: "agent:start",
    about: "When the agent starts on a message.",
    privacy: "ids and the start of the user's message",
    fields: RUN,
    variants: [
      { name: "dm", about: "in a direct chat", values: { chat_type: ["dm"] }, sample: DM },
      {
        name: "forum",
        about: "in a topic of a forum",
        values: { chat_type: ["forum"] },
        sample: FORUM,
      },
    ],
  },
  {
    ...GATEWAY,
    name: "agent:step",
    about: "Each round of the tool loop.",
    privacy: "ids and names of tools; `tools` can hold what they returned",
    fields: [
      MESSAGING,
      USER_ID,
      SESSION_ID,
      { name: "iteration", type: "integer", about: "which round, from 1", required: true },
      {
        name: "tool_names",
        type: "list of strings",
        about: "the tools called in the round before",
        required: true,
      },
      { name: "tools", type: "list", about: "more on these calls", required: true },
    ],
    variants: [{
      name: "default",
      about: "a round starts",
      sample: {
        ...CHAT,
        session_id: "sess_20260726_0915_7c21",
        iteration: 2,
        tool_names: ["terminal"],
        tools: [{ name: "terminal", result: '{"output": " M src/app.py\\n", "exit_code": 0}' }],
      },
    }],
  },
  {
    ...GATEWAY,
    name: "agent:end",
    about: "When the agent is done with a message.",
    privacy: "ids and the start of message and answer",
    fields: [
      ...RUN,
      {
        name: "response",
        type: "string",
        about: "the answer, cut to 500 characters",
        required: true,
      },
      { ...MODEL, type: "string|null" },
      { ...PROVIDER, type: "string|null" },
    ],
    variants: [
      {
        name: "dm",
        about: "in a direct chat",
        values: { chat_type: ["dm"] },
        sample: { ...DM, ...ANSWER },
      },
      {
        name: "forum",
        about: "in a topic of a forum",
        values: { chat_type: ["forum"] },
        sample: { ...FORUM, ...ANSWER },
      },
    ],
  },
  {
    ...GATEWAY,
    name: "reaction:added",
    about: "When someone puts an emoji on a message the bot can see (Slack so far).",
    privacy: "ids of users and channels, and the platform's raw event",
    fields: REACTION,
    variants: [{
      name: "default",
      about: "an emoji was added",
      sample: {
        ...SLACK,
        raw_event: {
          type: "reaction_added",
          user: "U024BE7LH",
          reaction: "white_check_mark",
          item: SLACK_ITEM,
          event_ts: "1785057390.206500",
        },
      },
    }],
  },
  {
    ...GATEWAY,
    name: "reaction:removed",
    about: "When someone takes an emoji off a message the bot can see (Slack so far).",
    privacy: "ids of users and channels, and the platform's raw event",
    fields: REACTION,
    variants: [{
      name: "default",
      about: "an emoji was removed",
      sample: {
        ...SLACK,
        raw_event: {
          type: "reaction_removed",
          user: "U024BE7LH",
          reaction: "white_check_mark",
          item: SLACK_ITEM,
          event_ts: "1785057390.206500",
        },
      },
    }],
  },
  {
    ...GATEWAY,
    name: "command:<name>",
    about:
      "When a slash command is sent, `command:model` for /model. What handlers return is read in order: the first deny, handled or rewrite decides.",
    privacy: "ids, and what the user typed after the command",
    answers: [
      '{"decision":"deny","message"?}',
      '{"decision":"handled","message"?}',
      '{"decision":"rewrite","command_name":"…","raw_args"?}',
      '{"decision":"allow"}, or nothing: go on',
    ],
    fields: [
      MESSAGING,
      USER_ID,
      { name: "command", type: "string", about: "the command's name", required: true },
      {
        name: "raw_command",
        type: "string",
        about: "the name that was typed",
        required: true,
      },
      { name: "args", type: "string", about: "the text after it, trimmed", required: true },
      { name: "raw_args", type: "string", about: "the text after it, as typed", required: true },
    ],
    variants: [{
      name: "default",
      about: "a command was sent",
      sample: {
        ...CHAT,
        command: "model",
        raw_command: "model",
        args: "anthropic/claude-sonnet-4.6",
        raw_args: "anthropic/claude-sonnet-4.6",
      },
    }],
  },
];
