/** `hermes_hooks.serve`: the listener's settings, each checked on its own, with its default. */
import { z } from "zod";
import type { Problem } from "../events/problem.ts";
import type { ConfigNode } from "./node.ts";
import { readBlock } from "./settings_block.ts";

/** Where to listen when only "listen" is said. */
export const DEFAULT_LISTEN = { host: "127.0.0.1", port: 8645 } as const;

/** A TCP address. */
export interface TcpAddress {
  /** A name or an address; without the brackets of IPv6. */
  readonly host: string;
  /** 0: one that is free. */
  readonly port: number;
}

/**
 * Reads `HOST:PORT`, `HOST`, `PORT` or `[IPv6]:PORT`; what is left out is as in
 * {@link DEFAULT_LISTEN}. Undefined for anything else.
 */
export function readListen(text: string): TcpAddress | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return DEFAULT_LISTEN;
  if (/^[0-9]+$/.test(trimmed)) return withPort(DEFAULT_LISTEN.host, trimmed);
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]+))?$/.exec(trimmed);
  if (match) return withPort((match[1] ?? match[2])!, match[3]);
  return /^[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/.test(trimmed)
    ? withPort(trimmed, undefined)
    : undefined;
}

function withPort(host: string, port: string | undefined): TcpAddress | undefined {
  const number = port === undefined ? DEFAULT_LISTEN.port : Number(port);
  return number <= 65_535 ? { host, port: number } : undefined;
}

const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

const listen = z.union([z.boolean(), z.string(), z.number()]).transform((value, context) => {
  if (value === false) return undefined;
  const address = readListen(value === true ? "" : String(value));
  if (!address) context.addIssue("no address");
  return address;
});

/**
 * The schema of `hermes_hooks.serve`. A key's description says what is expected there, for
 * messages and for the docs.
 */
export const serveSchema = z.object({
  listen: listen.optional()
    .describe('an address such as "127.0.0.1:8645", or true for that one'),
  token_env: z.string().regex(name).optional()
    .describe("the name of the environment variable that holds the bearer token"),
  allowed_hosts: z.array(z.string().trim().min(1)).default([])
    .describe("a list of host names that requests may be addressed to"),
  max_inflight: z.int().min(1).max(100_000).default(256)
    .describe("a whole number from 1 to 100000: events at work at the same time"),
  stop_timeout: z.number().min(0).max(300).default(10)
    .describe("seconds from 0 to 300 that running events get when stopping"),
  body_timeout: z.number().min(0.1).max(300).default(10)
    .describe("seconds from 0.1 to 300 in which a request's body must have come"),
  log_format: z.enum(["auto", "text", "json"]).default("auto")
    .describe("auto (text on a terminal, else json), text or json"),
  log_level: z.enum(["debug", "info", "warning", "error"]).default("info")
    .describe("debug, info, warning or error"),
});

/** The listener's settings. */
export type ServeSettings = z.infer<typeof serveSchema>;

/** What {@link readServeSettings} returns. */
export interface ServeSettingsRead {
  readonly settings: ServeSettings;
  readonly problems: readonly Problem[];
}

/**
 * Reads the listener's settings; a bad one falls back to its default and is a problem. `listen`
 * and `token_env` open and guard a door: a bad one of those is an error, and a listener must not
 * start with it.
 * @param node the value of `hermes_hooks.serve`; undefined or null: all defaults
 */
export function readServeSettings(node: ConfigNode | undefined, file: string): ServeSettingsRead {
  const { values, problems } = readBlock(node, {
    path: "hermes_hooks.serve",
    file,
    fields: serveSchema.shape,
    fatal: ["listen", "token_env"],
  });
  return { settings: serveSchema.parse(values), problems };
}
