/** Waiting for deliveries that are kept: what became of them. */
import type { KeptQueue } from "./engine.ts";

/** How many are asked for at a time, and how often, in ms. */
const FEW = 64, LOOK_MS = 20;

/**
 * Waits until none of these deliveries is to be made any more, at most `ms`.
 * @param isOver asked in between: true ends the wait
 * @returns those that are still kept; one that is missing was delivered or purged
 */
export async function fatesWithin(
  kept: Pick<KeptQueue, "fates">,
  ids: readonly string[],
  ms: number,
  isOver: () => boolean = () => false,
): Promise<ReadonlyMap<string, "pending" | "dead">> {
  const found = new Map<string, "pending" | "dead">();
  const deadline = performance.now() + ms;
  for (let at = 0; at < ids.length;) {
    // A few at a time: while one of them is pending there is no need to ask for the others.
    const fates = await kept.fates(ids.slice(at, at + FEW));
    const left = deadline - performance.now();
    if ([...fates.values()].includes("pending") && left > 0 && !isOver()) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, LOOK_MS)));
      continue;
    }
    for (const [id, fate] of fates) found.set(id, fate);
    at += FEW;
  }
  return found;
}
