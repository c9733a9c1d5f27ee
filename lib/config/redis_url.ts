/** Where a Redis is, from its URL. */
import { printable } from "../events/json.ts";

/** A Redis server, and who we are to it. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  /** `rediss:`. */
  readonly tls: boolean;
  readonly username?: string;
  /** Never shown. */
  readonly password?: string;
  /** The database's number. */
  readonly db: number;
  /** Fit to be shown: `host:port`, without who we are. */
  readonly shown: string;
}

/** Is it meant as the URL of a Redis? Whether it is a good one, {@link readRedisUrl} says. */
export function isRedisUrl(text: string): boolean {
  return /^rediss?:/i.test(text);
}

/**
 * Reads `redis[s]://[[user]:password@]host[:port][/db]`; port 6379 and database 0 when not said.
 * @returns the address, or what is wrong, in words that never repeat the URL
 */
export function readRedisUrl(text: string): RedisAddress | string {
  const url = isRedisUrl(text) ? URL.parse(text) : null;
  if (!url || !url.hostname) return "is not a URL such as redis://127.0.0.1:6379/0";
  if (url.search || url.hash) return 'takes no options behind "?" or "#"';
  const db = /^\/?([0-9]{0,5})$/.exec(url.pathname)?.[1];
  if (db === undefined) return "names no database number, such as /0, behind the port";
  const [username, password] = [decoded(url.username), decoded(url.password)];
  if (username === undefined || password === undefined) {
    return 'has a "%" in its user or password that stands for nothing; write it as %25';
  }
  if (username && !password) return "has a user and no password: write redis://user:password@host";
  const port = url.port === "" ? 6379 : Number(url.port);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    tls: url.protocol === "rediss:",
    ...(username && { username }),
    ...(password && { password }),
    db: Number(db),
    shown: `${printable(url.hostname)}:${port}`,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
