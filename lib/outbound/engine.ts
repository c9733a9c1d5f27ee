/**
 * The queue between firing and sending, behind one small interface: nothing above it knows which
 * engine runs. `memory` is best effort (rule 10.3); engines that keep what they accepted have a
 * {@link KeptQueue} too, and nothing but that tells them apart.
 */
import type { Target } from "./target/shape.ts";
import type { Work } from "./work.ts";

/** One event on its way to one target. */
export interface Delivery {
  /** 32 hex digits, the same over all attempts (rule 10.2). */
  readonly id: string;
  /** {@link Target.key} of where it goes. */
  readonly target: string;
  readonly event: string;
  /** The wire form as JSON text, an object; delivery keys are added at each attempt. */
  readonly wire: string;
  /** When the event was fired, UTC, `…Z`. */
  readonly occurredAt: string;
  /** Attempts made so far. */
  readonly attempts: number;
  /** From when its age counts, in ms since 1970; absent: from when it was fired. */
  readonly agesFrom?: number;
  /** The session the event belongs to, for `ordering: session`; absent: none. */
  readonly session?: string;
}

/** What became of a delivery that was handed in: `dropped` when that target's queue is full. */
export type Enqueued = "queued" | "dropped";

/** How an attempt ended, for {@link QueueEngine.settle}. */
export type Settlement =
  /** Delivered, or given up where nothing is kept: gone from the queue. */
  | { readonly kind: "done" }
  /** Not attempted after all: as it was before it was taken. Only where deliveries are kept. */
  | { readonly kind: "untried" }
  /** To be taken again, not before `afterMs` from now. */
  | { readonly kind: "retry"; readonly afterMs: number; readonly why?: Failure }
  /** Given up for good: a dead letter where such are kept, else gone. */
  | { readonly kind: "dead"; readonly why: Failure };

/** Why an attempt failed, fit to be shown and to be stored. */
export interface Failure {
  /** One line. */
  readonly error: string;
  /** The HTTP status, when there was an answer. */
  readonly status?: number;
}

/** How many deliveries of a target wait, are being sent, and were dropped since start. */
export interface QueueCounts {
  readonly waiting: number;
  readonly inFlight: number;
  readonly dropped: number;
  /** Dead letters; absent where none are kept. */
  readonly dead?: number;
}

/** A queue of deliveries, in order per target. */
export interface QueueEngine {
  /** Adds one; never waits for the network. An engine that keeps deliveries has `kept.accept`. */
  enqueue(delivery: Delivery): Enqueued | Promise<Enqueued>;
  /**
   * The next delivery of a target that is due, or undefined when there is none now. Taken ones are
   * in flight until settled.
   */
  take(target: string): Delivery | undefined | Promise<Delivery | undefined>;
  /** Ends an attempt on a taken delivery. */
  settle(delivery: Delivery, settlement: Settlement): void | Promise<void>;
  /** Calls back whenever a target may have something due; one callback for all targets. */
  onReady(callback: (target: string) => void): void;
  /** By target. */
  counts(): ReadonlyMap<string, QueueCounts> | Promise<ReadonlyMap<string, QueueCounts>>;
  /**
   * Takes no more in; resolves with what was still undelivered when `ms` ran out or all was done.
   * What is kept is not given up: such an engine ends the attempts under way and returns nothing.
   */
  drain(ms: number): Promise<readonly Delivery[]>;
  /** Frees timers and files. */
  close(): void | Promise<void>;
  /** The part of an engine that keeps deliveries until they are made; absent: best effort. */
  readonly kept?: KeptQueue;
  /**
   * For an engine that hands deliveries out by itself, instead of through `take` and `settle`: the
   * driver does what lanes do for the others.
   */
  drive?(work: Work): Driver;
}

/** Who takes deliveries out of a queue and has attempts made. */
export interface Driver {
  /** Sends to these targets from now on; what waits for one that is gone stays where it is kept. */
  setTargets(targets: readonly Target[]): void;
  /** Starts nothing more. */
  close(): void | Promise<void>;
}

