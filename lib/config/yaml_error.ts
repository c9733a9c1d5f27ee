/** What the YAML reader throws, and the limits it throws at. */

/** Deeper nesting than this is refused, so that no reader of the tree can overflow its stack. */
export const MAX_DEPTH = 200;

/** More nodes than this, with every alias counted as what it stands for, are refused. */
export const MAX_EXPANDED_NODES = 100_000;

/** The text is no YAML that PyYAML's `safe_load` would load (rule 1.2). */
export class YamlSyntaxError extends Error {
  /**
   * @param message what is wrong; lower case, no full stop
   * @param file the file, as it was opened
   * @param line 1-based
   * @param column 1-based, in code points
   */
  constructor(
    message: string,
    readonly file: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(message);
    this.name = "YamlSyntaxError";
  }
}

/** Throws a {@link YamlSyntaxError} at an offset (UTF-16 units) into the text. */
export type Fail = (message: string, offset: number) => never;

/** A place in the text. */
export interface Place {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

/** Turns an offset (UTF-16 units) into a line and a column. */
export type Locate = (offset: number) => Place;

/** How many columns a line was shifted to the right, by 1-based line number. */
export type Shifts = Map<number, number>;

/** Locates in `text`, whose lines must all end in `\n`; `shifts` are taken off its columns. */
export function locatorOf(text: string, shifts: Readonly<Shifts>): Locate {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const isWide = /[\ud800-\udbff]/.test(text);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const start = starts[low] ?? 0;
    const before = isWide ? [...text.slice(start, offset)].length : offset - start;
    return { line: low + 1, column: Math.max(1, before + 1 - (shifts.get(low + 1) ?? 0)) };
  };
}
