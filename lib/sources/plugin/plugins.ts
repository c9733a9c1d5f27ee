/** The plugins of one home at work: each in a host of its own, started when an event wants it. */
import type { Context } from "../../context.ts";
import type { PluginSettings } from "../../config/plugin_settings.ts";
import { findEvent } from "../../events/catalog.ts";
import { hintFor } from "../../events/names.ts";
import type { Host, HostedSection, HostSpec } from "../host/host.ts";
import type { Hook } from "../hook.ts";
import type { BrokenPlugin, Discovered, Plugin } from "./discover.ts";
import { Failures } from "../failures.ts";
import { type CallbackOptions, closedGate, pluginHook } from "./hook.ts";

/** What the plugins of a home share. */
export interface PluginsOptions {
  readonly settings: PluginSettings;
  /** The whole environment of the hosts; secrets already taken out. */
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  /** The folder hosts start in, absolute. */
  readonly cwd: string;
  readonly log: Context["log"];
  readonly createHost: (spec: HostSpec) => Host;
}

/** One plugin, loaded or not. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  readonly host: Host;
  /** Why it could not be loaded; absent when it was. */
  readonly error?: string;
  /** By registration order; those for unknown events left out. */
  readonly hooks: readonly Hook[];
  readonly sections: readonly HostedSection[];
  /** What it registered badly, and where it differs from `provides_hooks`; each names it. */
  readonly warnings: readonly string[];
  /** What it asked for that is not provided here; the rest of it works. Each names it. */
  readonly notes: readonly string[];
}

/** What an event gets of the plugins. */
export interface PluginHooks {
  readonly hooks: readonly Hook[];
  /** Plugins that want the event and could not be loaded, or did not do as they declare. */
  readonly warnings: readonly string[];
}

/** How a host says that something the original offers is not here. */
const NOT_PROVIDED = "not provided by hermes-hooks";

/** Does a plugin want this event, as far as can be known without loading it? */
export function mayWant({ provides }: Pick<Plugin, "provides">, event: string): boolean {
  return provides === undefined || provides.includes(event);
}

/** An event that a plugin declares and does nothing with: what it guards stands open. */
function unkept({ name }: Plugin, event: string): string {
  return `plugin "${name}": declares ${event} in provides_hooks and registers no callback for it`;
}

/** Declared but not registered, and the reverse (rule 8.1). */
function differences(plugin: Plugin, registered: ReadonlySet<string>): string[] {
  const { name, provides } = plugin;
  if (provides === undefined) return [];
  const missing = provides.filter((event) => !registered.has(event));
  const extra = [...registered].filter((event) => !provides.includes(event));
  return [
    ...missing.map((event) => unkept(plugin, event)),
    ...extra.map((event) =>
      `plugin "${name}": registers ${event} and does not declare it in provides_hooks: ` +
      "fire does not start it for that event"
    ),
  ];
}

/** The plugins of a home. Two of them, and two homes, never share a host. */
export class Plugins {
  readonly #discovered: Discovered;
  readonly #options: PluginsOptions;
  readonly #callbacks: CallbackOptions;
  readonly #loads = new Map<Plugin, Promise<LoadedPlugin>>();
  readonly #hosts: Host[] = [];
  readonly #loaded = new Set<Plugin>();
  #closed: Promise<void> | undefined;
  #users = 0;
  #retired = false;

  constructor(discovered: Discovered, options: PluginsOptions) {
    this.#discovered = discovered;
    this.#options = options;
    const { callbackTimeout, failClosed } = options.settings;
    this.#callbacks = { callbackTimeout, failClosed, failures: new Failures(options.log) };
  }

