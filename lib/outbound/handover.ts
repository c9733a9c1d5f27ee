/**
 * How a one-shot command hands its deliveries over and goes (rule 10.5): to the listener of its
 * home when one runs, else to the home's sender. Nothing here waits for a receiver.
 */
import type { Context } from "../context.ts";
import type { ConfigNode } from "../config/node.ts";
import { problemText } from "../events/problem.ts";
import type { SelfCommand } from "../platform/self.ts";
import type { Call } from "../sources/hook.ts";
import { deliveriesFor } from "./deliveries.ts";
import { type Parcel, proxiesOf } from "./handover_parcel.ts";
import { leaveWithSender } from "./handover_sender.ts";
import { concernedEntries, keepsDeliveries } from "./handover_wanted.ts";
import { readTargets, type Target } from "./target.ts";

/** What became of an event at the listener. */
export type ListenerAnswer =
  | {
    readonly kind: "taken";
    /** Deliveries it made of the event. */
    readonly count: number;
    /** When it was told to wait: what was not delivered, such as `["1 failed"]`. */
    readonly undelivered?: readonly string[];
  }
  /** It said clearly that it did not take them. */
  | { readonly kind: "refused" }
  /** It was sent, at least in part, and what became of it is not known. */
  | { readonly kind: "lost"; readonly reason: string };

/** The listener of this home, as the doors reach it. */
export interface Listener {
  /** Is one there, to be trusted, and in the state that is on disk? */
  ready(): Promise<boolean>;
  /**
   * Hands an event over for these targets, by their keys: all of them or none; asked only when
   * ready. Never rejects.
   */
  take(
    call: Call,
    occurredAt: Date,
    targets: readonly string[],
    flushMs: number,
  ): Promise<ListenerAnswer>;
}

/** Where an event was fired, and what may be done with it. */
export interface HandOver {
  readonly context: Pick<Context, "home" | "configFile" | "env">;
  /** The whole config, expanded. */
  readonly root: ConfigNode | undefined;
  readonly uid: number | undefined;
  /** How to start ourselves, as the sender. */
  readonly self: SelfCommand;
  /** Absent: not to be asked. */
  readonly listener?: Listener;
  /** How long to wait for these deliveries, in ms; 0: not at all. */
  readonly flushMs: number;
}

/** What became of it. */
export interface HandedOver {
  /** For the verdict: problems of the targets, deliveries that were dropped and why. */
  readonly warnings: readonly string[];
  /**
   * The listener had it, at least in part, and is gone: nobody knows what became of it. Or a queue
   * that keeps deliveries did not accept it.
   */
  readonly lost?: boolean;
  /** With `flushMs`: when the time is up or all is delivered, what was not. */
  readonly flushed?: Promise<Flushed>;
}

/** What came of waiting. */
export interface Flushed {
  /** What was not delivered. */
  readonly warnings: readonly string[];
  /** As in {@link HandedOver}. */
  readonly lost?: boolean;
}

/** An event ready to be handed over; never waits for the network, never rejects. */
export type Ready = () => Promise<HandedOver>;

/**
 * Gets an event ready for everyone who is told of it. Calling what it gives hands it over; when
 * that resolves all is with another process, and ours may end.
 */
export async function prepareHandOver(call: Call, occurredAt: Date, how: HandOver): Promise<Ready> {
  const { env, configFile } = how.context;
  const { targets, problems } = readTargets(how.root, configFile, env);
  const entries = concernedEntries(how.root, call.event);
  const warnings = problems
    .filter(({ path }) => entries.some((entry) => path === entry || path.startsWith(`${entry}.`)))
    .map(problemText);
  const deliveries = await deliveriesFor(call, targets, occurredAt, ({ name }, warning) => {
    warnings.push(`outbound "${name}": ${warning}`);
  });
  if (deliveries.length === 0) return () => Promise.resolve({ warnings });
  if (keepsDeliveries(how.root)) {
    const { handOverKept } = await import("./handover_kept.ts");
    return async () => {
      const handed = await handOverKept({ call, occurredAt, deliveries, targets }, how);
      return { ...handed, warnings: [...warnings, ...handed.warnings] };
    };
  }
  const told = new Set(deliveries.map(({ target }) => target));
  const parcel: Parcel = {
    deliveries,
    targets: targets.filter(({ key }) => told.has(key)),
    proxies: proxiesOf(env),
    flushMs: how.flushMs,
  };
  return async () => {
    const handed = await handOver(call, occurredAt, parcel, how);
    return { ...handed, warnings: [...warnings, ...handed.warnings] };
  };
}

