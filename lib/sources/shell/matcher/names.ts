/**
 * The common patterns are names, or alternatives of names with at most one `.*` each. Those are
 * compared as text, without parsing a pattern.
 */

/** Whether a tool name is meant. */
export type NameTest = (name: string) => boolean;

/** The test of a pattern that is only names; undefined when it is anything more. */
export function namesOnly(pattern: string): NameTest | undefined {
  // Cold regular expressions are slow: by far the most patterns never come to one.
  if (isPlain(pattern, "|")) return among(pattern.split("|"));
  const alternatives = unwrapped(pattern).split("|");
  const names = new Set<string>();
  const open: NameTest[] = [];
  for (const alternative of alternatives) {
    // In a full match an anchor at either end of an alternative asks for nothing more.
    const text = alternative.replace(/^\^/, "").replace(/\$$/, "");
    const wildcard = /\.[*+]/.exec(text);
    const before = wildcard ? text.slice(0, wildcard.index) : text;
    const after = wildcard ? text.slice(wildcard.index + 2) : "";
    if (!isPlain(before) || !isPlain(after)) return undefined;
    if (wildcard) open.push(around(before, after, wildcard[0] === ".+"));
    else names.add(text);
  }
  if (open.length === 0) return (name) => names.has(name);
  return (name) => names.has(name) || open.some((test) => test(name));
}

/** The pattern without anchors and one group around it, when it holds no other group. */
function unwrapped(pattern: string): string {
  const inner = /^\^?\((?:\?:)?([^()[\]\\]*)\)\$?$/.exec(pattern)?.[1];
  return inner ?? pattern;
}

/** Whether every character stands for itself or is `allowed`, and none is half of a pair. */
function isPlain(text: string, allowed = ""): boolean {
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    const isSpecial = ".\\[{()*+?^$|".includes(char) && char !== allowed;
    if (isSpecial || (char >= "\ud800" && char <= "\udfff")) return false;
  }
  return true;
}

function among(names: readonly string[]): NameTest {
  return (name) => names.includes(name);
}

function around(before: string, after: string, some: boolean): NameTest {
  const least = before.length + after.length + (some ? 1 : 0);
  return (name) =>
    name.length >= least && name.startsWith(before) && name.endsWith(after) &&
    // The dot stands for anything but a newline.
    !name.slice(before.length, name.length - after.length).includes("\n");
}
