/**
 * Ad-hoc signatures of Mach-O programs. Bun signs what it compiles for arm64; in what it compiles
 * for x64 it leaves the runtime's own signature, which then is wrong: macOS may end such a program
 * at its start.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
const HASH_BYTES = 32;
const SEGMENT = 0x19, CODE_SIGNATURE = 0x1d;
const BLOBS = 0xfade0cc0, CODE_DIRECTORY = 0xfade0c02;
/** Where the one blob begins, after the list of blobs. */
const DIRECTORY_AT = 20;
const DIRECTORY_BYTES = 88;
const VERSION = 0x20400;
/** Ad hoc, and made by a linker: codesign(1) replaces such a one without being told to. */
const FLAGS = 0x20002;
const MAIN_PROGRAM = 1n;

/** The places of the load commands that matter here. */
interface Commands {
  readonly signature: number;
  readonly text: number;
  readonly linkedit: number;
}

function commandsOf(program: Buffer): Commands {
  const found = { signature: 0, text: 0, linkedit: 0 };
  let at = 32;
  for (let left = program.readUInt32LE(16); left > 0; left--) {
    const kind = program.readUInt32LE(at);
    if (kind === CODE_SIGNATURE) found.signature = at;
    if (kind === SEGMENT) {
      const name = program.toString("latin1", at + 8, at + 24).replace(/\0+$/, "");
      if (name === "__TEXT") found.text = at;
      if (name === "__LINKEDIT") found.linkedit = at;
    }
    at += program.readUInt32LE(at + 4);
  }
  if (!found.signature || !found.text || !found.linkedit) {
    throw new Error("a Mach-O program without a place for a signature");
  }
  return found;
}

/**
 * The same program with an ad-hoc signature under the name `identifier` in the place of its own.
 * @throws Error when it has no place for one, or something follows it
 */
export function signed(program: Buffer, identifier: string): Buffer {
  const { signature, text, linkedit } = commandsOf(program);
  const limit = program.readUInt32LE(signature + 8);
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(limit / PAGE);
  const directoryBytes = DIRECTORY_BYTES + name.length + pages * HASH_BYTES;
  const size = DIRECTORY_AT + directoryBytes;
  const from = Number(program.readBigUInt64LE(linkedit + 40));
  if (from + Number(program.readBigUInt64LE(linkedit + 48)) !== program.length) {
    throw new Error("a Mach-O program that does not end with its signature");
  }

  const result = Buffer.alloc(limit + size);
  program.copy(result, 0, 0, limit);
  result.writeUInt32LE(size, signature + 12);
  result.writeBigUInt64LE(BigInt(limit + size - from), linkedit + 48);
  result.writeBigUInt64LE(BigInt(Math.ceil((limit + size - from) / PAGE) * PAGE), linkedit + 32);

  const blobs = [BLOBS, size, 1, 0, DIRECTORY_AT];
  const directory = [CODE_DIRECTORY, directoryBytes, VERSION, FLAGS];
  directory.push(DIRECTORY_BYTES + name.length, DIRECTORY_BYTES, 0, pages, limit);
  [...blobs, ...directory].forEach((word, i) => result.writeUInt32BE(word, limit + i * 4));
  const at = limit + DIRECTORY_AT;
  result.set([HASH_BYTES, 2, 0, PAGE_BITS], at + 36); // SHA-256, no platform
  // The main program's own segment: from where, how long, what it is.
  result.writeBigUInt64BE(program.readBigUInt64LE(text + 40), at + 64);
  result.writeBigUInt64BE(program.readBigUInt64LE(text + 48), at + 72);
  result.writeBigUInt64BE(MAIN_PROGRAM, at + 80);
  name.copy(result, at + DIRECTORY_BYTES);
  for (let page = 0; page < pages; page++) {
    hashOf(result, page, limit).copy(
      result,
      at + DIRECTORY_BYTES + name.length + page * HASH_BYTES,
    );
  }
  return result;
}

/** What is wrong with a program's signature; undefined: every page is as it was signed. */
export function signatureFault(program: Buffer): string | undefined {
  const { signature } = commandsOf(program);
  const start = program.readUInt32LE(signature + 8);
  if (program.readUInt32BE(start) !== BLOBS) return "it has no signature";
  const at = start + program.readUInt32BE(start + 16);
  if (program.readUInt32BE(at) !== CODE_DIRECTORY) return "its signature has no code directory";
  const hashes = at + program.readUInt32BE(at + 16);
  const pages = program.readUInt32BE(at + 28), limit = program.readUInt32BE(at + 32);
  if (limit !== start) return `its signature covers ${limit} bytes of ${start}`;
  for (let page = 0; page < pages; page++) {
    const was = program.subarray(hashes + page * HASH_BYTES, hashes + (page + 1) * HASH_BYTES);
    if (!hashOf(program, page, limit).equals(was)) return `page ${page} is not as it was signed`;
  }
  return pages === Math.ceil(limit / PAGE) ? undefined : "its signature leaves pages out";
}

function hashOf(program: Buffer, page: number, limit: number): Buffer {
  const bytes = program.subarray(page * PAGE, Math.min((page + 1) * PAGE, limit));
  return createHash("sha256").update(bytes).digest();
}
