/**
 * How a one-shot command hands its deliveries over where they are kept: they are in the queue, safe,
 * before the command ends; then somebody is found who sends them.
 */
import { type QueueSettings, readQueueSettings } from "../config/queue_settings.ts";
import { problemText } from "../events/problem.ts";
import type { Call } from "../sources/hook.ts";
import { type Delivery, NotAccepted } from "./engine.ts";
import type { Flushed, HandedOver, HandOver } from "./handover.ts";
import { type Parcel, proxiesOf } from "./handover_parcel.ts";
import { leaveWithSender } from "./handover_sender.ts";
import { fatesWithin } from "./kept_fates.ts";
import { type OpenKept, openKept } from "./open_kept.ts";
import type { Target } from "./target.ts";

/** What is handed over. */
export interface KeptParcel {
  readonly call: Call;
  readonly occurredAt: Date;
  readonly deliveries: readonly Delivery[];
  /** Every configured target, so that the sender can send what others left. */
  readonly targets: readonly Target[];
}

const counted = (count: number) => count === 1 ? "1 delivery" : `${count} deliveries`;

/** Hands them over; never rejects. What was not accepted makes the command fail. */
export async function handOverKept(parcel: KeptParcel, how: HandOver): Promise<HandedOver> {
  const { settings, problems } = readQueueSettings(how.root, how.context.configFile);
  const fatal = problems.find(({ severity }) => severity === "error");
  if (fatal) return notAccepted(parcel, problemText(fatal));
  try {
    if (settings.queue.kind === "redis" && how.listener && await how.listener.ready()) {
      const handed = await byListener(parcel, how);
      if (handed) return handed;
    }
    const { home } = how.context;
    const { targets } = parcel;
    // What the store has to say, such as that a broken file was set aside, stands in the verdict.
    const said: string[] = [];
    const open = await openKept({
      home,
      log: (level, text) => {
        if (level === "warning" || level === "error") said.push(text);
      },
      now: () => new Date(),
      queue: settings,
      targets,
    });
    if (!open) return notAccepted(parcel, "the queue keeps nothing");
    const handed = await accepted(parcel, how, open, settings);
    return { ...handed, warnings: [...said, ...handed.warnings] };
  } catch (error) {
    const { message } = error as Error;
    return notAccepted(parcel, error instanceof NotAccepted ? message : `the queue: ${message}`);
  }
}

function notAccepted({ deliveries }: KeptParcel, why: string): HandedOver {
  return { warnings: [`${counted(deliveries.length)} not accepted: ${why}`], lost: true };
}

/** Undefined: it took nothing. */
async function byListener(
  { call, occurredAt, deliveries }: KeptParcel,
  how: HandOver,
): Promise<HandedOver | undefined> {
  const keys = deliveries.map(({ target }) => target);
  const answer = await how.listener!.take(call, occurredAt, keys, how.flushMs);
  if (answer.kind === "refused" || (answer.kind === "taken" && answer.count === 0)) {
    return undefined;
  }
  if (answer.kind === "lost") {
    return {
      warnings: [
        `${counted(deliveries.length)} may not be accepted: the listener: ${answer.reason}`,
      ],
      lost: true,
    };
  }
  const undelivered = answer.undelivered ?? [];
  const warnings = undelivered.length === 0
    ? []
    : [`not delivered within ${how.flushMs / 1000} s: ${undelivered.join(", ")}; they are kept`];
  return { warnings };
}

async function accepted(
  parcel: KeptParcel,
  how: HandOver,
  open: OpenKept,
  { queue, retainMs }: QueueSettings,
): Promise<HandedOver> {
  const { deliveries, targets } = parcel;
  const named = new Map(targets.map(({ key, name }) => [key, name]));
  let flushed: Promise<Flushed> | undefined;
  try {
    const became = await open.kept.accept(deliveries);
    const queued = deliveries.filter((_, at) => became[at] === "queued");
    const warnings = deliveries.flatMap(({ target }, at) =>
      became[at] === "queued"
        ? []
        : [`outbound "${named.get(target) ?? "?"}": queue full, 1 delivery dropped`]
    );
    // With redis whoever listens sends, wherever that is.
    const needsSender = queue.kind === "sqlite" && queued.length > 0;
    if (needsSender && await open.sending() !== "listener") {
      const started = await startSender(parcel, how, retainMs);
      if (started !== undefined) warnings.push(started);
    }
    if (how.flushMs > 0) flushed = untilMade(open, queued, named, how.flushMs);
    return { warnings, ...(flushed && { flushed }) };
  } finally {
    if (!flushed) await open.close();
  }
}

/** What went wrong, if anything: the deliveries are kept all the same. */
async function startSender(
  { targets }: KeptParcel,
  { context: { home, env }, uid, self }: HandOver,
  retainMs: number,
): Promise<string | undefined> {
  const parcel: Parcel = {
    deliveries: [],
    targets: targets.filter(({ options }) => options.disabled === undefined),
    proxies: proxiesOf(env),
    flushMs: 0,
    kept: { home, retainMs },
  };
  const left = await leaveWithSender(parcel, { home, env, uid, self });
  if (left.ok) return undefined;
  return `deliveries are kept, and nobody sends them now: ${left.reason}; ` +
    "send them with: hermes-hooks deliveries flush";
}

/** Waits until they are made, at most `ms`, and names those that are not. */
async function untilMade(
  open: OpenKept,
  deliveries: readonly Delivery[],
  named: ReadonlyMap<string, string>,
  ms: number,
): Promise<Flushed> {
  try {
    const fates = await fatesWithin(open.kept, deliveries.map(({ id }) => id), ms);
    return {
      warnings: deliveries.flatMap(({ id, target }) => {
        const fate = fates.get(id);
        if (fate === undefined) return [];
        const what = fate === "dead"
          ? "it is a dead letter; see hermes-hooks deliveries show"
          : "it is kept, and will be tried again";
        const name = named.get(target) ?? "?";
        return [`outbound "${name}": ${id} not delivered within ${ms / 1000} s: ${what}`];
      }),
    };
  } catch (error) {
    const { message } = error as Error;
    return { warnings: [`whether the deliveries were made is not known: ${message}`] };
  } finally {
    await open.close();
  }
}
