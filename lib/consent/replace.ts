/** Replacing a file so that whoever reads it sees the old text or the new, never a part. */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";

/**
 * Replaces `file` with `text` (UTF-8), through a symlink to its target (rule 6.2).
 * The new text is on disk before it takes the old one's name.
 * @param mode the new file's permissions
 * @throws Error with a `code` on any failure; the old file is then untouched and nothing is left
 */
export function replaceFile(file: string, text: string, mode = 0o600): void {
  const target = linkTarget(file);
  const folder = path.dirname(target);
  const temp = path.join(folder, `.${path.basename(target)}.${randomBytes(8).toString("hex")}.tmp`);
  const fd = fs.openSync(temp, "wx", 0o600);
  try {
    try {
      writeAll(fd, Buffer.from(text));
      keepOwner(fd, target, folder);
      fs.fchmodSync(fd, mode); // the umask may have taken bits of our own
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temp, target);
  } catch (error) {
    fs.rmSync(temp, { force: true });
    throw error;
  }
}

// Not realpath: a link whose target is still missing has a target all the same.
function linkTarget(file: string): string {
  let at = file;
  for (let hops = 0; hops < 40; hops++) {
    if (!fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return at;
    at = path.resolve(fs.realpathSync(path.dirname(at)), fs.readlinkSync(at));
  }
  throw Object.assign(new Error(`"${file}" is a link that leads to itself`), { code: "ELOOP" });
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at);
}

// Written by root in a user's home (sudo), a file must still be the user's afterwards.
function keepOwner(fd: number, target: string, folder: string): void {
  try {
    const owner = fs.statSync(target, { throwIfNoEntry: false }) ?? fs.statSync(folder);
    if (owner.uid !== fs.fstatSync(fd).uid) fs.fchownSync(fd, owner.uid, owner.gid);
  } catch {
    // Only root may give files away; for everyone else the rename alone decides.
  }
}
