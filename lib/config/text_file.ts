/** Reading a whole text file that a person wrote: bounded, and strict about its bytes. */
import { closeSync, fstatSync, lstatSync, openSync, readSync, statSync } from "node:fs";

/** What {@link readTextFile} found; `missing` only when nothing at all is there. */
export type TextFile =
  | { readonly state: "read"; readonly text: string }
  | { readonly state: "missing" }
  | { readonly state: "unusable"; readonly why: string };

/** A config or `.env` larger than this is refused, in bytes. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** As in `config check <(generate)`. */
const HANDED_OVER = /^\/(?:dev|proc)\//;

function readBytes(fd: number): Uint8Array | undefined {
  let all = new Uint8Array(Math.min(fstatSync(fd).size + 1, MAX_TEXT_BYTES + 1) || 65_536);
  for (let size = 0;;) {
    const got = readSync(fd, all, size, all.length - size, null);
    if (got === 0) return all.subarray(0, size);
    size += got;
    if (size > MAX_TEXT_BYTES) return undefined;
    if (size < all.length) continue;
    const larger = new Uint8Array(all.length * 2);
    larger.set(all);
    all = larger;
  }
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EISDIR") return "is a folder, expected a file";
  if (code === "ENOTDIR") return "stands below something that is no folder";
  if (code === "EACCES" || code === "EPERM") return "cannot be read: permission denied";
  if (code === "ELOOP") return "is a link that leads in a circle";
  if (error instanceof TypeError) return "is not UTF-8 text";
  return `cannot be read: ${code ?? "unknown error"}`;
}

/**
 * Reads a file as UTF-8, a byte order mark kept. Never throws. A link to nothing is unusable, not
 * missing: somebody meant a file to be there.
 */
export function readTextFile(file: string): TextFile {
  let fd: number | undefined;
  try {
    const stat = statSync(file);
    if (stat.isDirectory()) return { state: "unusable", why: reason({ code: "EISDIR" }) };
    // Opening one waits for a writer, for ever and deaf to signals; what a shell hands over has one.
    if (stat.isFIFO() && !HANDED_OVER.test(file)) {
      return { state: "unusable", why: "is a FIFO, expected a file" };
    }
    fd = openSync(file, "r");
    const bytes = readBytes(fd);
    if (!bytes) return { state: "unusable", why: "is over 16 MiB" };
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { state: "read", text };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      return { state: "unusable", why: reason(error) };
    }
    if (!isLink(file)) return { state: "missing" };
    return { state: "unusable", why: "is a link to a file that is not there" };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
