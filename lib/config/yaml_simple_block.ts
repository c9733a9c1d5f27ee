/** Block scalars (`|`, `>`) in their simple forms. */

import { indentOf, isLineEnd, notSimple } from "./yaml_simple_text.ts";

/** A block scalar's text, and the index of its last line. */
export interface BlockText {
  readonly value: string;
  readonly last: number;
}

/**
 * Reads the block scalar whose head stands on line `row` at `at`, in a collection that begins at
 * `column`. Left to the exact reader are: `+`, a stated indentation, blank lines before the first
 * line, tabs, folded lines that are indented further, and a file that ends within.
 */
export function readBlockScalar(
  lines: readonly string[],
  row: number,
  at: number,
  column: number,
): BlockText {
  const head = lines[row] ?? "";
  const strip = head[at + 1] === "-";
  if (!isLineEnd(head, at + (strip ? 2 : 1))) notSimple();
  const folded = head[at] === ">";
  const indent = indentOf(lines[row + 1] ?? "");
  if (indent <= column) notSimple();
  let value = "";
  let blanks = 0;
  let last = row;
  for (let i = row + 1;; i++) {
    const line = lines[i];
    // Behind the file's last line break the text is split once more: an empty line.
    if (line === undefined) return lines[i - 1] === "" ? ended() : notSimple();
    const own = indentOf(line);
    if (own === line.length) {
      if (own > indent || last === row) notSimple();
      blanks++;
      continue;
    }
    if (own <= column) return ended();
    if (own < indent || (folded && own > indent) || line.includes("\t")) notSimple();
    if (last > row) value += folded && blanks === 0 ? " " : "\n".repeat(blanks + (folded ? 0 : 1));
    value += line.slice(indent);
    blanks = 0;
    last = i;
  }

  function ended(): BlockText {
    return { value: strip ? value : value + "\n", last };
  }
}
