/** The engine that the config asks for, and the policy that goes with it. */
import type { QueueSettings } from "../config/queue_settings.ts";
import type { Context } from "../context.ts";
import type { QueueEngine } from "./engine.ts";
import type { Target } from "./target.ts";
import { KeptPolicy } from "./retry_policy.ts";
import type { Policy } from "./work.ts";

/** What an engine that keeps deliveries is opened with. */
export interface QueueOptions {
  /** The home. */
  readonly home: string;
  readonly log: Context["log"];
  readonly now: () => Date;
  /** A target's options as they are now, by key; undefined for one that is not configured. */
  readonly target: (key: string) => Target["options"] | undefined;
  /** How long dead letters are kept, in ms. */
  readonly retainMs: number;
  /** Which process this is, for others that ask who sends. Default: the listener. */
  readonly role?: "listener" | "sender";
  /**
   * Where one process of a home sends at a time (sqlite) and another does so now: the listener takes
   * deliveries in meanwhile and sends once it is free; with this set, opening throws
   * {@link SentElsewhere} instead.
   */
  readonly onlyIfFree?: boolean;
  /** Told how many of a target's deliveries were dropped, once a burst. */
  readonly onDropped?: (target: string, count: number) => void;
}

/** Another process of this home is sending from the queue. */
export class SentElsewhere extends Error {
  override readonly name = "SentElsewhere";
  constructor(readonly role: "listener" | "sender") {
    super(`the ${role} of this home sends from the queue`);
  }
}

/** An engine with its policy. */
export interface OpenQueue {
  readonly engine: QueueEngine;
  readonly policy: Policy;
}

/**
 * Opens the queue for sending. Each engine's code is loaded when it is asked for.
 * @returns undefined for memory: an outbox makes that by itself
 */
export async function openQueue(
  { queue }: QueueSettings,
  options: QueueOptions,
): Promise<OpenQueue | undefined> {
  const { now, log } = options;
  const policy = () => new KeptPolicy({ now, log });
  switch (queue.kind) {
    case "memory":
      return undefined;
    case "sqlite": {
      const { SqliteEngine } = await import("./sqlite/engine.ts");
      return { engine: await SqliteEngine.open(options), policy: policy() };
    }
    case "redis": {
      const { openRedis } = await import("./redis/open.ts");
      return { engine: openRedis(queue.url, options), policy: policy() };
    }
  }
}
