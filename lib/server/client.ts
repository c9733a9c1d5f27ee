/** Asking a listener over its unix socket: a small HTTP client that costs next to nothing to load. */
import { connect } from "node:net";
import { isObject, parseJson, stringAt } from "../events/json.ts";
import type { Json, JsonObject } from "../events/json.ts";

/** What to ask. */
export interface SocketRequest {
  readonly method: "GET" | "POST";
  /** With its query, such as `/v1/outbound?flush=10`. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** From the start to the whole answer, in ms. */
  readonly timeoutMs: number;
}

/** What came of asking. */
export type SocketAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly body: string }
  /** Nothing was sent: there is nobody, or nobody took the connection in time. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** It was sent, at least in part, and no whole answer came: it may have been acted upon. */
  | { readonly kind: "lost"; readonly reason: string };

/** Sends one request. Never rejects. */
export function askSocket(socket: string, request: SocketRequest): Promise<SocketAnswer> {
  return new Promise((settle) => {
    const connection = connect(socket);
    const incoming = new Incoming();
    let sent = false, reason = "the connection was closed before the answer";
    const finish = () => {
      clearTimeout(timer);
      connection.destroy();
      settle(incoming.answer() ?? { kind: sent ? "lost" : "unreachable", reason });
    };
    const timer = setTimeout(() => {
      reason = `no answer within ${request.timeoutMs} ms`;
      finish();
    }, request.timeoutMs);
    connection.on("connect", () => {
      sent = true;
      connection.write(requestBytes(request));
    });
    connection.on("data", (bytes: Uint8Array) => {
      incoming.push(bytes);
      if (incoming.whole) finish();
    });
    connection.on("error", (error: NodeJS.ErrnoException) => {
      reason = error.code ?? "unknown error";
      finish();
    });
    connection.on("close", finish);
  });
}

function requestBytes({ method, path, body }: SocketRequest): Uint8Array {
  const bytes = new TextEncoder().encode(body ?? "");
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    "connection: close",
    "content-type: application/json",
    `content-length: ${bytes.length}`,
  ];
  const head = new TextEncoder().encode(lines.join("\r\n") + "\r\n\r\n");
  const all = new Uint8Array(head.length + bytes.length);
  all.set(head);
  all.set(bytes, head.length);
  return all;
}

/** An answer as it comes in; the listener always says how long it is. */
class Incoming {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #head: { readonly status: number; readonly start: number; readonly end: number } | undefined;

  push(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    this.#head ??= readHead(joined(this.#chunks));
  }

  get whole(): boolean {
    return this.#head !== undefined && this.#size >= this.#head.end;
  }

  answer(): SocketAnswer | undefined {
    if (!this.#head || !this.whole) return undefined;
    const { status, start, end } = this.#head;
    const body = new TextDecoder().decode(joined(this.#chunks).subarray(start, end));
    return { kind: "answer", status, body };
  }
}

function readHead(bytes: Uint8Array) {
  const text = new TextDecoder("latin1").decode(bytes);
  const blank = text.indexOf("\r\n\r\n");
  const head = text.slice(0, Math.max(blank, 0));
  const status = /^HTTP\/1\.[01] ([0-9]{3})/.exec(head)?.[1];
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1];
  if (status === undefined || length === undefined) return undefined;
  return { status: Number(status), start: blank + 4, end: blank + 4 + Number(length) };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** The JSON object an answer holds; undefined when it holds none. */
export function answerObject(answer: SocketAnswer): JsonObject | undefined {
  if (answer.kind !== "answer") return undefined;
  try {
    const value: Json = parseJson(answer.body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How long a listener may take to read its files again, in ms. */
const RELOAD_MS = 5000;

/**
 * Tells a listener that config or allowlist changed, after `allow` and `revoke`. Whether the
 * socket is to be trusted is for the caller to see first.
 * @returns `none` when nobody listens; `refused` with the reason when the present state stays
 */
export async function reloadListener(
  socket: string,
): Promise<{ readonly kind: "reloaded" | "none" } | { kind: "refused"; reason: string }> {
  const request = { method: "POST", path: "/v1/reload", timeoutMs: RELOAD_MS } as const;
  const answer = await askSocket(socket, request);
  if (answer.kind === "unreachable") {
    // Nobody, or a socket left there by a crash; anything else a person should hear of.
    if (["ECONNREFUSED", "ENOENT"].includes(answer.reason)) return { kind: "none" };
    return { kind: "refused", reason: answer.reason };
  }
  if (answer.kind === "answer" && answer.status === 200) return { kind: "reloaded" };
  if (answer.kind === "lost") return { kind: "refused", reason: answer.reason };
  const error = answerObject(answer)?.get("error");
  const said = isObject(error) ? stringAt(error, "message") : undefined;
  return { kind: "refused", reason: said ?? `it answered ${answer.status}` };
}
