/** Why Redis did not do what was asked, in words fit to be shown, without who we are to it. */
import { firstChars, printable } from "../../events/json.ts";
import type { RedisAddress } from "../../config/redis_url.ts";

/** The connection was lost or never made; what was asked may have been done all the same. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, name, message = "" } = error as { code?: string; name?: string; message?: string };
  return code !== undefined || name === "AbortError" || name === "MaxRetriesPerRequestError" ||
    /connection is closed|isn't writeable|command timed out|connection closed/i.test(message);
}

/** One line such as `redis at "127.0.0.1:6379" cannot be reached: connection refused`. */
export function redisFailure(address: RedisAddress, error: unknown): string {
  return `redis at "${address.shown}" ${words(address, error)}`;
}

/** A transaction that was discarded says only that; why, the command that was refused says. */
function reasonOf(error: unknown): unknown {
  return (error as { previousErrors?: readonly unknown[] }).previousErrors?.[0] ?? error;
}

/** Does the server turn us away, so that waiting would not help? */
export function isTurnedAway(error: unknown): boolean {
  return /^(?:WRONGPASS|NOAUTH|NOPERM|ERR (?:DB index|invalid (?:DB|password)))/i
    .test((error as Error).message ?? "");
}

const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/^(?:WRONGPASS|NOAUTH|ERR invalid password)/, "refuses the user or the password of the URL"],
  [/^ERR (?:DB index|invalid DB)/i, "has no database of that number"],
  [/^NOPERM/, "does not allow this user what the queue needs"],
  [/^OOM/, "is full: raise its maxmemory, or purge deliveries"],
  [/^READONLY/, "is a replica that takes nothing; name the primary in the URL"],
  [/^MISCONF/, "cannot write to its disk and takes nothing; see its log"],
  [/^LOADING/, "is loading its data; try again in a moment"],
  [/^(?:MOVED|CROSSSLOT|CLUSTERDOWN)/, "is part of a cluster, which is not supported"],
  [/^Redis version needs/, "is too old; 6.2 or later is needed"],
];

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "no answer",
  ENOTFOUND: "the name does not resolve",
  EAI_AGAIN: "the name does not resolve at present",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
};

function words({ password }: RedisAddress, error: unknown): string {
  if (error === undefined) return "cannot be reached: no answer";
  const { code, message = String(error) } = reasonOf(error) as { code?: string; message?: string };
  const refusal = REFUSALS.find(([pattern]) => pattern.test(message))?.[1];
  if (refusal) return refusal;
  if (code !== undefined && NETWORK[code]) return `cannot be reached: ${NETWORK[code]}`;
  if (/timed out/i.test(message)) return "cannot be reached: no answer";
  if (isConnectionLoss(error)) return "cannot be reached: the connection was closed";
  const shown = password ? message.replaceAll(password, "***") : message;
  return `failed: ${printable(firstChars(shown, 200))}`;
}
