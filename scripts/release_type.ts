/** What kind of program a file is, by its first bytes. */
import { Buffer } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";

const ELF_MACHINES: Readonly<Record<number, string>> = { 62: "x64", 183: "arm64" };
const MACH_CPUS: Readonly<Record<number, string>> = { 0x01000007: "x64", 0x0100000c: "arm64" };
const PE_MACHINES: Readonly<Record<number, string>> = { 0x8664: "x64", 0xaa64: "arm64" };

/** `ELF x64 glibc`, `Mach-O arm64`, `PE x64`, or `unknown`. */
export function typeOf(head: Buffer): string {
  if (head.toString("latin1", 0, 4) === "\x7fELF") {
    const loader = /\/ld-(musl|linux)[\w.-]*/.exec(head.toString("latin1"))?.[1];
    const libc = loader === "musl" ? "musl" : loader === "linux" ? "glibc" : "static";
    return `ELF ${ELF_MACHINES[head.readUInt16LE(18)] ?? "unknown"} ${libc}`;
  }
  if (head.readUInt32LE(0) === 0xfeedfacf) {
    return `Mach-O ${MACH_CPUS[head.readUInt32LE(4)] ?? "unknown"}`;
  }
  if (head.toString("latin1", 0, 2) === "MZ") {
    const at = head.readUInt32LE(0x3c);
    const isPe = at + 6 < head.length && head.toString("latin1", at, at + 4) === "PE\0\0";
    return isPe ? `PE ${PE_MACHINES[head.readUInt16LE(at + 4)] ?? "unknown"}` : "unknown";
  }
  return "unknown";
}

/** The same of a file. */
export function fileType(file: string): string {
  const fd = openSync(file, "r");
  try {
    const head = Buffer.alloc(8192);
    readSync(fd, head, 0, head.length, 0);
    return typeOf(head);
  } finally {
    closeSync(fd);
  }
}
