/** The sender's log: nobody watches it, so what it could not deliver is found here. Bounded. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { printable } from "../events/json.ts";
import { refuseLiteralTilde } from "../platform/flock.ts";

/** Beyond this a log is set aside as `….log.1`, in bytes. */
export const MAX_LOG = 1024 * 1024;

/** The log of a home: `<home>/logs/outbound.log`. */
export function senderLogFile(home: string): string {
  return path.join(home, "logs", "outbound.log");
}

/**
 * Opens a log for appending (0600, its folder 0700), setting a full one aside first. Undefined when
 * it cannot be written: sending goes on without it.
 */
export function openSenderLog(file: string): number | undefined {
  try {
    refuseLiteralTilde(file);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const fd = openToAppend(file);
    if (fstatSync(fd).size <= MAX_LOG) return fd;
    closeSync(fd);
    renameSync(file, `${file}.1`);
    return openToAppend(file);
  } catch {
    return undefined;
  }
}

function openToAppend(file: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants;
  return openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** Writes one line: time, level, text. */
export type LogLine = (level: "debug" | "info" | "warning" | "error", text: string) => void;

/** Warnings and errors go to the file, everything else nowhere. */
export function senderLog(file: string, now: () => Date): LogLine {
  return (level, text) => {
    if (level === "debug" || level === "info") return;
    const fd = openSenderLog(file);
    if (fd === undefined) return;
    try {
      writeSync(fd, `${now().toISOString()} ${level} ${printable(text)}\n`);
    } catch {
      // A full disk: there is nobody left to tell.
    } finally {
      closeSync(fd);
    }
  };
}
