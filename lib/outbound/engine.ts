/**
 * The queue between firing and sending, behind one small interface: nothing above it knows which
 * engine runs. `memory` is best effort (rule 10.3); engines that keep deliveries come behind the
 * same interface.
 */

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
}

/** What became of {@link QueueEngine.enqueue}: `dropped` when that target's queue is full. */
export type Enqueued = "queued" | "dropped";

/** How an attempt ended, for {@link QueueEngine.settle}. */
export type Settlement =
  /** Delivered, or given up for good: gone from the queue. */
  | { readonly kind: "done" }
  /** To be taken again, not before `afterMs` from now. */
  | { readonly kind: "retry"; readonly afterMs: number };

/** How many deliveries of a target wait, are being sent, and were dropped since start. */
export interface QueueCounts {
  readonly waiting: number;
  readonly inFlight: number;
  readonly dropped: number;
}

/** A queue of deliveries, in order per target. */
export interface QueueEngine {
  /** Adds one; never waits for the network. */
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
  /** Takes no more in; resolves with what was still undelivered when `ms` ran out or all was done. */
  drain(ms: number): Promise<readonly Delivery[]>;
  /** Frees timers and files. */
  close(): void | Promise<void>;
}
