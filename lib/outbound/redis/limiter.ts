/** `rate_limit_per_second` as BullMQ's limiter counts it. */

/** Milliseconds in which attempts come in one go at most: the next ones wait for the next window. */
const WINDOW_MS = 100;
/** More than anyone can send. */
const UNBOUNDED = 1_000_000_000;

/**
 * So many jobs in so many milliseconds. Without a rate there is one nobody meets: BullMQ keeps a
 * pause only for queues with a limit.
 */
export function limiterFor(perSecond: number | undefined): { max: number; duration: number } {
  if (perSecond === undefined) return { max: UNBOUNDED, duration: 1_000 };
  const max = Math.max(1, Math.floor(perSecond * WINDOW_MS / 1000));
  return { max, duration: Math.ceil(max * 1000 / perSecond) };
}
