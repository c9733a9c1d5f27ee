/** `deliveries flush`: sends what is due and ends, where no listener does; for cron. */
import { openOutbox } from "../outbound/open_outbox.ts";
import type { Outbox } from "../outbound/outbox.ts";
import { SentElsewhere } from "../outbound/queue.ts";
import { UsageError } from "./args.ts";
import type { Kept } from "./deliveries.ts";
import { flushSeconds } from "./fire.ts";
import { line } from "./style.ts";

/** How long it goes on unless told, and the longest it may be told, in seconds. */
const DEFAULT_S = 60, MOST_S = 3_600;
/** A delivery that is due later is left to the next run, in ms. */
const NOW_MS = 50;
const LOOK_MS = 50;
const DRAIN_MS = 65_000;
/** How often it is tried to be the one that sends, in ms. */
const TURN_MS = 100;

/** Runs it: exit 1 when something that was due could not be sent in time, or is a dead letter now. */
export async function flush(kept: Kept, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw new UsageError("deliveries flush takes no further words");
  const ms = flushSeconds(kept.args, DEFAULT_S, MOST_S) * 1000;
  const { io, context: { home, env, log, now }, queue, targets, registry } = kept;
  if (registry.safeMode) {
    io.err("hermes-hooks: safe mode: nothing is sent\n");
    return 1;
  }
  const options = {
    home,
    queue,
    targets,
    env,
    log,
    now,
    role: "sender",
    onlyIfFree: true,
  } as const;
  for (const deadline = performance.now() + ms;;) {
    try {
      return await sendWith(await openOutbox(options), kept, ms);
    } catch (error) {
      if (!(error instanceof SentElsewhere)) throw error;
      // A sender that a command left behind ends by itself; a listener stays.
      if (error.role === "sender" && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, TURN_MS));
        continue;
      }
      io.out(`${line(error.message)}: nothing to do here\n`);
      return 0;
    }
  }
}

async function sendWith(outbox: Outbox, kept: Kept, ms: number): Promise<number> {
  try {
    return await sendDue(outbox, kept, ms);
  } finally {
    await outbox.drain(DRAIN_MS);
    await outbox.close();
  }
}

async function sendDue(outbox: Outbox, { io, targets }: Kept, ms: number): Promise<number> {
  const keys = targets.filter(({ options }) => options.disabled === undefined).map((t) => t.key);
  const deadline = performance.now() + ms;
  let due = await outbox.kept!.dueIn(keys);
  while (due !== undefined && due <= NOW_MS && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    due = await outbox.kept!.dueIn(keys);
  }
  let delivered = 0, failed = 0;
  for (const each of (await outbox.counts()).values()) {
    delivered += each.delivered;
    failed += each.failed;
  }
  const left = due !== undefined && due <= NOW_MS;
  io.out(`${delivered} delivered, ${failed} given up${left ? ", and more is due" : ""}\n`);
  return left || failed > 0 ? 1 : 0;
}
