/** Leaving a parcel with this home's sender: the one that runs, or one started for it. */
import { closeSync } from "node:fs";
import type { SelfCommand } from "../platform/self.ts";
import { startDetached } from "../platform/spawn_detached.ts";
import { socketTrusted } from "../platform/socket_path.ts";
import { type Parcel, writeParcel } from "./handover_parcel.ts";
import { openSenderLog, senderLogFile } from "./sender_log.ts";
import { senderPlace } from "./sender_place.ts";
import type { Flushed } from "./sender_protocol.ts";

/** Where the sender is and how one is started. */
export interface SenderRoute {
  readonly home: string;
  /** Of the command that fires. */
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number | undefined;
  readonly self: SelfCommand;
}

/** What became of a parcel. */
export type Left =
  | {
    readonly ok: true;
    /** Not taken: the queue is full. */
    readonly dropped: number;
    /** What was not delivered; undefined when nobody waited or nobody tells. */
    readonly flushed: Promise<Flushed | undefined>;
  }
  | {
    readonly ok: false;
    /** Was something handed over, at least in part? */
    readonly fate: "dropped" | "may be lost";
    readonly reason: string;
  };

/** A busy sender greets late; then another is started, which hands its parcel to the first. */
const PATIENCE = { greetMs: 250, answerMs: 5_000 };
/** How long a sender just started gets to take in what does not fit into its pipe, in ms. */
const WRITE_MS = 10_000;
/** Added to the time that is waited for deliveries, for a sender to start and to answer, in ms. */
const GRACE_MS = 3_000;

/** Leaves it; when this resolves the process may end. Never rejects. */
export async function leaveWithSender(parcel: Parcel, route: SenderRoute): Promise<Left> {
  const { home, env, uid } = route;
  const place = senderPlace(home, env, uid);
  if ("fault" in place) {
    return { ok: false, fate: "dropped", reason: `no folder for the sender: ${place.fault}` };
  }
  const bytes = writeParcel(parcel);
  // Looked at first: where there is no socket, nothing of the network is loaded.
  if (socketTrusted(place.socket, uid)) {
    const { giveToSender } = await import("./sender_protocol.ts");
    const given = await giveToSender(place.socket, bytes, parcel.flushMs, PATIENCE);
    if (given.kind === "taken") {
      return { ok: true, dropped: given.answer.dropped, flushed: given.flushed };
    }
    if (given.kind === "lost") {
      const reason = "the connection to the sender was lost";
      return { ok: false, fate: "may be lost", reason };
    }
  }
  return await startSender(place.folder, bytes, parcel.flushMs, route);
}

async function startSender(
  folder: string,
  bytes: Uint8Array,
  flushMs: number,
  { home, env, self }: SenderRoute,
): Promise<Left> {
  const logFile = senderLogFile(home);
  const log = openSenderLog(logFile);
  const started = await startDetached({
    file: self.file,
    args: [...self.args, "sender", folder, logFile],
    cwd: "/",
    env: senderEnv(env),
    stdin: bytes,
    stderr: log,
    readStdout: flushMs > 0,
    writeMs: WRITE_MS,
  });
  if (log !== undefined) closeSync(log);
  if (!started.ok) {
    const reason = `the sender could not be started: ${started.reason}`;
    return { ok: false, fate: "dropped", reason };
  }
  const flushed = flushMs > 0
    ? reportWithin(started.stdout, flushMs + GRACE_MS)
    : Promise.resolve(undefined);
  return { ok: true, dropped: 0, flushed };
}

async function reportWithin(
  stdout: AsyncIterable<Uint8Array>,
  ms: number,
): Promise<Flushed | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(resolve, ms, undefined));
  try {
    const { firstLine, parsed } = await import("./sender_protocol.ts");
    return parsed<Flushed>(await Promise.race([firstLine(stdout), late]));
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What a runtime needs to start and to trust certificates. The rest of an agent's environment is
 * full of secrets and none of the sender's business; what it needs comes in the parcel.
 */
const KEPT = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "XDG_CACHE_HOME",
  "LD_LIBRARY_PATH",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_SYSTEM_CA",
  "DENO_DIR",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "DENO_NO_UPDATE_CHECK",
];

function senderEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    KEPT.flatMap((name) => env[name] === undefined ? [] : [[name, env[name]]]),
  );
}
