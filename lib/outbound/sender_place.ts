/** Where a home's sender is met: one folder of our own, with its lock and its socket. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync } from "node:fs";
import path from "node:path";
import { refuseLiteralTilde } from "../platform/flock.ts";
import { folderFault, runFolders } from "../platform/socket_path.ts";

/** The meeting place. */
export interface SenderPlace {
  readonly folder: string;
  /** Held by the one sender as long as it takes parcels in. */
  readonly lock: string;
  readonly socket: string;
}

/** The place in a folder; touches nothing. */
export function placeIn(folder: string): SenderPlace {
  return { folder, lock: path.join(folder, "send.lock"), socket: path.join(folder, "send.sock") };
}

/**
 * The place of a home: in `<home>/run`, or where that cannot be had (a read-only home, somebody
 * else's folder) below `$XDG_RUNTIME_DIR` or the temporary folder. Makes the folder, 0700.
 * @returns why there is none, when no folder will do
 */
export function senderPlace(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  uid: number | undefined,
): SenderPlace | { readonly fault: string } {
  const faults: string[] = [];
  for (const folder of runFolders(home, env, uid)) {
    const fault = makeOurs(folder, uid);
    if (fault === undefined) return placeIn(folder);
    faults.push(`"${folder}" ${fault}`);
  }
  return { fault: faults.join("; ") };
}

function makeOurs(folder: string, uid: number | undefined): string | undefined {
  try {
    refuseLiteralTilde(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fault = folderFault(folder, uid);
    if (fault !== undefined) return fault;
    if (uid !== undefined && (lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
    // On a read-only file system everything is as it should be, except that nothing can be written.
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `cannot be used: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`;
  }
}
