/** What `/metrics` tells: events, the time their hooks took, and deliveries. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { JsonNumber, stringAt } from "../events/json.ts";
import { isObject } from "../events/json.ts";
import type { Verdict } from "../events/outcome.ts";
import type { TargetStatus } from "../outbound/engine.ts";
import type { Outbox } from "../outbound/outbox.ts";
import type { StreamCounts } from "../sources/stream_queue.ts";

/** Upper bounds in seconds: from a warm spawn to the longest timeout a hook can have. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300];

type Counts = Awaited<ReturnType<Outbox["counts"]>>;
type Statuses = ReadonlyMap<string, TargetStatus>;

/** Counts for one listener. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #events = new Counter({
    name: "hermes_hooks_events_total",
    help: "Events answered with a verdict.",
    labelNames: ["event", "decision"],
    registers: [this.#registry],
  });
  readonly #refused = new Counter({
    name: "hermes_hooks_events_refused_total",
    help: "Events answered without a verdict, by HTTP status.",
    labelNames: ["status"],
    registers: [this.#registry],
  });
  readonly #hooks = new Histogram({
    name: "hermes_hooks_hook_duration_seconds",
    help: "Wall time of one hook.",
    labelNames: ["event", "outcome"],
    buckets: SECONDS,
    registers: [this.#registry],
  });

  /**
   * @param inflight how many events are at work
   * @param counted the deliveries by target
   * @param streams the stream events by hook
   * @param known how the targets stand where deliveries are kept; undefined where they are not
   */
  constructor(
    inflight: () => number,
    counted: Outbox["counts"],
    streams: () => readonly StreamCounts[] = () => [],
    known: () => Promise<Statuses | undefined> = () => Promise.resolve(undefined),
  ) {
    const registers = [this.#registry];
    // A queue that cannot be reached leaves a gap in its own values, and in no others.
    const counts = () => counted().catch((): Counts => new Map());
    const statuses = () => known().catch(() => undefined);
    new Gauge({
      name: "hermes_hooks_events_inflight",
      help: "Events at work now.",
      registers,
      collect() {
        this.set(inflight());
      },
    });
    // Values are asked for first: between reset and sums nobody else may come in. And they are sums,
    // since several targets may go by one name.
    new Gauge({
      name: "hermes_hooks_queue_depth",
      help: "Deliveries waiting or being sent.",
      labelNames: ["target"],
      registers,
      async collect() {
        const all = await counts();
        this.reset();
        for (const { name: target, waiting, inFlight } of all.values()) {
          this.inc({ target }, waiting + inFlight);
        }
      },
    });
    new Gauge({
      name: "hermes_hooks_dead_letters",
      help: "Deliveries given up and kept; nothing where none are kept.",
      labelNames: ["target"],
      registers,
      async collect() {
        const all = await counts();
        this.reset();
        for (const { name: target, dead } of all.values()) {
          if (dead !== undefined) this.inc({ target }, dead);
        }
      },
    });
    for (const state of ["paused", "disabled"] as const) {
      new Gauge({
        name: `hermes_hooks_target_${state}`,
        help: `1 while the target is ${state}; nothing where no deliveries are kept.`,
        labelNames: ["target"],
        registers,
        async collect() {
          const [all, standing] = await Promise.all([counts(), statuses()]);
          this.reset();
          for (const [key, { name: target }] of standing ? all : []) {
            this.inc({ target }, standing?.get(key)?.[state] ? 1 : 0);
          }
        },
      });
    }
    new Counter({
      name: "hermes_hooks_stream_events_total",
      help: "Stream events by what became of them, over all hooks.",
      labelNames: ["event", "source", "result"],
      registers,
      collect() {
        this.reset();
        for (const one of streams()) {
          const { event, source } = one;
          for (const result of ["delivered", "failed", "dropped"] as const) {
            this.inc({ event, source, result }, one[result]);
          }
        }
      },
    });
    new Counter({
      name: "hermes_hooks_deliveries_total",
      help: "Deliveries that came to an end.",
      labelNames: ["target", "result"],
      registers,
      async collect() {
        const all = await counts();
        this.reset();
        for (const one of all.values()) {
          const { name: target } = one;
          for (const result of ["delivered", "failed", "dropped"] as const) {
            this.inc({ target, result }, one[result]);
          }
        }
      },
    });
  }

  /** Counts one verdict. */
  answered(event: string, verdict: Verdict): void {
    this.#events.inc({ event, decision: stringAt(verdict, "decision") ?? "none" });
    const hooks = verdict.get("hooks");
    if (!Array.isArray(hooks)) return;
    for (const hook of hooks) {
      if (!isObject(hook)) continue;
      const ms = hook.get("duration_ms");
      if (!(ms instanceof JsonNumber)) continue;
      this.#hooks.observe(
        { event, outcome: stringAt(hook, "outcome") ?? "none" },
        Number(ms.text) / 1000,
      );
    }
  }

  /** Counts one event that got no verdict. */
  refused(status: number): void {
    this.#refused.inc({ status });
  }

  /** The text form and its content type. */
  async text(): Promise<{ readonly text: string; readonly type: string }> {
    return { text: await this.#registry.metrics(), type: this.#registry.contentType };
  }
}
