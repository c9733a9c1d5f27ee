/** How the commands look: marks, colour on a terminal only, columns that line up. */
import { printable } from "../events/json.ts";

/** Colours and marks; without colour the same text plain. */
export interface Style {
  /** ✓ ✗ ⚠ and · */
  readonly ok: string;
  readonly bad: string;
  readonly warn: string;
  readonly dot: string;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
}

/** Colour only on a terminal, and never under `NO_COLOR` (any non-empty value) or `TERM=dumb`. */
export function styleFor(tty: boolean, env: Readonly<Record<string, string>>): Style {
  const colour = tty && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const paint = (code: string) => (text: string) => colour ? `\x1b[${code}m${text}\x1b[0m` : text;
  const [red, green, yellow] = [paint("31"), paint("32"), paint("33")];
  return {
    ok: green("✓"),
    bad: red("✗"),
    warn: yellow("⚠"),
    dot: "·",
    bold: paint("1"),
    dim: paint("2"),
    red,
    green,
    yellow,
  };
}

/** Text from outside, safe for one line of a terminal. */
export const line = (text: string): string => printable(text);

/** Pads to `width` characters, for columns. */
export function column(text: string, width: number): string {
  const length = [...text].length;
  return length >= width ? text : text + " ".repeat(width - length);
}

/** `1 hook`, `2 hooks`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