async function handOver(
  call: Call,
  occurredAt: Date,
  parcel: Parcel,
  how: HandOver,
): Promise<HandedOver> {
  if (!how.listener || !await how.listener.ready()) return await bySender(parcel, how);
  const handed = byListener(how.listener, call, occurredAt, parcel, how);
  // What it answers comes only after the wait, and the verdict must not.
  return how.flushMs > 0 ? { warnings: [], flushed: handed.then(allOf) } : await handed;
}

async function allOf({ warnings, lost, flushed }: HandedOver): Promise<Flushed> {
  return { warnings: [...warnings, ...(await flushed)?.warnings ?? []], lost };
}

async function byListener(
  listener: Listener,
  call: Call,
  occurredAt: Date,
  parcel: Parcel,
  how: HandOver,
): Promise<HandedOver> {
  const keys = parcel.targets.map(({ key }) => key);
  const answer = await listener.take(call, occurredAt, keys, how.flushMs);
  // It holds nothing of it, so this is no second time. A listener without the secret that the
  // environment here has, or in safe mode, takes none.
  if (answer.kind === "refused" || (answer.kind === "taken" && answer.count === 0)) {
    return await bySender(parcel, how);
  }
  if (answer.kind === "lost") {
    const names = namesOf(parcel.targets);
    const warning = `delivery may be lost (${names}): the listener: ${answer.reason}`;
    return { warnings: [warning], lost: true };
  }
  const warnings: string[] = [];
  const fewer = parcel.targets.length - answer.count;
  if (fewer > 0) {
    warnings.push(
      `the listener took ${answer.count} of ${parcel.targets.length} deliveries ` +
        `(${namesOf(parcel.targets)}); see its log`,
    );
  }
  if (answer.undelivered && answer.undelivered.length > 0) {
    warnings.push(
      `not delivered within ${how.flushMs / 1000} s (${namesOf(parcel.targets)}): ` +
        `${answer.undelivered.join(", ")} of ${answer.count}; see the listener's log`,
    );
  }
  return { warnings };
}

async function bySender(parcel: Parcel, { context, uid, self }: HandOver): Promise<HandedOver> {
  const { home, env } = context;
  const left = await leaveWithSender(parcel, { home, env, uid, self });
  if (!left.ok) {
    const what = left.fate === "dropped" ? "delivery dropped" : "delivery may be lost";
    return { warnings: [`${what} (${namesOf(parcel.targets)}): ${left.reason}`] };
  }
  const warnings = left.dropped === 0
    ? []
    : [`${left.dropped} of ${parcel.targets.length} deliveries dropped: the queue is full`];
  if (parcel.flushMs === 0) return { warnings };
  return {
    warnings,
    flushed: left.flushed.then((report) => ({ warnings: undeliveredText(parcel, report) })),
  };
}

function namesOf(targets: readonly Target[]): string {
  return targets.map(({ name }) => `"${name}"`).join(", ");
}

const FATES: Readonly<Record<string, string>> = {
  failed: "it failed; see logs/outbound.log in the home",
  dropped: "it was dropped; see logs/outbound.log in the home",
  pending: "still being tried",
};

/** One line for each delivery that was waited for in vain. */
function undeliveredText(
  { deliveries, targets, flushMs }: Parcel,
  report: { readonly undelivered: readonly (readonly [string, string])[] } | undefined,
): string[] {
  const within = `not delivered within ${flushMs / 1000} s`;
  if (!report) return [`perhaps ${within} (${namesOf(targets)}): the sender does not say`];
  return report.undelivered.map(([id, fate]) => {
    const delivery = deliveries.find((each) => each.id === id);
    const target = targets.find(({ key }) => key === delivery?.target);
    return `outbound "${target?.name ?? "?"}": ${id} ${within}: ${FATES[fate] ?? fate}`;
  });
}
