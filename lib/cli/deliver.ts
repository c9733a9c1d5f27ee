/** Who else is told of an event that was fired here; loaded only when somebody may be. */
import process from "node:process";
import type { Registry } from "../dispatch/registry.ts";
import { prepareHandOver, type Ready } from "../outbound/handover.ts";
import { selfCommand } from "../platform/self.ts";
import type { Call } from "../sources/hook.ts";
import { listenerOf } from "./listener.ts";

/** How deliveries are handed over. */
export interface DeliverOptions {
  /** The listener is not to be asked. */
  readonly noServer: boolean;
  /** How long to wait for the deliveries, in ms. */
  readonly flushMs: number;
}

/** Gets a call ready for the running listener or the sender of its home. */
export function prepareDeliveries(
  { context, root }: Registry,
  call: Call,
  occurredAt: Date,
  { noServer, flushMs }: DeliverOptions,
): Promise<Ready> {
  return prepareHandOver(call, occurredAt, {
    context,
    root,
    uid: process.getuid?.(),
    self: selfCommand(),
    listener: noServer ? undefined : listenerOf(context),
    flushMs,
  });
}
