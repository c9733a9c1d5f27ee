/** An outbox on the queue that the config asks for. */
import type { QueueSettings } from "../config/queue_settings.ts";
import { createOutbox, droppedText, type Outbox, type OutboxOptions } from "./outbox.ts";
import { openQueue, type QueueOptions } from "./queue.ts";
import type { Target } from "./target.ts";

/** What {@link openOutbox} is made of. */
export interface OpenOutboxOptions extends Omit<OutboxOptions, "engine" | "policy" | "onTargets"> {
  readonly home: string;
  readonly queue: QueueSettings;
  /** As in {@link QueueOptions}. */
  readonly role?: QueueOptions["role"];
  readonly onlyIfFree?: boolean;
}

/**
 * Opens the queue, loading its engine's code, and makes an outbox on it.
 * @throws NotAccepted when the queue cannot be opened at all; SentElsewhere as told by `onlyIfFree`
 */
export async function openOutbox(options: OpenOutboxOptions): Promise<Outbox> {
  const { home, queue, log, now, role, onlyIfFree } = options;
  let targets: ReadonlyMap<string, Target> = new Map();
  const onTargets = (list: readonly Target[]) => {
    targets = new Map(list.map((target) => [target.key, target]));
  };
  onTargets(options.targets);
  const opened = await openQueue(queue, {
    home,
    log,
    now,
    retainMs: queue.retainMs,
    role,
    onlyIfFree,
    target: (key) => targets.get(key)?.options,
    onDropped: (key, count) => {
      const target = targets.get(key);
      if (target) log("warning", `outbound "${target.name}": ${droppedText(target, count)}`);
    },
  });
  return createOutbox({ ...options, ...opened, onTargets });
}
