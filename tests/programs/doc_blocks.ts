/** The fenced blocks of a page of the documentation, and what is said of them. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

/** The project's folder. */
export const ROOT = path.join(import.meta.dirname!, "../..");

/** One line of a `run:` comment. */
export interface Step {
  readonly verb: string;
  readonly rest: string;
}

/** One fenced block. */
export interface Block {
  /** Such as `plugins.md:12`. */
  readonly where: string;
  readonly language: string;
  readonly text: string;
  /** What the HTML comment right before it says: `run: KIND [NAME]`, then steps, a line each. */
  readonly run?: { readonly kind: string; readonly name: string; readonly steps: readonly Step[] };
  /** Why it is not run: the HTML comment right before it says `not run: REASON`. */
  readonly notRun?: string;
}

function readRun(comment: string): Block["run"] {
  const [head, ...lines] = comment.split("\n").map((line) => line.trim()).filter(Boolean);
  const [, kind, name = ""] = /^run: (\S+) ?(.*)$/.exec(head!) ?? [];
  assert.ok(kind, `no way to run a block: ${head}`);
  const steps = lines.map((line) => {
    const [, verb = "", rest = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    return { verb, rest };
  });
  return { kind, name, steps };
}

/** The blocks of a page, such as `docs/plugins.md`, in order. */
export function blocksOf(page: string): Block[] {
  const text = fs.readFileSync(path.join(ROOT, page), "utf8");
  const found = text.matchAll(/(?:<!-- ((?:not )?run: [^]*?)-->\n+)?^```(\w*)\n([^]*?)^```$/gm);
  return [...found].map(({ index, 1: comment, 2: language = "", 3: code = "" }) => ({
    where: `${path.basename(page)}:${text.slice(0, index).split("\n").length}`,
    language,
    text: code,
    ...(comment?.startsWith("run: ") && { run: readRun(comment) }),
    ...(comment?.startsWith("not run: ") && { notRun: comment.slice("not run: ".length).trim() }),
  }));
}