  /**
   * The hooks of an event, plugins by name and each one's callbacks in registration order. Starts
   * the hosts of those that may want it; one already loaded counts with all it registered.
   */
  async hooksFor(event: string): Promise<PluginHooks> {
    const { plugins, broken } = this.#discovered;
    const wanted = plugins.filter((one) => mayWant(one, event) || this.#loaded.has(one));
    const loaded = await Promise.all(wanted.map((one) => this.#load(one)));
    const warnings: string[] = [];
    const found: [string, Hook[]][] = loaded.map((one) => {
      const { plugin, error } = one;
      const { name } = plugin;
      const hooks = one.hooks.filter((hook) => hook.event === event);
      if (error !== undefined) {
        const gates = this.#standIn(plugin, event, `could not be loaded: ${error}`);
        if (gates.length === 0) warnings.push(notLoaded(name, error));
        return [name, gates];
      }
      if (plugin.provides?.includes(event) && hooks.length === 0) {
        warnings.push(unkept(plugin, event));
      }
      return [name, hooks];
    });
    for (const one of broken) {
      if (mayWant(one, event)) found.push([one.name, this.#standIn(one, event, one.reason)]);
    }
    found.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    return { hooks: found.flatMap(([, hooks]) => hooks), warnings };
  }

  /** With `plugins.fail_closed`, a plugin that may be a gate and is not there is a closed one. */
  #standIn(plugin: Plugin | BrokenPlugin, event: string, reason: string): Hook[] {
    const gate = event === "pre_tool_call" && mayWant(plugin, event);
    return gate && this.#callbacks.failClosed ? [closedGate(plugin.name, reason)] : [];
  }

  /** Loads them all; in load order. */
  loadAll(): Promise<LoadedPlugin[]> {
    return Promise.all(this.#discovered.plugins.map((plugin) => this.#load(plugin)));
  }

  #load(plugin: Plugin): Promise<LoadedPlugin> {
    let load = this.#loads.get(plugin);
    if (!load) {
      load = this.#start(plugin);
      this.#loads.set(plugin, load);
    }
    return load;
  }

  async #start(plugin: Plugin): Promise<LoadedPlugin> {
    const { name, file, folder, language } = plugin;
    const { createHost, env, home, cwd, settings: { memoryMb } } = this.#options;
    const host = createHost({
      language,
      mode: "plugin",
      label: `plugin "${name}"`,
      file,
      folder,
      env: { ...env, HERMES_HOME: home },
      cwd,
      memoryMb,
    });
    this.#hosts.push(host);
    const loaded = await host.load();
    const { failures } = this.#callbacks;
    this.#loaded.add(plugin);
    if (!loaded.ok) {
      failures.say(notLoaded(name, loaded.error));
      const nothing = { hooks: [], sections: [], warnings: [], notes: [] };
      return { plugin, host, error: loaded.error, ...nothing };
    }
    const said = loaded.warnings.map((text) => `plugin "${name}": ${text}`);
    const notes = said.filter((text) => text.includes(NOT_PROVIDED));
    const warnings = said.filter((text) => !text.includes(NOT_PROVIDED));
    const hooks: Hook[] = [];
    for (const { id, event } of loaded.callbacks) {
      const row = findEvent(event);
      if (!row || row.kind === "gateway") {
        const hint = hintFor(event) ?? "see hermes-hooks events";
        warnings.push(`plugin "${name}": registers unknown event "${event}", ignored: ${hint}`);
        continue;
      }
      const call = (fields: Parameters<Host["call"]>[2], timeoutMs: number) =>
        host.call(id, event, fields, timeoutMs);
      hooks.push(pluginHook({ plugin: name, event, call }, this.#callbacks));
    }
    warnings.push(...differences(plugin, new Set(hooks.map((hook) => hook.event))));
    for (const text of [...warnings, ...notes]) failures.debug(text);
    return { plugin, host, hooks, sections: loaded.sections, warnings, notes };
  }

  /** Keeps {@link retire} from closing them until the function it gives is called. */
  hold(): () => void {
    this.#users++;
    return () => {
      this.#users--;
      this.#closeIfUnused();
    };
  }

  /** They are in force no longer: closed once nobody holds them. */
  retire(): void {
    this.#retired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#retired && this.#users === 0) void this.close();
  }

  /** Ends every host with its process group; within about a second, whatever they are at. */
  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#hosts.map((host) => host.close())).then(() => {});
    return this.#closed;
  }
}

/** What is said of a plugin that threw, or could not be started, when it was loaded. */
export function notLoaded(name: string, error: string): string {
  return `plugin "${name}" could not be loaded: ${error}`;
}
