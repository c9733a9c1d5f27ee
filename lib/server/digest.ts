/** What tells whether two processes read the same files. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { allowlistFile } from "../consent/allowlist.ts";

/** The SHA-256 of a file's bytes, hex; null when there is no file to read. */
export function fileDigest(file: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return null;
  }
}

/** What a registry was read from. */
export interface Digests {
  readonly config: string | null;
  readonly allowlist: string | null;
}

/** The digests of a home's files as they are on disk now. */
export function digestsOf(where: { readonly home: string; readonly configFile: string }): Digests {
  return {
    config: fileDigest(where.configFile),
    allowlist: fileDigest(allowlistFile(where.home)),
  };
}

/** Do both describe the same bytes? */
export function sameDigests(a: Digests, b: Digests): boolean {
  return a.config === b.config && a.allowlist === b.allowlist;
}
