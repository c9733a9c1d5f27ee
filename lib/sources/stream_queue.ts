/** Stream events wait here, for each hook in a queue of its own with one worker (rule 8.4). */
import type { Call, Hook } from "./hook.ts";
import type { Outcome } from "../events/outcome.ts";

/** How many events wait for one hook at most; one more pushes its oldest out. */
export const STREAM_QUEUE_SIZE = 1024;

const STREAM_EVENTS: ReadonlySet<string> = new Set([
  "on_stream_start",
  "on_stream_delta",
  "on_stream_end",
  "on_interim_message",
]);

/** Is it one of the events whose caller waits for no hook? */
export function isStreamEvent(event: string): boolean {
  return STREAM_EVENTS.has(event);
}

/** What became of the events of one hook. Those that wait or run are in none of the last three. */
export interface StreamCounts {
  readonly source: Hook["source"];
  readonly name: string;
  readonly event: string;
  readonly waiting: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
}

/** What is said at the first drop of a burst. */
export function droppingText(name: string, event: string): string {
  return `hook ${name}: too slow for ${event}, its oldest events are dropped`;
}

/** Told of each outcome, and of the first drop of a burst. */
export interface StreamObserver {
  outcome?(hook: Hook, outcome: Outcome): void;
  dropping?(hook: Hook): void;
}

/** One hook's events in order; the oldest goes when there are too many. */
class HookQueue {
  readonly #hook: Hook;
  readonly #observer: StreamObserver;
  readonly #waiting: Call[] = [];
  #running: Promise<void> | undefined;
  #dropping = false;
  #delivered = 0;
  #failed = 0;
  #dropped = 0;

  constructor(hook: Hook, observer: StreamObserver) {
    this.#hook = hook;
    this.#observer = observer;
  }

  push(call: Call): void {
    if (this.#waiting.length >= STREAM_QUEUE_SIZE) {
      this.#waiting.shift();
      this.#dropped++;
      if (!this.#dropping) this.#observer.dropping?.(this.#hook);
      this.#dropping = true;
    }
    this.#waiting.push(call);
    this.#running ??= this.#work();
  }

  async #work(): Promise<void> {
    await Promise.resolve(); // nothing of a hook runs on the caller's stack
    for (let call; (call = this.#waiting.shift());) {
      if (this.#waiting.length === 0) this.#dropping = false;
      const outcome = await this.#hook.run(call);
      if (outcome.outcome === "failed") this.#failed++;
      else this.#delivered++;
      this.#observer.outcome?.(this.#hook, outcome);
    }
    this.#running = undefined;
  }

  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  get counts(): StreamCounts {
    const { source, name, event } = this.#hook;
    return {
      source,
      name,
      event,
      waiting: this.#waiting.length,
      delivered: this.#delivered,
      failed: this.#failed,
      dropped: this.#dropped,
    };
  }

  /** Drops what waits. */
  clear(): void {
    this.#dropped += this.#waiting.length;
    this.#waiting.length = 0;
  }
}

/** The stream events of one home on their way to its hooks. */
export class StreamQueues {
  readonly #observer: StreamObserver;
  readonly #queues = new Map<Hook, HookQueue>();
  /** Events of which it is not yet known which hooks there are; one bounded list an event. */
  readonly #early = new Map<string, Call[]>();
  #lostEarly = 0;
  #closed = false;

  constructor(observer: StreamObserver = {}) {
    this.#observer = observer;
  }

  /** Takes a call for these hooks and returns at once. */
  push(hooks: readonly Hook[], call: Call): void {
    if (this.#closed) return;
    for (const hook of hooks) this.#queueOf(hook).push(call);
  }

  /** The same where the hooks are still being found out: the order of events is kept. */
  pushLater(hooks: Promise<readonly Hook[]>, call: Call): void {
    const waiting = this.#early.get(call.event);
    if (waiting) {
      if (waiting.length >= STREAM_QUEUE_SIZE) {
        waiting.shift();
        this.#lostEarly++;
      }
      waiting.push(call);
      return;
    }
    const early = [call];
    this.#early.set(call.event, early);
    hooks.catch(() => []).then((found) => {
      this.#early.delete(call.event);
      for (const each of early) this.push(found, each);
    });
  }

  #queueOf(hook: Hook): HookQueue {
    let queue = this.#queues.get(hook);
    if (!queue) {
      queue = new HookQueue(hook, this.#observer);
      this.#queues.set(hook, queue);
    }
    return queue;
  }

  /** The counts of each hook that ever got an event, in the order of their first. */
  counts(): StreamCounts[] {
    return [...this.#queues.values()].map((queue) => queue.counts);
  }

  /** Events pushed out before any hook was known, of all hooks. */
  get lostEarly(): number {
    return this.#lostEarly;
  }

  /** Settles when every hook has had what was pushed so far, or when the time in ms is over. */
  async idle(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
    await Promise.race([Promise.all([...this.#queues.values()].map((queue) => queue.idle)), over]);
    clearTimeout(timer);
  }

  /** Takes nothing more and drops what waits. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) queue.clear();
  }
}
