/** Reaching the listener of this home over its unix socket, for commands that run beside it. */
import process from "node:process";
import type { Context } from "../context.ts";
import {
  isObject,
  type Json,
  JsonNumber,
  type JsonObject,
  printable,
  writeJson,
} from "../events/json.ts";
import type { Listener, ListenerAnswer } from "../outbound/handover.ts";
import type { SocketAnswer } from "../server/client.ts";
import { socketPathOf, socketTrusted } from "../platform/socket_path.ts";

/** How long it gets to say which files it runs on, in ms. */
const READY_MS = 50;
/** How long it gets to take an event over, in ms. */
const TAKE_MS = 5_000;
/** Of a listener's 16 MiB, with room for what goes around an event, in characters. */
const MOST_CHARS = 5 * 1024 * 1024;
/** Answers that say: not taken. */
const REFUSALS = [409, 413, 429, 503];

function trustedSocket({ home, env }: Context): string | undefined {
  const uid = process.getuid?.();
  const socket = socketPathOf(home, env, uid);
  return socketTrusted(socket, uid) ? socket : undefined;
}

/** Loaded only where there is a socket. */
const client = () => import("../server/client.ts");

/** The listener of a context's home, as deliveries are handed to it; undefined: there is none. */
export function listenerOf(context: Context): Listener | undefined {
  const socket = trustedSocket(context);
  if (socket === undefined) return undefined;
  return {
    ready: async () => await readiness(socket, context, READY_MS) === "ready",
    take: async (call, occurredAt, targets, flushMs) => {
      // Not tried with what it would refuse.
      if (call.text.length > MOST_CHARS) return { kind: "refused" };
      const body = `{"event": ${writeJson(call.event)}, "wire": ${call.text}, ` +
        `"occurred_at": "${occurredAt.toISOString()}", "targets": ${writeJson([...targets])}}`;
      const path = flushMs > 0 ? `/v1/outbound?flush=${flushMs / 1000}` : "/v1/outbound";
      const timeoutMs = TAKE_MS + flushMs;
      const { askSocket } = await client();
      return await taken(await askSocket(socket, { method: "POST", path, body, timeoutMs }));
    },
  };
}

/** `other`: not in the state that is on disk, so that it would send and run something else. */
type Readiness = "ready" | "other" | "silent" | "nobody";

async function readiness(
  socket: string,
  context: Context,
  timeoutMs: number,
): Promise<Readiness> {
  const [{ answerObject, askSocket }, { digestsOf }] = await Promise.all([
    client(),
    import("../server/digest.ts"),
  ]);
  const asked = askSocket(socket, { method: "GET", path: "/readyz", timeoutMs });
  const { config, allowlist } = digestsOf(context);
  const answer = await asked;
  if (answer.kind === "unreachable") return "nobody";
  if (answer.kind === "lost") return "silent";
  if (answer.status !== 200) return "nobody";
  const said = answerObject(answer);
  const same = said?.get("config_sha256") === config && said.get("allowlist_sha256") === allowlist;
  return same ? "ready" : "other";
}

async function taken(answer: SocketAnswer): Promise<ListenerAnswer> {
  if (answer.kind === "unreachable") return { kind: "refused" };
  if (answer.kind === "lost") return answer;
  if (REFUSALS.includes(answer.status)) return { kind: "refused" };
  const { answerObject } = await client();
  const said = answerObject(answer);
  const ids = said?.get("ids");
  if (answer.status !== 202 || !Array.isArray(ids)) {
    return { kind: "lost", reason: `it answered ${answer.status}` };
  }
  return { kind: "taken", count: ids.length, undelivered: undelivered(said?.get("settled")) };
}

const FATES = ["failed", "dropped", "pending", "unknown"];

/** Of the counts it answers with when told to wait. */
function undelivered(settled: Json | undefined): string[] | undefined {
  if (!isObject(settled)) return undefined;
  return FATES.flatMap((fate) => {
    const count = settled.get(fate);
    return count instanceof JsonNumber && count.text !== "0" ? [`${count.text} ${fate}`] : [];
  });
}

/** What came of {@link askPlugins}. */
export type PluginsAnswer =
  /** No listener runs here, or it does not take this; `why` where a person should know. */
  | { readonly kind: "nobody"; readonly why?: string }
  | { readonly kind: "answered"; readonly answer: JsonObject }
  /** It took it, and no answer came: the callbacks may have run. */
  | { readonly kind: "lost"; readonly reason: string };

/** The same as {@link READY_MS} where the alternative is to start hosts, which takes longer. */
const PLUGINS_READY_MS = 1_000;
/** So many callbacks may take all the time they have before the listener counts as lost. */
const PATIENCE = 20;
/** How long loading plugins may take on top, in ms; and the whole where callbacks have no bound. */
const LOADING_MS = 60_000;
const LONGEST_MS = 3_600_000;

/**
 * Has the listener of a context's home run its plugins on an event.
 * @param callbackTimeout seconds each callback has; 0: no bound
 */
export async function askPlugins(
  context: Context,
  body: string,
  callbackTimeout: number,
): Promise<PluginsAnswer> {
  const socket = trustedSocket(context);
  if (socket === undefined || body.length > MOST_CHARS) return { kind: "nobody" };
  const state = await readiness(socket, context, PLUGINS_READY_MS);
  if (state === "other") return { kind: "nobody", why: "runs on another config or allowlist" };
  if (state === "silent") return { kind: "nobody", why: "does not answer" };
  if (state === "nobody") return { kind: "nobody" };
  const longest = callbackTimeout * 1000 * PATIENCE + LOADING_MS;
  const timeoutMs = callbackTimeout > 0 ? Math.min(longest, LONGEST_MS) : LONGEST_MS;
  const { answerObject, askSocket } = await client();
  const asked = await askSocket(socket, { method: "POST", path: "/v1/plugins", body, timeoutMs });
  if (asked.kind === "unreachable") return { kind: "nobody" };
  if (asked.kind === "lost") return asked;
  const answer = answerObject(asked);
  if (asked.status === 200 && answer) return { kind: "answered", answer };
  // Refusals come before anything is run; of a stop halfway the caller is told by 503 too.
  return asked.status === 503 ? { kind: "lost", reason: "it is stopping" } : { kind: "nobody" };
}

/** What came of {@link tellListener}. */
export type Told =
  /** None runs here. */
  | { readonly kind: "nobody" }
  | { readonly kind: "told" }
  | { readonly kind: "failed"; readonly reason: string };

/** Makes a running listener read config and allowlist again; it obeys at once. */
export async function tellListener(context: Context): Promise<Told> {
  const socket = trustedSocket(context);
  if (socket === undefined) return { kind: "nobody" };
  const { reloadListener } = await client();
  const answer = await reloadListener(socket);
  if (answer.kind === "refused") return { kind: "failed", reason: printable(answer.reason) };
  return { kind: answer.kind === "none" ? "nobody" : "told" };
}
