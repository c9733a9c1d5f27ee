/** Does this system run binaries of formats that are not its own? */
import { readdirSync } from "node:fs";
import process from "node:process";

/**
 * Whether an executable that is neither ELF nor a script may run all the same: on Linux when a
 * format is registered with `binfmt_misc` (qemu, Wine, Java), elsewhere always.
 */
export function foreignFormatsRun(): boolean {
  if (process.platform !== "linux") return true;
  try {
    const names = readdirSync("/proc/sys/fs/binfmt_misc");
    return names.some((name) => name !== "register" && name !== "status");
  } catch {
    return false;
  }
}
