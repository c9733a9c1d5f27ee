/** Whoever can write these files can decide what runs: say so when that is not only us (rule 6.2). */

import * as fs from "node:fs";
import path from "node:path";
import { printable } from "../events/json.ts";
import type { Problem } from "../events/problem.ts";

/** A path worth checking. */
export interface WatchedPath {
  readonly path: string;
  /** What it is, for the message: `home`, `config`, `allowlist`, `hook folder`, `script`, … */
  readonly what: string;
}

/** Who we are. */
export interface Owner {
  /** Our user id; undefined on systems without (nothing is checked then). */
  readonly uid: number | undefined;
  /** Our primary group id: being writable by it is no problem, as most systems give each user a group of their own. */
  readonly gid?: number | undefined;
}

/**
 * The home's own paths: home, config, allowlist, and each hook and plugin folder. A caller adds
 * the scripts it resolved. Nothing has to exist.
 */
export function homePaths(home: string, configFile: string, allowlist: string): WatchedPath[] {
  return [
    { path: home, what: "home" },
    { path: configFile, what: "config" },
    { path: allowlist, what: "allowlist" },
    ...foldersOf(path.join(home, "hooks"), "hook folder"),
    ...foldersOf(path.join(home, "plugins"), "plugin folder"),
  ];
}

function foldersOf(folder: string, what: string): WatchedPath[] {
  try {
    const inside = fs.readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => ({ path: path.join(folder, entry.name), what }));
    return [{ path: folder, what }, ...inside];
  } catch {
    return [];
  }
}

/**
 * One warning for each path that others may write: world-writable, writable by a group other than
 * root's and our primary one, or owned by another user than us or root. Links are followed; a path
 * that is missing or cannot be looked at is skipped, and each is checked once. Only the given paths
 * are checked, not the folders above them.
 */
export function ownershipProblems(paths: readonly WatchedPath[], owner: Owner): Problem[] {
  if (owner.uid === undefined) return [];
  return paths
    .filter((watched, index) => paths.findIndex((p) => p.path === watched.path) === index)
    .flatMap((watched) => problemsOf(watched, owner));
}

function problemsOf(watched: WatchedPath, owner: Owner): Problem[] {
  const stat = statOf(watched.path);
  if (!stat) return [];
  const name = `${watched.what} "${printable(watched.path)}"`;
  const messages: string[] = [];
  if (stat.uid !== owner.uid && stat.uid !== 0) {
    messages.push(`${name} is owned by another user (uid ${stat.uid}), who can change what runs`);
  }
  const others = writers(stat, owner);
  if (others) {
    const mode = (stat.mode & 0o7777).toString(8).padStart(4, "0");
    const mend = `chmod ${others.flag} "${printable(watched.path)}"`;
    messages.push(`${name} is writable by ${others.who} (mode ${mode}); run: ${mend}`);
  }
  return messages.map((message) => ({
    severity: "warning",
    file: watched.path,
    path: "",
    message,
  }));
}

function statOf(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file);
  } catch {
    return undefined;
  }
}

function writers(stat: fs.Stats, owner: Owner): { who: string; flag: string } | undefined {
  const world = (stat.mode & 0o002) !== 0;
  const group = (stat.mode & 0o020) !== 0 && stat.gid !== 0 && stat.gid !== owner.gid;
  if (world) return { who: "everyone", flag: group ? "go-w" : "o-w" };
  return group ? { who: `group ${stat.gid}`, flag: "g-w" } : undefined;
}
