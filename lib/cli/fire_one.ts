/** One event fired by a one-shot command: hooks, plugins, and those who are told of it. */
import { dispatch, type Tell } from "../dispatch/dispatch.ts";
import { pluginsConcern } from "../dispatch/plugins.ts";
import type { ConsentOptions } from "../dispatch/register.ts";
import type { Registry } from "../dispatch/registry.ts";
import type { EventRow } from "../events/catalog.ts";
import type { Fields, Verdict } from "../events/outcome.ts";
import type { Flushed } from "../outbound/handover.ts";
import { outboundConcerns } from "../outbound/handover_wanted.ts";
import type { DeliverOptions } from "./deliver.ts";

/** What is fired, and how. */
export interface FireOne {
  readonly registry: Registry;
  readonly row: EventRow;
  readonly event: string;
  readonly fields: Fields;
  readonly consent: ConsentOptions;
  readonly deliver: DeliverOptions;
}

/** What came of it. */
export interface Fired {
  readonly verdict: Verdict;
  /** Deliveries were lost, or may be: a failure of the command. */
  readonly lost: boolean;
  /** With `flushMs`: what was not delivered in that time. */
  readonly flushed: Promise<Flushed> | undefined;
}

/**
 * Fires it.
 * @param answer what is done with the verdict; plugins' hosts are ended after that
 */
export async function fireOne<T>(
  { registry, row, event, fields, consent, deliver }: FireOne,
  answer: (fired: Fired) => T | Promise<T>,
): Promise<T> {
  const outside = outboundConcerns(registry.root, event)
    ? new Outside(registry, registry.context.now(), deliver)
    : undefined;
  const plugins = pluginsConcern(registry, event)
    ? await pluginsHere(registry, fields, deliver.noServer)
    : undefined;
  try {
    const verdict = await dispatch(registry, row, event, fields, consent, plugins, outside?.tell);
    return await answer({
      verdict,
      lost: outside?.lost ?? false,
      flushed: outside?.flushed,
    });
  } finally {
    // After the verdict: a host that does not end by itself takes up to a second.
    await plugins?.close();
  }
}

/** Loaded only where a plugin may want the event. */
async function pluginsHere(registry: Registry, fields: Fields, noServer: boolean) {
  const { FirePlugins } = await import("./fire_plugins.ts");
  return new FirePlugins(registry, fields, noServer);
}

/** Those who are told of the event without being hooks of ours. */
class Outside {
  /** With `flushMs`: what was not delivered in that time. */
  flushed: Promise<Flushed> | undefined;
  /** The listener took the event, or a part of it, and then the connection was lost. */
  lost = false;
  readonly tell: Tell;

  constructor(registry: Registry, occurredAt: Date, options: DeliverOptions) {
    this.tell = (call) => {
      // Loaded while the first hook runs, after it was started.
      const loaded = new Promise((resolve) => setTimeout(resolve)).then(async () => {
        const { prepareDeliveries } = await import("./deliver.ts");
        return await prepareDeliveries(registry, call, occurredAt, options);
      });
      loaded.catch(() => {}); // where a hook fails us first
      return async () => {
        const { warnings, flushed, lost } = await (await loaded)();
        this.flushed = flushed;
        this.lost = lost ?? false;
        return warnings;
      };
    };
  }
}
