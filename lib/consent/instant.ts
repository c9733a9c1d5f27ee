/** Times as the allowlist holds them: text that means an instant. */

/**
 * UTC text as Python's `isoformat` writes it, with `Z`: six digits of a second, or none when they
 * are all zero.
 * @param ns nanoseconds since 1970
 */
export function utcText(ns: bigint): string {
  const micros = ns / 1000n - (ns % 1000n < 0n ? 1n : 0n);
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number(micros - rest) / 1000).toISOString().slice(0, 19);
  return rest === 0n ? `${seconds}Z` : `${seconds}.${String(rest).padStart(6, "0")}Z`;
}

const ISO =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(?:[Zz]|([+-])(\d{2}):?(\d{2})?)?$/;

/**
 * The instant an ISO 8601 text means, in ms since 1970, at any precision, with `Z`, an offset, or
 * (taken as UTC) neither; undefined when it is no such text.
 */
export function instantMs(text: string): number | undefined {
  const match = ISO.exec(text.trim());
  if (!match) return undefined;
  const [, day, minutes, seconds = "00", fraction = "", sign, hours = "0", rest = "0"] = match;
  const base = Date.parse(`${day}T${minutes}:${seconds}Z`);
  if (Number.isNaN(base)) return undefined;
  const offset = (Number(hours) * 60 + Number(rest)) * 60_000 * (sign === "-" ? -1 : 1);
  return base - offset + Number(`0.${fraction || "0"}`) * 1000;
}
