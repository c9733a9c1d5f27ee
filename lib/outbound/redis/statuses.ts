/** How targets stand: written down for people, and done to their queues. */
import { z } from "zod";
import type { StatusChange, TargetStatus } from "../engine.ts";
import type { RedisLink } from "./link.ts";
import { DISABLED, PAUSED } from "./names.ts";
import type { Queues } from "./queues.ts";

const DISABLED_SHAPE = z.object({ since: z.string(), reason: z.string() });
const PAUSED_SHAPE = z.object({ until: z.string(), reason: z.string() });

/** A status as it was written; undefined when there is none, or it is not ours or over. */
export function readStatus(
  disabledText: string | null | undefined,
  pausedText: string | null | undefined,
): TargetStatus | undefined {
  const disabled = DISABLED_SHAPE.safeParse(parsed(disabledText)).data;
  const said = PAUSED_SHAPE.safeParse(parsed(pausedText)).data;
  const paused = said && Date.parse(said.until) > Date.now() ? said : undefined;
  if (!disabled && !paused) return undefined;
  return { ...(disabled && { disabled }), ...(paused && { paused }) };
}

function parsed(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
}

/** The statuses of all targets. */
export class Statuses {
  readonly #link: RedisLink;
  readonly #queues: Queues;

  constructor(link: RedisLink, queues: Queues) {
    this.#link = link;
    this.#queues = queues;
  }

  /** See {@link KeptQueue.statuses}. */
  async all(): Promise<ReadonlyMap<string, TargetStatus>> {
    const client = await this.#link.ready();
    const [disabled, paused] = await Promise.all([
      client.hgetall(DISABLED),
      client.hgetall(PAUSED),
    ]);
    const targets = new Set([...Object.keys(disabled), ...Object.keys(paused)]);
    return new Map([...targets].flatMap((target) => {
      const status = readStatus(disabled[target], paused[target]);
      return status ? [[target, status]] : [];
    }));
  }

  /** See {@link KeptQueue.setStatus}: nothing is taken from a disabled queue, by any listener. */
  async set(target: string, { disabled, paused }: StatusChange): Promise<void> {
    const client = await this.#link.ready();
    const queue = this.#queues.of(target);
    await this.#queues.list([target]);
    if (disabled) {
      await client.hset(DISABLED, target, JSON.stringify(disabled));
      await queue.pause();
    } else if (disabled === null) {
      await queue.resume();
      await client.hdel(DISABLED, target);
    }
    if (paused) {
      await client.hset(PAUSED, target, JSON.stringify(paused));
      const ms = Date.parse(paused.until) - Date.now();
      if (ms > 0) await queue.rateLimit(Math.ceil(ms));
    } else if (paused === null) {
      await queue.removeRateLimitKey();
      await client.hdel(PAUSED, target);
    }
  }
}
