/** Messages and platform events as they reach the gateway. */
import { OBSERVES } from "./row.ts";
import type { EventRow, Field } from "./row.ts";
import { PLATFORM } from "./fields.ts";

const CHAT_ID: Field = {
  name: "chat_id",
  type: "string",
  about: "the chat or channel",
  required: true,
};
const MESSAGE_ID: Field = {
  name: "message_id",
  type: "string",
  about: "the message",
  required: true,
};
const THREAD_ID: Field = {
  name: "thread_id",
  type: "string|null",
  about: "the topic or thread; null when unknown",
  required: true,
};
const THREAD: Field = { name: "thread_id", type: "string", about: "the thread", required: true };
const PARENT_CHAT_ID: Field = {
  name: "parent_chat_id",
  type: "string|null",
  about: "the channel it hangs on",
  required: true,
};

/** In the order of the catalogue, kind by kind. */
export const gateway = (): readonly EventRow[] => [
  {
    ...OBSERVES,
    name: "pre_gateway_dispatch",
    kind: "directive",
    about:
      "For each incoming message that is not internal, before authorisation, pairing and dispatch. The first valid skip, rewrite or allow decides.",
    privacy: "incoming user and routing data; in the original also handles with great power",
    answers: [
      '{"action":"skip","reason"?}: drop the message',
      '{"action":"rewrite","text":"…"}: go on with this text',
      '{"action":"allow"}: go on',
    ],
    fields: [
      {
        name: "event",
        type: "object",
        about:
          "the message: `text`, `message_id`, `internal`, and `source` with `platform`, `chat_id`, `chat_type`, `user_id`, `thread_id`; `internal: true` runs no hook",
        required: true,
      },
      {
        name: "gateway",
        type: "any",
        about: "the running gateway; a handle that no payload can carry",
        required: false,
      },
      {
        name: "session_store",
        type: "any",
        about: "the session store; a handle that no payload can carry",
        required: false,
      },
    ],
    variants: [{
      name: "default",
      about: "a message has come in",
      sample: {
        event: {
          text: "What broke in last night's build?",
          message_id: "4821",
          message_type: "text",
          internal: false,
          source: {
            platform: "telegram",
            chat_id: "-1002233445566",
            chat_type: "group",
            chat_name: "Release room",
            user_id: "84120377",
            user_name: "ada",
            thread_id: "17",
          },
        },
      },
    }],
  },
  {
    ...OBSERVES,
    name: "post_gateway_admission",
    kind: "directive",
    about:
      "After an incoming message has passed authorisation, before the agent gets it. The first valid answer takes the message over.",
    privacy: "the user's message and routing data",
    answers: ['{"action":"handled","reply"?:"…"}: the hook has dealt with the message'],
    fields: [
      {
        name: "session_key",
        type: "string",
        about: "the chat the message belongs to",
        required: true,
      },
      PLATFORM,
      {
        name: "source",
        type: "object|string|null",
        about: "where it came from: platform, chat, user, thread",
        required: true,
      },
      { name: "message_id", type: "string|null", about: "the message", required: true },
      { name: "text", type: "string|null", about: "its text", required: true },
    ],
    variants: [{
      name: "default",
      about: "a message was let in",
      sample: {
        session_key: "agent:main:telegram:dm:84120377",
        platform: "telegram",
        source: {
          platform: "telegram",
          chat_id: "84120377",
          chat_type: "dm",
          user_id: "84120377",
          thread_id: null,
        },
        message_id: "4822",
        text: "What is on the board today?",
      },
    }],
  },
  {
    ...OBSERVES,
    name: "gateway_platform_event",
    telemetry: false,
    about:
      "After the gateway's authorisation, for an event of the platform itself, normalised: reactions, edits, deletions, threads. Ids are strings, what is unknown is null. Return values are ignored.",
    privacy: "normalised plain data only: no SDK objects, handles or clients; texts are the user's",
    fields: [
      { ...PLATFORM, about: "the platform", values: ["telegram", "discord"] },
      {
        name: "event_type",
        type: "string",
        about: "which contract `payload` follows",
        required: true,
        values: [
          "reaction",
          "message_edited",
          "message_deleted",
          "thread_created",
          "thread_renamed",
        ],
      },
      { name: "payload", type: "object", about: "the fields of this event type", required: true },
    ],
    variants: [
      {
        name: "reaction",
        about: "the reactions on a message have changed (Telegram)",
        values: { event_type: ["reaction"], platform: ["telegram"] },
        payloadFields: [
          { name: "emojis", type: "list of strings", about: "plain emojis", required: true },
          {
            name: "custom_emoji_ids",
            type: "list of strings",
            about: "ids of custom emojis",
            required: true,
          },
          CHAT_ID,
          MESSAGE_ID,
          { ...THREAD_ID, about: "always null so far: Telegram does not say" },
        ],
        sample: {
          platform: "telegram",
          event_type: "reaction",
          payload: {
            emojis: ["👍"],
            custom_emoji_ids: [],
            chat_id: "-1002233445566",
            message_id: "4821",
            thread_id: null,
          },
        },
      },
      {
        name: "message_edited",
        about: "a message was edited (Telegram, Discord); never one of the bot's own",
        values: { event_type: ["message_edited"] },
        payloadFields: [
          CHAT_ID,
          MESSAGE_ID,
          THREAD_ID,
          {
            name: "text",
            type: "string|null",
            about: "the new text or caption, bounded; null when only media changed",
            required: true,
          },
          { name: "edited_at", type: "string|null", about: "when, in ISO 8601", required: true },
        ],
        sample: {
          platform: "discord",
          event_type: "message_edited",
          payload: {
            chat_id: "1187766554433221100",
            message_id: "1399887766554433221",
            thread_id: null,
            text: "Deploy at 17:00, not 16:00",
            edited_at: "2026-07-26T09:15:12+00:00",
          },
        },
      },
      {
        name: "message_deleted",
        about: "a message was deleted (Discord); who deleted it is not known",
        values: { event_type: ["message_deleted"], platform: ["discord"] },
        payloadFields: [
          CHAT_ID,
          MESSAGE_ID,
          THREAD_ID,
          {
            name: "author_id",
            type: "string|null",
            about: "who had written it",
            required: true,
          },
        ],
        sample: {
          platform: "discord",
          event_type: "message_deleted",
          payload: {
            chat_id: "1187766554433221100",
            message_id: "1399887766554433221",
            thread_id: null,
            author_id: "220011003300440055",
          },
        },
      },
      {
        name: "thread_created",
        about: "a thread was opened (Discord)",
        values: { event_type: ["thread_created"], platform: ["discord"] },
        payloadFields: [
          THREAD,
          PARENT_CHAT_ID,
          { name: "name", type: "string|null", about: "its name", required: true },
          { name: "owner_id", type: "string|null", about: "who opened it", required: true },
        ],
        sample: {
          platform: "discord",
          event_type: "thread_created",
          payload: {
            thread_id: "1400112233445566778",
            parent_chat_id: "1187766554433221100",
            name: "Release 2.4",
            owner_id: "220011003300440055",
          },
        },
      },
      {
        name: "thread_renamed",
        about: "a thread got another name (Discord)",
        values: { event_type: ["thread_renamed"], platform: ["discord"] },
        payloadFields: [
          THREAD,
          PARENT_CHAT_ID,
          { name: "old_name", type: "string|null", about: "its name before", required: true },
          { name: "new_name", type: "string", about: "its name now", required: true },
        ],
        sample: {
          platform: "discord",
          event_type: "thread_renamed",
          payload: {
            thread_id: "1400112233445566778",
            parent_chat_id: "1187766554433221100",
            old_name: "Release 2.4",
            new_name: "Release 2.4 (shipped)",
          },
        },
      },
    ],
  },
];
