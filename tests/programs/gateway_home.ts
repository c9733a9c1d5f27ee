/** Homes with gateway hooks, and a stand-in for their hosts. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fromJs, type Json, toJs } from "../../lib/events/json.ts";
import type { GatewayFolder } from "../../lib/sources/gateway/folder.ts";
import { GatewayHooks, type GatewaySetup } from "../../lib/sources/gateway/gateway_hooks.ts";
import type { CallResult, Host, HostSpec, Loaded } from "../../lib/sources/host/host.ts";

/** Files by name below `hooks/`, in a home of their own. */
export function gatewayHome(files: Readonly<Record<string, string>>): string {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "gateway-")));
  for (const [name, text] of Object.entries(files)) write(home, name, text);
  return home;
}

/** Writes one file below `hooks/`. */
export function write(home: string, name: string, text: string): void {
  const file = path.join(home, "hooks", name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

/** A HOOK.yaml that listens to these. */
export function hookYaml(...events: string[]): string {
  return `events:\n${events.map((event) => `  - "${event}"\n`).join("")}`;
}

/** What a stand-in's handler gets, as plain values. */
export type Handler = (event: string, context: Record<string, unknown>) => unknown;

/** A handler of a stand-in: a function, how a call of it ends, or why it does not load. */
export type Behaviour = Handler | { readonly ends: CallResult } | { readonly rejected: string };

/** One made host, for looking at. */
export interface FakeHost extends Host {
  loads: number;
  closed: boolean;
  readonly timeouts: number[];
}

/** Gateway hooks whose hosts are stand-ins; behaviours are by directory. */
export class Fakes {
  readonly hosts: FakeHost[] = [];
  readonly log: string[] = [];
  readonly hooks: GatewayHooks;

  constructor(readonly behaviours: Readonly<Record<string, Behaviour>>) {
    this.hooks = new GatewayHooks(
      (spec) => this.#made(spec),
      (level, line) => void this.log.push(`${level} ${line}`),
    );
  }

  #made(spec: HostSpec): Host {
    const behaviour = this.behaviours[path.basename(spec.folder)]!;
    const host: FakeHost = {
      spec,
      loads: 0,
      closed: false,
      timeouts: [],
      load(): Promise<Loaded> {
        host.loads++;
        return Promise.resolve(
          "rejected" in behaviour
            ? { ok: false, error: behaviour.rejected }
            : { ok: true, callbacks: [{ id: 0, event: "*" }], sections: [], warnings: [] },
        );
      },
      async call(_callback, _event, fields: Json, timeoutMs): Promise<CallResult> {
        host.timeouts.push(timeoutMs);
        if ("ends" in behaviour) return behaviour.ends;
        const { event_type, context } = toJs(fields) as {
          event_type: string;
          context: Record<string, unknown>;
        };
        try {
          const value = await (behaviour as Handler)(event_type, context);
          return { kind: "returned", value: fromJs(value) };
        } catch (error) {
          return { kind: "threw", error: (error as Error).message };
        }
      },
      close(): Promise<void> {
        host.closed = true;
        return Promise.resolve();
      },
    };
    this.hosts.push(host);
    return host;
  }

  /** Puts hooks in force that listen to these, by directory. */
  listen(
    events: Readonly<Record<string, readonly string[]>>,
    setup: Partial<GatewaySetup> = {},
  ): void {
    const hooks = Object.entries(events).map(([directory, listened]): GatewayFolder => ({
      directory,
      folder: `/nowhere/hooks/${directory}`,
      name: directory,
      description: "",
      events: listened,
      handler: `/nowhere/hooks/${directory}/handler.ts`,
      language: "script",
    }));
    this.hooks.update({
      hooks,
      env: {},
      cwd: "/",
      memoryMb: 0,
      timeoutMs: 30_000,
      safeMode: false,
      ...setup,
    });
  }

  /** Fires, and gives the verdict as plain values. */
  // deno-lint-ignore no-explicit-any -- what tests look into
  async emit(event: string, context: object = {}): Promise<any> {
    const verdict = await this.hooks.emit(event, new Map(Object.entries(toMap(context))));
    return JSON.parse(JSON.stringify(toJs(verdict)));
  }
}

function toMap(context: object): Record<string, Json> {
  return Object.fromEntries(Object.entries(context).map(([key, value]) => [key, fromJs(value)]));
}
