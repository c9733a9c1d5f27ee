/**
 * The engine of rule 10.3: deliveries in memory, bounded per target and in bytes, best effort. What
 * comes when a target's queue is full is dropped and counted.
 */
import { Drops } from "./drops.ts";
import type { Delivery, Enqueued, QueueCounts, QueueEngine, Settlement } from "./engine.ts";

/** How a memory engine is bounded and heard. */
export interface MemoryEngineOptions {
  /** Deliveries of a target that may wait. Default: 256 for each. */
  readonly maxQueue?: (target: string) => number;
  /** How many targets share the bytes. Default: 1. */
  readonly targets?: () => number;
  /** Bytes of bodies that may be held in all. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Told once a burst how many of a target's new deliveries were dropped. */
  readonly onDropped?: (target: string, count: number) => void;
  /** Milliseconds without a drop that end a burst. Default 1,000. */
  readonly burstMs?: number;
}

/** 64 MiB. */
export const MAX_BYTES = 64 * 1024 * 1024;
/** Timers may fire a little early; a retry that is due must not be passed over then. */
const EARLY_MS = 10;

interface Line {
  /** Taken from the front by moving `head`, so that a long queue costs nothing to shift. */
  readonly waiting: (Delivery | undefined)[];
  head: number;
  /** Tried already: in front of all others, when they are due. */
  readonly again: { readonly delivery: Delivery; readonly due: number }[];
  readonly inFlight: Map<string, Delivery>;
  bytes: number;
}

/** A {@link QueueEngine} that forgets everything when the process ends. */
export class MemoryEngine implements QueueEngine {
  readonly #lines = new Map<string, Line>();
  readonly #options: MemoryEngineOptions;
  readonly #drops: Drops;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #bytes = 0;
  #ready: (target: string) => void = () => {};
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(options: MemoryEngineOptions = {}) {
    this.#options = options;
    this.#drops = new Drops({
      tell: (target, count) => options.onDropped?.(target, count),
      quietMs: options.burstMs,
    });
  }

  enqueue(delivery: Delivery): Enqueued {
    const line = this.#line(delivery.target);
    const size = sizeOf(delivery);
    if (this.#closed || !this.#fits(delivery.target, line, size)) {
      this.#drops.add(delivery.target, 1);
      return "dropped";
    }
    line.waiting.push(delivery);
    line.bytes += size;
    this.#bytes += size;
    this.#ready(delivery.target);
    return "queued";
  }

  #fits(target: string, line: Line, size: number): boolean {
    const { maxQueue = () => 256, targets = () => 1, maxBytes = MAX_BYTES } = this.#options;
    if (waitingOf(line) >= maxQueue(target) || this.#bytes + size > maxBytes) return false;
    // A dead target keeps to its share of the bytes, so that it takes no room from the others.
    return line.bytes === 0 || line.bytes + size <= maxBytes / Math.max(1, targets());
  }

  take(target: string): Delivery | undefined {
    const line = this.#lines.get(target);
    if (!line) return undefined;
    const delivery = this.#due(line) ?? next(line);
    if (delivery) line.inFlight.set(delivery.id, delivery);
    return delivery;
  }

  #due(line: Line): Delivery | undefined {
    const at = line.again.findIndex(({ due }) => due <= performance.now());
    return at < 0 ? undefined : line.again.splice(at, 1)[0]?.delivery;
  }

  settle(delivery: Delivery, settlement: Settlement): void {
    const line = this.#line(delivery.target);
    if (!line.inFlight.delete(delivery.id)) return;
    if (settlement.kind === "retry") {
      const { afterMs } = settlement;
      const tried = { ...delivery, attempts: delivery.attempts + 1 };
      line.again.push({ delivery: tried, due: performance.now() + afterMs - EARLY_MS });
      this.#later(afterMs, () => this.#ready(delivery.target));
      return;
    }
    const size = sizeOf(delivery);
    line.bytes -= size;
    this.#bytes -= size;
    if (this.#idle && this.#undelivered() === 0) this.#idle();
  }

  onReady(callback: (target: string) => void): void {
    this.#ready = callback;
  }

  counts(): ReadonlyMap<string, QueueCounts> {
    return new Map([...this.#lines].map(([target, line]) => {
      const dropped = this.#drops.total(target);
      return [target, { waiting: waitingOf(line), inFlight: line.inFlight.size, dropped }];
    }));
  }

  async drain(ms: number): Promise<readonly Delivery[]> {
    this.#closed = true;
    if (this.#undelivered() > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        this.#later(ms, resolve);
      });
    }
    this.#drops.tell();
    return [...this.#lines.values()].flatMap((line) => [
      ...line.inFlight.values(),
      ...line.again.map(({ delivery }) => delivery),
      ...line.waiting.slice(line.head).filter((delivery) => delivery !== undefined),
    ]);
  }

  close(): void {
    this.#closed = true;
    this.#drops.close();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#lines.clear();
    this.#bytes = 0;
  }

  #undelivered(): number {
    let count = 0;
    for (const line of this.#lines.values()) count += waitingOf(line) + line.inFlight.size;
    return count;
  }

  #line(target: string): Line {
    let line = this.#lines.get(target);
    if (!line) {
      line = {
        waiting: [],
        head: 0,
        again: [],
        inFlight: new Map(),
        bytes: 0,
      };
      this.#lines.set(target, line);
    }
    return line;
  }

  #later(ms: number, action: () => void) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }
}

function waitingOf(line: Line): number {
  return line.waiting.length - line.head + line.again.length;
}

function next(line: Line): Delivery | undefined {
  const delivery = line.waiting[line.head];
  if (!delivery) return undefined;
  line.waiting[line.head++] = undefined;
  if (line.head === line.waiting.length || line.head > 1024) {
    line.waiting.splice(0, line.head);
    line.head = 0;
  }
  return delivery;
}

/** What a delivery holds in memory, near enough: its text, and what stands around it. */
function sizeOf(delivery: Delivery): number {
  return delivery.wire.length + 256;
}
