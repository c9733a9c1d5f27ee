/** Where a receiver listens, and whether that is this machine alone. */
import { isIPv4, isIPv6 } from "node:net";

/** Where `receive` listens unless told otherwise. */
export const DEFAULT_ADDRESS: ListenAddress = { host: "127.0.0.1", port: 8646 };

/** An address to listen on. */
export interface ListenAddress {
  /** An address or a name, without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`, `[::1]:PORT`, `HOST`, `:PORT` or `PORT`; what is left out is that of
 * {@link DEFAULT_ADDRESS}, and so is all of it when the text is empty.
 * @returns undefined when it is none of these
 */
export function readAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]*))(?::([0-9]{1,5}))?$/.exec(text);
  if (!match) return undefined;
  const [, six, name = "", digits] = match;
  if (six !== undefined && !isIPv6(six)) return undefined;
  const bare = six === undefined && digits === undefined && /^[0-9]{1,5}$/.test(name);
  const port = Number((bare ? name : digits) ?? DEFAULT_ADDRESS.port);
  if (port > 65_535) return undefined;
  return { host: six ?? ((bare ? "" : name) || DEFAULT_ADDRESS.host), port };
}

/** Is it reached from this machine alone? `localhost` is; of other names nobody can say. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  if (isIPv4(host)) return host.startsWith("127.");
  return isIPv6(host) && /^(?:0*:)+0*1$/.test(host);
}

/** Does a `Host` header name this machine? A page that rebinds a name of its own to it does not. */
export function isLoopbackHost(header: string | undefined): boolean {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::[0-9]+)?$/.exec(header?.trim() ?? "");
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && isLoopback(host);
}

/** `http://127.0.0.1:8646/`, with brackets where needed. */
export function urlOf({ host, port }: ListenAddress): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}/`;
}
