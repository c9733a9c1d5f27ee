/** A span of time as a schema: seconds, or text such as `90s`, `5m`, `72h`, `7d`. */
import { z } from "zod";
import { readDuration } from "../duration.ts";

const SPAN = /^\s*[0-9]{1,9}(?:\.[0-9]{1,3})? ?[smhd]?\s*$/;

/** With a default, as it would be written. */
export function span(fallback: string) {
  return z.union([z.string().regex(SPAN), z.number().min(0)])
    .refine((value) => readDuration(value) !== undefined).default(fallback);
}
