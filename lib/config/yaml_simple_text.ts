/** What the quick YAML reader looks at on a line, and how it gives up. */

/** Thrown, and caught again, where a text turns out not to be simple. */
export class NotSimple extends Error {}

/** Leaves the text to the exact reader. */
export function notSimple(): never {
  throw new NotSimple();
}

/** The offset of the first character from `from` on that is no space. */
export function skipSpaces(line: string, from: number): number {
  let at = from;
  while (line[at] === " ") at++;
  return at;
}

/** How many spaces a line begins with. */
export function indentOf(line: string): number {
  return skipSpaces(line, 0);
}

/** Does the line end at `at`, or is there a space? */
export function isGap(line: string, at: number): boolean {
  return at >= line.length || line[at] === " ";
}

/** Is the character at `at` the dash of a block sequence's item? */
export function isDash(line: string, at: number): boolean {
  return line[at] === "-" && isGap(line, at + 1);
}

/** Does nothing follow but spaces, and perhaps a comment behind at least one of them? */
export function isLineEnd(line: string, at: number): boolean {
  const next = skipSpaces(line, at);
  return next === line.length || (next > at && line[next] === "#");
}
