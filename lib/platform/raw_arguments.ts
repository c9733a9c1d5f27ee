/** The command line as bytes: what a runtime hands out of it is text. */
import { readFileSync } from "node:fs";

/**
 * Does `words`, a part of our command line, say what was given? Bytes that are no UTF-8 reach us as
 * U+FFFD, and so would be other words. Where the bytes cannot be seen, a U+FFFD is taken for one.
 */
export function givenAsText(words: readonly string[]): boolean {
  if (!words.some((word) => word.includes("\ufffd"))) return true;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(readFileSync("/proc/self/cmdline"));
    return true;
  } catch {
    return false;
  }
}
