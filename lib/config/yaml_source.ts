/** What PyYAML demands of the text itself, before any structure. */

import type { Fail } from "./yaml_error.ts";

/** The text without a leading BOM and with every line break as `\n`, as PyYAML sees it. */
export function normalize(text: string): string {
  const bare = text.startsWith("\ufeff") ? text.slice(1) : text;
  return /[\r\u0085]/.test(bare) ? bare.replace(/\r\n?|\u0085/g, "\n") : bare;
}

const UNPRINTABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Refuses characters that PyYAML's reader refuses anywhere, and a text that begins with its end. */
export function checkText(text: string, fail: Fail): void {
  checkCharacters(text, fail);
  const match = END_MARKER_FIRST.exec(text);
  if (match) fail('"..." before any content', match[0].length - 3);
}

function checkCharacters(text: string, fail: Fail): void {
  const at = text.search(UNPRINTABLE);
  if (at < 0) return;
  const code = (text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  fail(`character U+${code} is not allowed, write it as an escape in double quotes`, at);
}

const END_MARKER_FIRST = /^(?: *(?:#[^\n]*)?\n)*\.\.\.(?=[ \t\n]|$)/;
