/** Why an attempt failed, in a few words fit for a log. */
import { firstChars, printable } from "../events/json.ts";
import { AddressRefused } from "./address.ts";
import { TimedOut } from "./connection.ts";
import { ProxyUnusable } from "./proxy.ts";

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed before an answer",
  EPIPE: "connection closed before an answer",
  ENOTFOUND: "the name does not resolve",
  EAI_AGAIN: "the name does not resolve at present",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ETIMEDOUT: "timed out",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed; name it in ca_file to trust it",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate's CA is not trusted; name it in ca_file",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate's CA is not trusted; name it in ca_file",
  UNABLE_TO_GET_ISSUER_CERT: "the certificate's CA is not trusted; name it in ca_file",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate's CA is not trusted; name it in ca_file",
};

/**
 * The failure in one line.
 * @param timeout the attempt's seconds, for the one that timed out
 */
export function failureText(error: unknown, timeout: number): string {
  if (error instanceof TimedOut) return `timed out after ${timeout}s`;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof AddressRefused || error instanceof ProxyUnusable) return printable(message);
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string" && WORDS[code]) return WORDS[code];
  return printable(firstChars(typeof code === "string" && !message ? code : message, 200)) ||
    "unknown failure";
}

/** Was nothing dialled, because what is configured forbids it? Trying again would not help. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AddressRefused || error instanceof ProxyUnusable;
}
