/** Which proxy a URL is sent through: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. */
import { Buffer } from "node:buffer";
import { inRange, isLoopbackHost, literalAddress } from "./address.ts";

/** An HTTP proxy. */
export interface Proxy {
  readonly host: string;
  readonly port: number;
  /** The `Proxy-Authorization` header's value, when the variable carried a user or a password. */
  readonly authorization?: string;
  /** Fit to be shown: `host:port`. */
  readonly shown: string;
}

/** A proxy variable that cannot be used; sending around it would not be what its owner wants. */
export class ProxyUnusable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProxyUnusable";
  }
}

type Env = Readonly<Record<string, string>>;

/** The lower-case name first, as curl and Python have it; empty counts as unset. */
function named(env: Env, name: string): { name: string; value: string } | undefined {
  for (const spelling of [name.toLowerCase(), name]) {
    const value = env[spelling]?.trim();
    if (value) return { name: spelling, value };
  }
  return undefined;
}

function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === "https:" ? 443 : 80);
}

/**
 * The proxy for a URL, or undefined: none is set, `NO_PROXY` lists the host, or it is this machine,
 * which a proxy could not reach.
 * @throws ProxyUnusable for a proxy that is not plain HTTP
 */
export function proxyFor(url: URL, env: Env): Proxy | undefined {
  if (isLoopbackHost(url.hostname)) return undefined;
  const variable = named(env, url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") ??
    named(env, "ALL_PROXY");
  if (!variable || isExempt(url, named(env, "NO_PROXY")?.value ?? "")) return undefined;
  const text = variable.value.includes("://") ? variable.value : `http://${variable.value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy?.protocol !== "http:") {
    const scheme = proxy ? `scheme "${proxy.protocol.slice(0, -1)}"` : "a value";
    throw new ProxyUnusable(
      `${variable.name} has ${scheme} that cannot be used, expected "http://HOST:PORT"`,
    );
  }
  const host = proxy.hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: portOf(proxy), shown: proxy.host, authorization: basic(proxy) };
}

function basic({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  const pair = [username, password].map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return `Basic ${Buffer.from(pair.join(":"), "utf8").toString("base64")}`;
}

/** `*`, names (with their subdomains), addresses, ranges; each may name a port. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  const address = literalAddress(host);
  return list.toLowerCase().split(/[\s,]+/).filter(Boolean).some((item) => {
    if (item === "*") return true;
    if (address && item.includes("/")) return inRange(address, item);
    const [, name = "", port] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::([0-9]+))?$/.exec(item) ?? [];
    if (port !== undefined && Number(port) !== portOf(url)) return false;
    if (address) return address === literalAddress(name);
    const bare = name.replace(/^\*?\./, "");
    return bare !== "" && (host === bare || host.endsWith(`.${bare}`));
  });
}
