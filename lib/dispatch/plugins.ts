/** The plugins of a registry, made ready to be loaded; none of their code is read before that. */
import type { Context } from "../context.ts";
import type { Host, HostSpec } from "../sources/host/host.ts";
import type { SelfCommand } from "../platform/self.ts";
import type { Plugins } from "../sources/plugin/plugins.ts";
import type { Registry } from "./registry.ts";

/** Has this registry any plugin that may have a say on the event, or on any? Not in safe mode. */
export function pluginsConcern({ plugins, safeMode }: Registry, event?: string): boolean {
  if (safeMode) return false;
  return [...plugins.plugins, ...plugins.broken].some(({ provides }) =>
    event === undefined || provides === undefined || provides.includes(event)
  );
}

/** Makes a host; nothing is started before it is used. */
export type MakeHost = (spec: HostSpec) => Host;

/** How plugins are opened. */
export interface OpenOptions {
  /** When given, undefined comes back unless one of them may want it. */
  readonly event?: string;
  /** Default: hosts of our own program, started as it was itself. */
  readonly makeHost?: MakeHost;
}

/** Hosts that say what they print, and what becomes of them, in the context's log. */
export async function hostsOf(
  { log }: Pick<Context, "log">,
  self?: SelfCommand,
): Promise<MakeHost> {
  const [{ createHost }, { selfCommand }] = await Promise.all([
    import("../sources/host/create.ts"),
    import("../platform/self.ts"),
  ]);
  const options = {
    self: self ?? selfCommand(),
    log: (line: string, level: Parameters<Context["log"]>[0]) => log(level, line),
  };
  return (spec) => createHost(spec, options);
}

/** The plugins of a home; whoever opens them closes them. Undefined: there are none. */
export async function openPlugins(
  registry: Registry,
  { event, makeHost }: OpenOptions = {},
): Promise<Plugins | undefined> {
  if (!pluginsConcern(registry, event)) return undefined;
  const { context, host, settings, plugins } = registry;
  const [{ Plugins }, createHost] = await Promise.all([
    import("../sources/plugin/plugins.ts"),
    makeHost ?? hostsOf(context),
  ]);
  return new Plugins(plugins, {
    settings: settings.plugins,
    env: host.env,
    home: context.home,
    cwd: context.startFolder,
    log: context.log,
    createHost,
  });
}
