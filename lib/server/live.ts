/** The registry in force: read from files of known digests, its hooks registered, never changed. */
import { statSync } from "node:fs";
import type { Context } from "../context.ts";
import {
  type ConsentOptions,
  leftOutWarning,
  register,
  type Registration,
} from "../dispatch/register.ts";
import { approved, readRegistry, type Registry } from "../dispatch/registry.ts";
import { type MakeHost, openPlugins } from "../dispatch/plugins.ts";
import type { Plugins } from "../sources/plugin/plugins.ts";
import type { ShellEntry } from "../sources/shell/entry.ts";
import type { Call } from "../sources/hook.ts";
import { type Digests, digestsOf, sameDigests } from "./digest.ts";

/** One state of the listener. A reload makes another; requests under way keep theirs. */
export interface Live {
  readonly registry: Registry;
  readonly digests: Digests;
  /** The hooks of an event, consent settled; under safe mode this looks at the call. */
  registration(call: Call): Registration | Promise<Registration>;
  /** The home's plugins; they keep their state as long as nothing about them changes. */
  readonly plugins: Plugins | undefined;
  /** Each warning of registering, once: what is left out, what could not be recorded. */
  readonly warnings: readonly string[];
}

/** Standing consent, found anew for each registry; `ask` is used at the first load only. */
export type ConsentFor = (registry: Registry) => ConsentOptions;

const NOTHING: Registration = { hooks: [], warnings: [] };
const pairOf = (event: string, command: string) => JSON.stringify([event, command]);

/** Loads and reloads the registry of one home, remembering what was agreed to while we run. */
export class Loader {
  readonly #consentFor: ConsentFor;
  readonly #makeHost: MakeHost;
  /** Said yes to, though it may not stand in the file (rule 6.4: a home that cannot be written). */
  readonly #agreed = new Set<string>();
  /** Stood in the allowlist while we run: missing later, it was revoked. */
  readonly #recorded = new Set<string>();
  #asked = false;
  #plugins: Plugins | undefined;
  /** What {@link #plugins} were made from. */
  #pluginsFrom = "";

  constructor(consentFor: ConsentFor, makeHost: MakeHost) {
    this.#consentFor = consentFor;
    this.#makeHost = makeHost;
  }

  /**
   * Reads config and allowlist and registers the hooks. The first time unseen hooks may be asked
   * about; afterwards nobody is asked.
   * @throws ConfigError when the config cannot be used at all
   */
  async load(context: Context): Promise<Live> {
    for (let attempt = 0;; attempt++) {
      const { registry, digests } = await readSettled(context);
      const live = await this.#register(registry, digests);
      this.#asked = true;
      // What was accepted has been recorded: the file is another one now.
      if (attempt === 2 || sameDigests(digests, digestsOf(context))) return live;
    }
  }

  async #register(registry: Registry, digests: Digests): Promise<Live> {
    for (const entry of registry.entries) {
      if (approved(registry, entry)) this.#recorded.add(pairOf(entry.event, entry.command));
    }
    const left = registry.entries.filter((entry) => !this.#revoked(registry, entry));
    const revoked = registry.entries.filter((entry) => this.#revoked(registry, entry));
    const consent = this.#consent(registry);
    const plugins = await this.#pluginsOf(registry);
    const registrations = new Map<string, Registration>();
    if (!registry.safeMode) {
      for (const event of new Set(registry.entries.map((entry) => entry.event))) {
        const call = { event, wire: new Map(), text: "", cwd: registry.context.startFolder };
        const { hooks, warnings } = await register({ ...registry, entries: left }, call, consent);
        const gone = revoked.filter((entry) => entry.event === event).map(leftOutWarning);
        registrations.set(event, { hooks, warnings: [...warnings, ...gone] });
      }
    }
    return {
      registry,
      digests,
      registration: (call) => {
        if (registry.safeMode) return register(registry, call, {});
        const shell = registrations.get(call.event) ?? NOTHING;
        return plugins ? withPlugins(plugins, call.event, shell) : shell;
      },
      plugins,
      warnings: [...new Set([...registrations.values()].flatMap(({ warnings }) => warnings))],
    };
  }

  /** The same ones as before, their state and all, unless something about them has changed. */
  async #pluginsOf(registry: Registry): Promise<Plugins | undefined> {
    const from = pluginsKey(registry);
    if (from === this.#pluginsFrom) return this.#plugins;
    this.#plugins?.retire();
    const plugins = await openPlugins(registry, { makeHost: this.#makeHost });
    this.#plugins = plugins;
    this.#pluginsFrom = from;
    const { log } = registry.context;
    // Not waited for: an event waits for those that may want it.
    void plugins?.loadAll().then((all) => {
      for (const text of all.flatMap(({ warnings, notes }) => [...warnings, ...notes])) {
        log("warning", text);
      }
    });
    return plugins;
  }

  #revoked(registry: Registry, entry: ShellEntry): boolean {
    const pair = pairOf(entry.event, entry.command);
    return this.#recorded.has(pair) && !approved(registry, entry);
  }

  #consent(registry: Registry): ConsentOptions {
    const { accept, ask } = this.#consentFor(registry);
    if (accept) return { accept };
    const first = !this.#asked;
    return {
      ask: async (question) => {
        const pair = pairOf(question.event, question.command);
        if (this.#agreed.has(pair)) return true;
        if (!first || !ask || !await ask(question)) return false;
        this.#agreed.add(pair);
        return true;
      },
    };
  }
}

/** Plugins' hooks before shell hooks. */
async function withPlugins(
  plugins: Plugins,
  event: string,
  shell: Registration,
): Promise<Registration> {
  const { hooks, warnings } = await plugins.hooksFor(event);
  return { hooks: [...hooks, ...shell.hooks], warnings: [...warnings, ...shell.warnings] };
}

/** What makes plugins other ones: their settings, files and environment. */
function pluginsKey({ plugins, settings, host, safeMode }: Registry): string {
  const { enabled: _, ...rest } = settings.plugins;
  const stamps = plugins.plugins.map(({ file }) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    return [stat?.mtimeMs, stat?.size];
  });
  // In Deno the environment comes in another order each time.
  const env = Object.entries(host.env).sort(([a], [b]) => a < b ? -1 : 1);
  return JSON.stringify([safeMode, plugins.plugins, plugins.broken, stamps, rest, env]);
}

/** Reads until the files are the same before and after: only then are the digests the registry's. */
async function readSettled(context: Context): Promise<{ registry: Registry; digests: Digests }> {
  for (let attempt = 0;; attempt++) {
    const digests = digestsOf(context);
    const registry = await readRegistry(context);
    if (attempt === 5 || sameDigests(digests, digestsOf(context))) return { registry, digests };
  }
}
