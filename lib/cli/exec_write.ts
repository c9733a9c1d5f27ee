/** Writing the command's output to our own streams. */
import { write } from "node:fs";
import type { OutputStream } from "../platform/spawn_foreground.ts";

/**
 * Gives back what writes all of a piece, while signals are still heard, and says false when that
 * cannot be done.
 * @param warn told when it is for another reason than a reader that went away
 */
export function outputWriter(
  warn: (text: string) => void,
): (stream: OutputStream, bytes: Uint8Array) => Promise<boolean> {
  return async (stream, bytes) => {
    const code = await writeAll(stream === "stdout" ? 1 : 2, bytes);
    if (code !== undefined && code !== "EPIPE") {
      warn(`the command's output cannot be written to ${stream}: ${code}`);
    }
    return code === undefined;
  };
}

/** The error's code, if there is one. */
async function writeAll(fd: number, bytes: Uint8Array): Promise<string | undefined> {
  for (let at = 0; at < bytes.length;) {
    const { code, written } = await new Promise<{ code?: string; written: number }>((resolve) =>
      write(fd, bytes, at, (error, count) => resolve({ code: error?.code, written: count }))
    );
    // A pipe that somebody made non-blocking is full: wait for its reader.
    if (code === "EAGAIN") await new Promise((resolve) => setTimeout(resolve, 2));
    else if (code !== undefined) return code;
    else at += written;
  }
  return undefined;
}
