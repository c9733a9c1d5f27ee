/** Where the home is, and whose (rules 1.1 and 1.4). */

import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/** The home folder of a user of this machine, or undefined for a name nobody has. */
export type LookupUser = (name: string) => string | undefined;

/** {@link LookupUser} from `/etc/passwd`; knows nobody where there is no such file. */
export function userHomeOf(name: string): string | undefined {
  try {
    const users = readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"));
    return users.find(([user]) => user === name)?.[5] || undefined;
  } catch {
    return undefined;
  }
}

/**
 * The user's own home folder: `HOME`, else what the system knows; `/` where it knows no such user,
 * as in a container that runs under some number.
 */
export function ownHome(env: { readonly HOME?: string | undefined }): string {
  if (env.HOME) return env.HOME;
  try {
    return os.homedir() || "/";
  } catch {
    return "/";
  }
}

/**
 * `~` or `~user` at the start of `word` replaced, as Python's `expanduser` does. A word with an
 * unknown user, or `~` with no `HOME`, comes back unchanged.
 * @param env its `HOME` is what `~` stands for
 * @param lookupUser who `~user` is; default: `/etc/passwd`
 */
export function expandTilde(
  word: string,
  env: { readonly HOME?: string | undefined },
  lookupUser: LookupUser = userHomeOf,
): string {
  const match = /^~([^/\\]*)/.exec(word);
  if (!match) return word;
  const [prefix, user = ""] = match;
  const folder = user === "" ? env.HOME : lookupUser(user);
  if (!folder) return word;
  const rest = word.slice(prefix.length);
  // A home of "/" must not give "//bin".
  return folder.replace(/\/+$/, "") + rest || "/";
}

/** What {@link resolveHome} chooses from. */
export interface HomeSources {
  /** The value of `--home`; empty counts as not given. */
  readonly flag?: string | undefined;
  /** Its `HERMES_HOME` is used when there is no flag; empty counts as unset. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's own home folder, absolute. */
  readonly userHome: string;
  /** What a relative home is relative to; default: the folder the process is in. */
  readonly startFolder?: string;
  /** Who `~user` is; default: `/etc/passwd`. */
  readonly lookupUser?: LookupUser;
}

/** The home folder, absolute: `--home`, else `HERMES_HOME`, else `~/.hermes` (rule 1.1). */
export function resolveHome(sources: HomeSources): string {
  const { flag, env, userHome, startFolder, lookupUser } = sources;
  const named = flag || env["HERMES_HOME"] || "~/.hermes";
  const expanded = expandTilde(named, { HOME: userHome }, lookupUser);
  return startFolder === undefined ? path.resolve(expanded) : path.resolve(startFolder, expanded);
}

/**
 * The profile a home is (rule 1.4): `NAME` for `…/profiles/NAME`, `default` for `~/.hermes`, else
 * `custom`. Both folders absolute.
 */
export function profileOf(home: string, userHome: string): string {
  const folder = path.resolve(home);
  if (path.basename(path.dirname(folder)) === "profiles") return path.basename(folder);
  return folder === path.resolve(userHome, ".hermes") ? "default" : "custom";
}
