/** One attempt: exactly one POST, or none when the connection cannot be made (rules 10.2, 10.4). */
import { Buffer } from "node:buffer";
import { VERSION } from "../version.ts";
import type { Resolve } from "./address.ts";
import { systemResolve } from "./address.ts";
import { bodyOf } from "./body.ts";
import { type Answer, type Connection, Pool } from "./connection.ts";
import type { Delivery } from "./engine.ts";
import { failureText, isRefusal } from "./failure.ts";
import { readRetryAfter } from "./retry_after.ts";
import { signatureHeaders } from "./sign.ts";
import type { Target } from "./target.ts";
import { shownLocation } from "./target/endpoint.ts";

/** How an attempt ended. */
export type AttemptOutcome =
  /** 2xx. */
  | "delivered"
  /** No answer: connection, TLS or time. Tried again. */
  | "unreachable"
  /** 5xx. Tried again. */
  | "server_error"
  /** 4xx, or a status that means nothing to a POST. */
  | "rejected"
  /** 3xx: never followed, the URL is to be corrected. */
  | "redirect"
  /** Not dialled: the address guard or an unusable proxy forbids it. */
  | "refused";

/** What is known of an attempt. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly status?: number;
  /** One line, fit to be printed; absent when delivered. */
  readonly error?: string;
  /** How long the receiver asks to be left alone, in ms (`Retry-After`); absent: it does not say. */
  readonly retryAfterMs?: number;
  /** Of a redirect, fit to be printed. */
  readonly location?: string;
  /** From the first step to the answer, in milliseconds. */
  readonly durationMs: number;
}

/** What attempts at one target share. */
export interface SendDeps {
  readonly pool: Pool;
  readonly now: () => Date;
}

/** Where proxies are looked up and names resolved, for {@link openPool}. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  /** Default: the system's. */
  readonly resolve?: Resolve;
}

/** The connections of a target; close it when the target is gone. */
export function openPool(target: Target, { env, resolve = systemResolve }: Surroundings): Pool {
  const { endpoint, ca } = target.secrets();
  return new Pool({ url: endpoint.url, env, network: target.options.network, resolve, ca });
}

/** Is it worth another try (rule 10.4)? */
export function isRetryable(outcome: AttemptOutcome): boolean {
  return outcome === "unreachable" || outcome === "server_error";
}

/** Longer requests are written in two parts rather than copied into one. */
const COPY_BELOW = 65_536;

/**
 * Makes one attempt. Never throws.
 * @param nth 1 for the first; a later one never uses a kept connection
 */
export async function attempt(
  target: Target,
  delivery: Delivery,
  nth: number,
  deps: SendDeps,
): Promise<AttemptResult> {
  const began = performance.now();
  try {
    const answer = await post(target, delivery, nth, deps, began);
    const retryAfterMs = readRetryAfter(answer.retryAfter, deps.now().getTime());
    const waits = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { ...judged(answer), ...waits, durationMs: performance.now() - began };
  } catch (error) {
    const outcome = isRefusal(error) ? "refused" : "unreachable";
    const text = failureText(error, target.options.timeout);
    return { outcome, error: text, durationMs: performance.now() - began };
  }
}

async function post(
  target: Target,
  delivery: Delivery,
  nth: number,
  { pool, now }: SendDeps,
  began: number,
): Promise<Answer> {
  const left = () => Math.max(1, target.options.timeout * 1000 - (performance.now() - began));
  const taken = pool.take(nth > 1, left());
  const connection = taken instanceof Promise ? await taken : taken;
  const at = now();
  const body = bodyOf(delivery, nth, at);
  const head = headOf(target, delivery, body, at, connection);
  const request = body.length < COPY_BELOW ? [Buffer.concat([head, body])] : [head, body];
  try {
    const answer = await connection.exchange(request, left());
    pool.give(connection);
    return answer;
  } catch (error) {
    if (connection.used > 1) pool.noteStale();
    throw error;
  }
}

function headOf(
  target: Target,
  delivery: Delivery,
  body: Uint8Array,
  at: Date,
  { forward }: Connection,
): Uint8Array {
  const { endpoint: { url, authorization }, secrets, headers } = target.secrets();
  const path = `${url.pathname}${url.search}`;
  const lines = [
    `POST ${forward ? `http://${url.host}${path}` : path} HTTP/1.1`,
    `Host: ${url.host}`,
    `User-Agent: hermes-hooks/${VERSION}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    `X-Hermes-Event: ${delivery.event}`,
    `X-Hermes-Delivery: ${delivery.id}`,
  ];
  const seconds = Math.floor(at.getTime() / 1000);
  const signed = { id: delivery.id, seconds, body };
  for (const [name, value] of signatureHeaders(secrets, target.options.format, signed)) {
    lines.push(`${name}: ${value}`);
  }
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (authorization && !headers.some(([name]) => name.toLowerCase() === "authorization")) {
    lines.push(`Authorization: ${authorization}`);
  }
  if (forward?.authorization) lines.push(`Proxy-Authorization: ${forward.authorization}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

function judged({ status, location }: Answer): Omit<AttemptResult, "durationMs"> {
  if (status >= 200 && status < 300) return { outcome: "delivered", status };
  if (status >= 500) return { outcome: "server_error", status, error: `answered ${status}` };
  if (status >= 400) return { outcome: "rejected", status, error: `answered ${status}` };
  const to = location === undefined ? undefined : shownLocation(location);
  const where = to === undefined ? "without a Location" : `to "${to}"`;
  const error = `answered ${status}, a redirect ${where}; redirects are not followed, ` +
    "put the final URL into url";
  return { outcome: "redirect", status, location: to, error };
}
