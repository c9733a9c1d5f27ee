/** `Retry-After` of an answer: what a receiver says, who is not to be trusted. */

/** As long as anything is ever kept back, in ms. */
const MOST_MS = 30 * 86_400_000;
const DATE = /^[A-Za-z]{3}, [0-9]{2} [A-Za-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * How long to wait, in ms from 0 to 30 days: seconds, or an HTTP date (RFC 9110, 10.2.3). Undefined
 * for anything else.
 * @param now in ms since 1970, for a date
 */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^[0-9]{1,9}$/.test(text)
    ? Number(text) * 1000
    : DATE.test(text)
    ? Date.parse(text) - now
    : NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MOST_MS);
}
