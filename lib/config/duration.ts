/** Spans of time as people write them in a config. */

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const TEXT = /^([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([smhd])?$/;

/**
 * Reads `5s`, `30m`, `72h`, `7d` or a number of seconds; in whole ms. Undefined for anything else.
 * In YAML as PyYAML reads it `1:30` is the number 90, so it is 90 s here.
 */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === "bigint") return readDuration(Number(value));
  if (typeof value === "number") {
    return value >= 0 && Number.isFinite(value) ? Math.round(value * 1000) : undefined;
  }
  if (typeof value !== "string") return undefined;
  const [, count, unit = "s"] = TEXT.exec(value.trim()) ?? [];
  return count === undefined ? undefined : Math.round(Number(count) * UNITS[unit]!);
}

/** Units in ms, the longest first. */
export const SPANS = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "m"], [1_000, "s"]] as const;

/** A span in the largest unit that it is a whole number of: `72h` is `3d`, 90 s is `90s`. */
export function durationText(ms: number): string {
  const [size, unit] = SPANS.find(([each]) => ms >= each && ms % each === 0) ?? [1_000, "s"];
  return `${Math.round(ms / size * 10) / 10}${unit}`;
}

/** About how long: in the largest unit of which it is at least two, `5m` for 312 s. */
export function roughText(ms: number): string {
  const [size, unit] = SPANS.find(([each]) => ms >= 2 * each) ?? [1_000, "s"];
  return `${Math.round(ms / size)}${unit}`;
}
