/** The kinds of values a config holds, as schemas: each accepts what its loader takes in silence. */
import { z } from "zod";
import type { NumberBounds } from "../bounds.ts";

/** A string with something in it. */
export const text = () => z.string().regex(/\S/);

/** A string of decimal digits, as Python's `int()` reads it, or with a fraction. */
const WHOLE_TEXT = /^\s*[+-]?[0-9]+(?:_[0-9]+)*\s*$/;
const DECIMAL_TEXT = /^\s*[+-]?[0-9]+(?:\.[0-9]+)?\s*$/;

/** A number within bounds, also written as a string: `"10"`, or a `${NAME}` that holds one. */
export function numeric({ from, to, fallback }: NumberBounds, written: "int" | "decimal") {
  const inBounds = (digits: string) => {
    const number = Number(digits.replaceAll("_", ""));
    return number >= from && number <= to;
  };
  const pattern = written === "int" ? WHOLE_TEXT : DECIMAL_TEXT;
  const schema = z.union([
    z.number().min(from).max(to),
    z.string().regex(pattern).refine(inBounds),
  ]);
  return fallback === undefined ? schema.optional() : schema.default(fallback);
}

/** A whole number from 0; nothing is as if the key were not there. */
export const count = (fallback: number) => z.int().min(0).nullable().default(fallback);

/** True or false; nothing is as if the key were not there. */
export const yesNo = () => z.boolean().nullable().default(false);
