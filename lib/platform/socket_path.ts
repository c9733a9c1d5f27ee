/** Where a home's listener is found, and whether what stands there is to be trusted. */
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import path from "node:path";

/** Longer paths do not fit into a socket's address everywhere, in bytes. */
const MOST_BYTES = 100;
const NAME = "hooks.sock";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The folders in which a home's sockets may stand, absolute, the preferred one first:
 * `<home>/run`, one of ours below `$XDG_RUNTIME_DIR`, one below the temporary folder. Those in
 * which a socket's path is over 100 bytes are left out. Touches nothing.
 * @param env `XDG_RUNTIME_DIR` and `TMPDIR` are read
 * @param uid our user id; part of the folder's name in the temporary folder
 */
export function runFolders(home: string, env: Env, uid: number | undefined): readonly string[] {
  const hash = createHash("sha256").update(path.resolve(home)).digest("hex").slice(0, 16);
  const { XDG_RUNTIME_DIR: runtime, TMPDIR: temporary } = env;
  const folders = [
    path.join(home, "run"),
    ...(runtime && path.isAbsolute(runtime) ? [path.join(runtime, `hermes-hooks-${hash}`)] : []),
    ...(temporary && path.isAbsolute(temporary) ? [temporaryFolder(temporary, hash, uid)] : []),
  ];
  return [
    ...folders.filter((each) => fits(path.join(each, NAME))),
    temporaryFolder("/tmp", hash, uid),
  ];
}

/** The unix socket of a home's listener: `hooks.sock` in the first of {@link runFolders}. */
export function socketPathOf(home: string, env: Env, uid: number | undefined): string {
  const own = path.join(home, "run", NAME);
  return fits(own) ? own : path.join(runFolders(home, env, uid)[0]!, NAME);
}

function fits(file: string): boolean {
  return new TextEncoder().encode(file).length <= MOST_BYTES;
}

function temporaryFolder(root: string, hash: string, uid: number | undefined): string {
  return path.join(root, `hermes-hooks-${uid ?? "user"}-${hash}`);
}

/**
 * Why the folder a socket stands in is not to be trusted; undefined: it is fine. Only a real
 * folder of our own that nobody else may write to is.
 */
export function folderFault(folder: string, uid: number | undefined): string | undefined {
  let stat;
  try {
    stat = lstatSync(folder);
  } catch (error) {
    return `cannot be looked at: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`;
  }
  // A link could lead to a folder that somebody else chose.
  if (!stat.isDirectory()) return "is no folder";
  if (uid === undefined) return undefined;
  if (stat.uid !== uid) return `is owned by another user (uid ${stat.uid})`;
  if ((stat.mode & 0o022) !== 0) {
    return `is writable by others (mode ${(stat.mode & 0o7777).toString(8).padStart(4, "0")})`;
  }
  return undefined;
}

/** May a client hand anything to this socket: is it, and its folder, ours alone? */
export function socketTrusted(socket: string, uid: number | undefined): boolean {
  if (folderFault(path.dirname(socket), uid) !== undefined) return false;
  try {
    const stat = lstatSync(socket);
    return stat.isSocket() &&
      (uid === undefined || (stat.uid === uid && (stat.mode & 0o022) === 0));
  } catch {
    return false;
  }
}
