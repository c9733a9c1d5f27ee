/** What the routes work on: one running listener's state and parts. */
import type { ServeSettings } from "../config/serve_settings.ts";
import type { Json } from "../events/json.ts";
import type { Registry } from "../dispatch/registry.ts";
import type { Outbox } from "../outbound/outbox.ts";
import type { GatewayHooks } from "../sources/gateway/gateway_hooks.ts";
import type { StreamQueues } from "../sources/stream_queue.ts";
import type { Inflight } from "./inflight.ts";
import type { Live } from "./live.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** What came of a reload. */
export type Reload =
  | { readonly ok: true; readonly live: Live }
  /** The present state stays in force. */
  | { readonly ok: false; readonly reason: string };

/** How the listener describes what only the door above it knows to describe. */
export interface Descriptions {
  /** The hooks of a registry and its problems, as `list --json` shows them. */
  hooks(registry: Registry): Json | Promise<Json>;
  /** The catalogue, as `events --json` shows it. */
  events(): Json;
}

/** One running listener, as the routes see it. */
export interface Service {
  /** What is in force now; a request takes it once. */
  readonly live: Live;
  readonly settings: ServeSettings;
  readonly stopping: boolean;
  readonly inflight: Inflight;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly outbox: Outbox;
  readonly gateway: GatewayHooks;
  /** Stream events on their way to hooks (rule 8.4). */
  readonly streams: StreamQueues;
  readonly describe: Descriptions;
  readonly pid: number;
  reload(): Promise<Reload>;
}
