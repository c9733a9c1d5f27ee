/** The listener's unix socket: a folder of our own, a stale file replaced, a live one respected. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { JsonNumber } from "../events/json.ts";
import { withFlock } from "../platform/flock.ts";
import { type HttpHandler, type HttpListener, listenHttp } from "../platform/serve.ts";
import { answerObject, askSocket } from "./client.ts";
import { folderFault } from "../platform/socket_path.ts";

/** Why the listener cannot start; the message says what to do. */
export class ServeError extends Error {
  override readonly name = "ServeError";
}

/** How long another listener gets to say who it is, in ms. */
const PROBE_MS = 1000;
const LOCK_MS = 5000;

const codeOf = (error: unknown) =>
  (error as NodeJS.ErrnoException).code ?? (error as Error).message;

/**
 * Makes a folder of ours (0700) and checks that nobody else can write to it.
 * @throws ServeError when it cannot be made or is not ours alone
 */
export function ownFolder(folder: string, uid: number | undefined): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ServeError(`folder "${folder}" cannot be made: ${codeOf(error)}`);
  }
  const fault = folderFault(folder, uid);
  if (fault) {
    throw new ServeError(
      `folder "${folder}" ${fault}, so the socket in it could be anybody's; make it yours alone ` +
        "(chmod 700), or remove it",
    );
  }
  // Ours, but perhaps readable by others.
  if (uid !== undefined && (lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/**
 * Listens on a unix socket, 0600 in a folder of 0700. What a crash left there is replaced.
 * @param socket absolute, from `socketPathOf`
 * @throws ServeError when another listener answers there, or the folder is not ours alone
 */
export async function listenOnSocket(
  socket: string,
  handler: HttpHandler,
  self: { readonly uid: number | undefined; readonly pid: number },
): Promise<HttpListener> {
  ownFolder(path.dirname(socket), self.uid);
  const lock = `${socket}.lock`;
  // Two that start at once must not each take the other's fresh socket for a stale one.
  return await withFlock(lock, async () => {
    await clearStale(socket, lock);
    let listener: HttpListener;
    try {
      listener = listenHttp({ kind: "unix", path: socket }, handler);
    } catch (error) {
      throw new ServeError(`socket "${socket}" cannot be listened on: ${codeOf(error)}`);
    }
    chmodSync(socket, 0o600);
    writeFileSync(lock, `${self.pid}\n`);
    return listener;
  }, { waitMs: LOCK_MS });
}

async function clearStale(socket: string, lock: string): Promise<void> {
  const stat = lstatSync(socket, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isSocket()) throw new ServeError(`"${socket}" is no socket; remove it`);
  const answer = await askSocket(socket, { method: "GET", path: "/readyz", timeoutMs: PROBE_MS });
  if (answer.kind === "unreachable" && ["ECONNREFUSED", "ENOENT"].includes(answer.reason)) {
    return rmSync(socket, { force: true });
  }
  const said = answerObject(answer)?.get("pid");
  const pid = said instanceof JsonNumber ? said.text : recordedPid(lock);
  const [which, how] = pid === undefined ? ["pid unknown", ""] : [`pid ${pid}`, `: kill ${pid}`];
  throw new ServeError(
    `another listener (${which}) serves this home on "${socket}"; stop it first${how}`,
  );
}

/** For one that takes connections but does not answer. */
function recordedPid(lock: string): string | undefined {
  try {
    return /^[0-9]+/.exec(readFileSync(lock, "utf8"))?.[0];
  } catch {
    return undefined;
  }
}
