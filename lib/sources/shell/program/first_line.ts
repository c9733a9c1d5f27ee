/** The first bytes of a program: can the kernel run it, and with which interpreter (rule 3.9)? */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { basename, isAbsolute } from "node:path";
import { foreignFormatsRun } from "../../../platform/binfmt.ts";
import { canExecute, findInPath, kindOf } from "./lookup.ts";
import { anchored, isElsewhere } from "./place.ts";
import { quoted, type Refusal, refuse } from "./refusal.ts";

/** Where the program will run. */
export interface RunPlace {
  readonly path: string | undefined;
  readonly startFolder: string;
  readonly cwd: string;
}

/** How much of a file the kernel looks at. */
const HEAD_BYTES = 256;
/** How many interpreters may be scripts themselves. */
const DEEPEST = 4;

/** What is wrong with the first bytes of `file`; undefined: nothing, or only the kernel can say. */
export function refuseFirstLine(file: string, place: RunPlace, depth = 0): Refusal | undefined {
  const head = readHead(file);
  if (head === undefined) return undefined;
  if (startsWith(head, 0x23, 0x21)) return refuseShebang(file, head, place, depth);
  if (startsWith(head, 0xef, 0xbb, 0xbf, 0x23, 0x21)) {
    return refuse(
      "bad interpreter",
      `${quoted(file)} has a byte order mark (BOM) before "#!"; save it as UTF-8 without one`,
    );
  }
  if (startsWith(head, 0xff, 0xfe) || startsWith(head, 0xfe, 0xff)) {
    return refuse(
      "bad interpreter",
      `${quoted(file)} is written in UTF-16 with a byte order mark (BOM); save it as UTF-8`,
    );
  }
  if (head.length === 0) return refuse("exec format error", `${quoted(file)} is empty`);
  if (isBinary(head)) {
    // Said here and not by the kernel: not every runtime passes its "exec format error" on.
    if (startsWith(head, ...ELF) || foreignFormatsRun()) return undefined;
    return refuse("exec format error", `${quoted(file)} is no program of this system`);
  }
  return refuse(
    "exec format error",
    `${quoted(file)} has no "#!" line (begin it with one, such as "#!/bin/sh", ` +
      `or name its interpreter in the command)`,
  );
}

/** Undefined when it cannot be read: it may be executable all the same. */
function readHead(file: string): Uint8Array | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const head = new Uint8Array(HEAD_BYTES);
    return head.subarray(0, readSync(fd, head, 0, HEAD_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function startsWith(head: Uint8Array, ...bytes: number[]): boolean {
  return bytes.every((byte, i) => head[i] === byte);
}

const ELF = [0x7f, 0x45, 0x4c, 0x46];

// ELF and what else holds a NUL, which no script does; Mach-O and PE begin with these.
function isBinary(head: Uint8Array): boolean {
  return head.includes(0) || startsWith(head, ...ELF) ||
    startsWith(head, 0x4d, 0x5a) || startsWith(head, 0xca, 0xfe, 0xba, 0xbe) ||
    (startsWith(head, 0xcf, 0xfa, 0xed) || startsWith(head, 0xce, 0xfa, 0xed)) ||
    startsWith(head, 0xfe, 0xed, 0xfa);
}

function refuseShebang(
  file: string,
  head: Uint8Array,
  place: RunPlace,
  depth: number,
): Refusal | undefined {
  const at = head.indexOf(0x0a);
  const line = new TextDecoder().decode(head.subarray(2, at < 0 ? head.length : at));
  const [, interpreter = "", argument = ""] = /^[ \t]*([^ \t\0]*)[ \t]*([^\0]*?)[ \t]*(?:\0|$)/s
    .exec(line) ?? [];
  const named = `(first line of ${quoted(file)})`;
  if (hasCrlf(interpreter, argument)) {
    return refuse(
      "bad interpreter",
      `${quoted(interpreter)} ${named}: the file has CRLF line endings; save it with LF ones`,
    );
  }
  if (interpreter === "") return refuse("bad interpreter", `none is named ${named}`);
  if (at < 0 && head.length === HEAD_BYTES && !/[ \t\0]/.test(line.trimStart())) {
    return refuse("bad interpreter", `the one named is too long ${named}`);
  }
  return refuseInterpreter(interpreter, named, place, depth) ??
    (basename(interpreter) === "env" ? refuseEnvName(argument, named, place) : undefined);
}

// The kernel makes the carriage return part of the name or of the argument. Perl alone is known to
// overlook it in its options.
function hasCrlf(interpreter: string, argument: string): boolean {
  if (argument === "") return interpreter.endsWith("\r");
  return argument.endsWith("\r") && !/^(?:.*\/)?perl$/.test(interpreter);
}

function refuseInterpreter(
  interpreter: string,
  named: string,
  place: RunPlace,
  depth: number,
): Refusal | undefined {
  // The kernel would take it from the event's cwd, and so from whoever chose that (rule 3.2).
  if (!isAbsolute(interpreter) && isElsewhere(place)) {
    return refuse("bad interpreter", `${quoted(interpreter)} is no absolute path ${named}`);
  }
  const path = anchored(place.startFolder, interpreter);
  const kind = kindOf(path);
  if (kind === "missing") {
    return refuse("bad interpreter", `${quoted(interpreter)} does not exist ${named}`);
  }
  if (kind !== "file" || !canExecute(path)) {
    return refuse("bad interpreter", `${quoted(interpreter)} is not executable ${named}`);
  }
  if (depth >= DEEPEST) return refuse("bad interpreter", `too many follow one another ${named}`);
  const own = refuseFirstLine(path, place, depth + 1);
  return own && refuse("bad interpreter", `${quoted(interpreter)} ${named}: ${own.reason}`);
}

/** `#!/usr/bin/env NAME`: NAME is looked up in PATH. Options and more words are left to env. */
function refuseEnvName(argument: string, named: string, place: RunPlace): Refusal | undefined {
  if (!/^[^\s=/-][^\s=/]*$/.test(argument)) return undefined;
  const found = findInPath(argument, place.path, place.startFolder);
  if ("file" in found) return undefined;
  return refuse("bad interpreter", `${quoted(argument)} is not in PATH ${named}`);
}
