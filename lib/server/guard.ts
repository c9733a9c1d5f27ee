/** Who may ask: no page in a browser, nobody by another name, over TCP nobody without the token. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { TcpAddress } from "../config/serve_settings.ts";
import { errorAnswer } from "./answer.ts";

/** The door a request came in by. */
export type Door =
  | { readonly kind: "unix" }
  | {
    readonly kind: "tcp";
    /** What was asked to be listened on. */
    readonly address: TcpAddress;
    /** From {@link tokenDigest}. */
    readonly token: Uint8Array;
  };

/** These tell that we are alive, and no more: asked by whoever watches over us. */
const OPEN_PATHS: readonly string[] = ["/healthz", "/readyz"];

/** The digest tokens are compared by: equal lengths whatever was sent. */
export function tokenDigest(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

/**
 * The refusal a request gets, or undefined: it may pass.
 * @param path as the routes will read it
 * @param allowedHosts names it may be addressed to, beside the listen address and localhost
 */
export function refusal(
  request: Request,
  path: string,
  door: Door,
  allowedHosts: readonly string[],
): Response | undefined {
  if (request.headers.has("origin")) {
    return errorAnswer("forbidden", "requests from web pages are refused");
  }
  const host = request.headers.get("host") ?? "";
  if (!hostAllowed(host, door, allowedHosts)) {
    return errorAnswer("forbidden", `host "${host}" is none of ours`, {
      hint: "use the listen address or localhost, or add the name to serve.allowed_hosts",
    });
  }
  if (door.kind === "unix" || OPEN_PATHS.includes(path)) return undefined;
  const sent = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  // Constant time: the comparison must not tell how much of a guess was right.
  if (sent !== undefined && timingSafeEqual(tokenDigest(sent), door.token)) return undefined;
  const message = sent === undefined ? "a bearer token is needed" : "the bearer token is wrong";
  return errorAnswer("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}

/** A rebound name of somebody else's reaches our address, but brings its own `Host`. */
function hostAllowed(host: string, door: Door, allowedHosts: readonly string[]): boolean {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$/.exec(host);
  if (!match) return false;
  const name = plainHost(match[1]!);
  if (name === "localhost" || allowedHosts.some((each) => plainHost(each) === name)) return true;
  if (door.kind === "unix") return false;
  const own = plainHost(door.address.host);
  const everywhere = own === "0.0.0.0" || own === "::";
  return name === own || (everywhere && (name === "127.0.0.1" || name === "::1"));
}

function plainHost(host: string): string {
  return host.trim().toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
