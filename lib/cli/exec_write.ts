/** Writing the command's output to our own streams. */
import { write } from "node:fs";
import type { OutputStream } from "../platform/spawn_foreground.ts";

/** All of it, while signals are still heard; false when the reader is gone. */
export async function writeOutput(stream: OutputStream, bytes: Uint8Array): Promise<boolean> {
  const fd = stream === "stdout" ? 1 : 2;
  for (let at = 0; at < bytes.length;) {
    const { code, written } = await new Promise<{ code?: string; written: number }>((resolve) =>
      write(fd, bytes, at, (error, count) => resolve({ code: error?.code, written: count }))
    );
    // A pipe that somebody made non-blocking is full: wait for its reader.
    if (code === "EAGAIN") await new Promise((resolve) => setTimeout(resolve, 2));
    else if (code !== undefined) return false;
    else at += written;
  }
  return true;
}