/** Deliveries could not be taken in; none of those handed in together was. */
export class NotAccepted extends Error {
  override readonly name = "NotAccepted";
  /**
   * @param message one line, fit to be shown: why, and what to do
   * @param reason `full`: a target says `when_full: refuse`; `unavailable`: the store cannot be
   * written or reached
   */
  constructor(message: string, readonly reason: "full" | "unavailable") {
    super(message);
  }
}

/** The refusal of a target that is full and says `when_full: refuse`. */
export function queueFull(name: string, maxQueue: number): NotAccepted {
  const message = `the queue of "${name}" is full (max_queue ${maxQueue}, when_full: refuse)`;
  return new NotAccepted(message, "full");
}

/** Where a kept delivery stands: new, tried before, being sent, or given up. */
export type KeptState = "waiting" | "retrying" | "sending" | "dead";

/** A delivery as it is kept. */
export interface KeptDelivery extends Delivery {
  readonly state: KeptState;
  /** When the next attempt is due, UTC; absent when dead. */
  readonly dueAt?: string;
  /** When it was given up, UTC; dead ones only. */
  readonly endedAt?: string;
  /** Why the last attempt failed; absent: none was made. */
  readonly why?: Failure;
}

/** Which kept deliveries are meant: all that match everything said. */
export interface KeptFilter {
  readonly ids?: readonly string[];
  /** {@link Target.key}s. */
  readonly targets?: readonly string[];
  readonly states?: readonly KeptState[];
  readonly event?: string;
  /** Fired before this moment. */
  readonly before?: Date;
  /** Fired at or after this moment. */
  readonly after?: Date;
}

/** How a target stands with its queue, beyond what the config says. */
export interface TargetStatus {
  /** Nothing is sent until someone lifts it (a receiver answered 410). */
  readonly disabled?: { readonly since: string; readonly reason: string };
  /** Left alone until then, since it failed for long; then probed. */
  readonly paused?: { readonly until: string; readonly reason: string };
}

/** A change of a target's status: null lifts, and what is not named stays as it is. */
export type StatusChange = { readonly [K in keyof TargetStatus]: TargetStatus[K] | null };

/** Lifts everything that keeps a target back. */
export const LIFTED: StatusChange = { disabled: null, paused: null };

/** What an engine offers beyond sending: everything accepted is kept, and can be looked at. */
export interface KeptQueue {
  /**
   * Takes deliveries in, all of them together: when this resolves they survive a crash.
   * @returns for each, in order, whether it is queued or its target's queue was full
   * @throws NotAccepted when nothing was taken in
   */
  accept(deliveries: readonly Delivery[]): Promise<readonly Enqueued[]>;
  /** Those of these ids that are still kept; one that is missing was delivered or purged. */
  fates(ids: readonly string[]): Promise<ReadonlyMap<string, "pending" | "dead">>;
  /** The oldest first; `limit` default 100, `offset` default 0. */
  find(
    filter: KeptFilter,
    page?: { readonly limit?: number; readonly offset?: number },
  ): Promise<readonly KeptDelivery[]>;
  /** Makes every match due now, with all its attempts before it; returns how many. */
  redeliver(filter: KeptFilter): Promise<number>;
  /** Removes every match but those being sent; returns how many. */
  purge(filter: KeptFilter): Promise<number>;
  /** By target; only those about which there is something to say. */
  statuses(): Promise<ReadonlyMap<string, TargetStatus>>;
  /**
   * Milliseconds until the next attempt that could be made, over these targets ({@link Target.key}):
   * 0 when one is due or under way, undefined when nothing waits or every target with something
   * waiting is disabled. Cheap: a sender asks it every 50 ms to know whether it may end.
   */
  dueIn(targets: readonly string[]): Promise<number | undefined>;
  /** Changes what is known of a target. Nothing is handed out of one that is disabled. */
  setStatus(target: string, change: StatusChange): Promise<void>;
}
