/**
 * hermes-hooks for embedding programs: the same hooks, consent and verdicts, in process.
 *
 * ```ts
 * import { createDispatcher } from "hermes-hooks";
 * const hooks = await createDispatcher({ home: "/home/me/.hermes", env: process.env });
 * const verdict = await hooks.fire("pre_tool_call", { tool_name: "terminal", args: { command: "ls" } });
 * if (verdict.decision !== "allow") throw new Error(String(verdict.message));
 * ```
 *
 * @module
 */
import path from "node:path";
import process from "node:process";
import { mergedEnv } from "./config/dotenv.ts";
import { readDotenv } from "./config/dotenv_file.ts";
import { ownHome, profileOf, resolveHome } from "./config/home.ts";
import type { Context } from "./context.ts";
import { callOf, isWithheld, runHooks, warningsBefore } from "./dispatch/dispatch.ts";
import { hostsOf, openPlugins, pluginsConcern } from "./dispatch/plugins.ts";
import { type Question, register, type Registration } from "./dispatch/register.ts";
import { readRegistry, type Registry, standingAcceptance } from "./dispatch/registry.ts";
import { type EventRow, findEvent } from "./events/catalog.ts";
import { fromJs, isObject, toJs } from "./events/json.ts";
import type { Fields } from "./events/outcome.ts";
import { beside, type SelfCommand } from "./platform/self.ts";
import { reduce } from "./events/verdict.ts";
import type { Call } from "./sources/hook.ts";
import { InProcess, type InProcessCallback } from "./sources/plugin/in_process.ts";
import type { Plugins } from "./sources/plugin/plugins.ts";
import type { PromptSections, SessionInfo } from "./sources/plugin/sections.ts";
import {
  droppingText,
  isStreamEvent,
  type StreamCounts,
  StreamQueues,
} from "./sources/stream_queue.ts";

export { ConfigError } from "./config/load.ts";
export type { Question } from "./dispatch/register.ts";
export type { InProcessCallback } from "./sources/plugin/in_process.ts";
export type { PromptSections, Section, SessionInfo } from "./sources/plugin/sections.ts";
export type { StreamCounts } from "./sources/stream_queue.ts";

/** How a dispatcher is set up; every option has a default. */
export interface DispatcherOptions {
  /** The home. Default: `$HERMES_HOME` of `env`, else `~/.hermes`. */
  readonly home?: string;
  /** The config file. Default: `<home>/config.yaml`. */
  readonly config?: string;
  /** What hooks get and settings are read from. Default: the process's own environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder relative commands resolve against. Default: where the process is now. */
  readonly startFolder?: string;
  /** Approve hooks not seen before, and record it. Default false. */
  readonly acceptHooks?: boolean;
  /** Asks whether a hook not seen before may run. Default: it is left out. */
  readonly ask?: (question: Question) => Promise<boolean>;
  /**
   * A `hermes-hooks` executable, absolute: plugins in TypeScript and JavaScript run in it. Default:
   * this library's own `main.ts` in the present runtime; a compiled program has none and must say.
   */
  readonly program?: string;
  /** Log lines. Default: thrown away. */
  readonly log?: Context["log"];
}

/** The verdict as plain JavaScript (rule 5.5). */
export type PlainVerdict = Readonly<Record<string, unknown>> & {
  readonly event: string;
  readonly decision?: string;
  readonly message?: string;
  readonly warnings: readonly string[];
};

/** The hooks of one home, ready to be fired. */
export interface Dispatcher {
  /**
   * Runs the hooks of an event and returns the verdict: plugins' callbacks, then those registered
   * here, then shell hooks. The stream events (`on_stream_*`, `on_interim_message`) are answered at
   * once, with no hooks in the verdict: each hook gets them from a queue of its own (rule 8.4).
   * @param fields the event's fields, bare; what JSON cannot hold becomes a string
   * @throws RangeError for an unknown event, TypeError when `fields` is no plain object or Map
   */
  fire(event: string, fields: object): Promise<PlainVerdict>;
  /**
   * Registers a function as a plugin's callback: it counts as those of the home's plugins do, with
   * the same time to answer (`plugins.hook_callback_timeout`). It runs in this process: one that
   * never yields stops everything. Under safe mode it is not called.
   * @param name what messages and verdicts call it; default `in-process`
   * @throws RangeError for an unknown event
   */
  registerHook(event: string, callback: InProcessCallback, name?: string): void;
  /**
   * What the home's plugins add to a new session's system prompt. A session known by its
   * `session_id` is asked for once, and answered the same from then on (of the last 1,000 sessions).
   */
  promptSections(session: Partial<SessionInfo>): Promise<PromptSections>;
  /** What became of the stream events, by hook: drops are never silent. */
  streamCounts(): StreamCounts[];
  /** Ends the hosts of the home's plugins; nothing may be fired afterwards. */
  close(): Promise<void>;
}

function contextOf(options: DispatcherOptions): Context {
  const env = options.env ?? process.env;
  const userHome = ownHome(env);
  const startFolder = options.startFolder ?? process.cwd();
  const home = resolveHome({ flag: options.home, env, userHome, startFolder });
  return {
    home,
    configFile: options.config ?? path.join(home, "config.yaml"),
    profile: profileOf(home, userHome),
    env: mergedEnv(env, readDotenv(home)),
    startFolder,
    now: () => new Date(),
    log: options.log ?? (() => {}),
  };
}

/** So many sessions keep what their prompt was given. */
const MOST_SESSIONS = 1000;

class HomeDispatcher implements Dispatcher {
  readonly #registry: Registry;
  readonly #options: DispatcherOptions;
  readonly #plugins: Plugins | undefined;
  readonly #own: InProcess;
  readonly #registered = new Map<string, Promise<Registration>>();
  readonly #streams: StreamQueues;
  readonly #sessions = new Map<string, Promise<PromptSections>>();

  constructor(registry: Registry, options: DispatcherOptions, plugins: Plugins | undefined) {
    this.#registry = registry;
    this.#options = options;
    this.#plugins = plugins;
    const { context: { log }, settings } = registry;
    this.#own = new InProcess(settings.plugins, log);
    this.#streams = new StreamQueues({
      outcome: (_, { warnings }) => warnings.forEach((text) => log("debug", text)),
      dropping: ({ name, event }) => log("warning", droppingText(name, event)),
    });
  }

  registerHook(event: string, callback: InProcessCallback, name = "in-process"): void {
    firedRow(event);
    this.#own.add(name, event, callback);
  }

  async fire(event: string, given: object): Promise<PlainVerdict> {
    const row = firedRow(event);
    const fields = fromJs(given);
    if (!isObject(fields)) throw new TypeError("fields must be a plain object or a Map");
    const call = callOf(this.#registry, row, event, fields);
    const registration = this.#registration(call);
    const verdict = isStreamEvent(event)
      ? this.#stream(registration, call, fields)
      : await runHooks(this.#registry, await registration, call, fields);
    return toJs(verdict) as PlainVerdict;
  }

  /** rule 8.4: the caller waits for nobody. */
  #stream(registration: Promise<Registration>, call: Call, fields: Fields) {
    const { event } = call;
    if (!isWithheld(this.#registry, event, fields)) {
      this.#streams.pushLater(registration.then(({ hooks }) => hooks), call);
    }
    const warnings = warningsBefore(this.#registry, undefined, call, fields);
    return reduce(event, fields, [], { warnings });
  }

  /** Plugins' hooks as they are now, and shell hooks as they were registered. */
  async #registration(call: Call): Promise<Registration> {
    const { event } = call;
    if (this.#registry.safeMode) return await register(this.#registry, call, {});
    const [plugins, shell] = await Promise.all([
      this.#plugins?.hooksFor(event),
      this.#shellHooks(call),
    ]);
    return {
      hooks: [...plugins?.hooks ?? [], ...this.#own.hooksFor(event), ...shell.hooks],
      warnings: [...plugins?.warnings ?? [], ...shell.warnings],
    };
  }

  /** Registered once for each event, so that a person is asked once. */
  #shellHooks(call: Call): Promise<Registration> {
    let registration = this.#registered.get(call.event);
    if (!registration) {
      const accept = standingAcceptance(this.#registry, this.#options.acceptHooks ?? false);
      registration = register(this.#registry, call, { accept, ask: this.#options.ask });
      this.#registered.set(call.event, registration);
    }
    return registration;
  }

  promptSections(session: Partial<SessionInfo>): Promise<PromptSections> {
    const { session_id } = session;
    const known = session_id ? this.#sessions.get(session_id) : undefined;
    if (known) return known;
    const made = this.#makeSections(session);
    if (session_id) {
      const [oldest] = this.#sessions.keys();
      if (this.#sessions.size >= MOST_SESSIONS) this.#sessions.delete(oldest!);
      this.#sessions.set(session_id, made);
    }
    return made;
  }

  async #makeSections(session: Partial<SessionInfo>): Promise<PromptSections> {
    const { promptSections } = await import("./sources/plugin/sections.ts");
    const { context, settings } = this.#registry;
    const { session_id = "", model = "", provider = "", platform = "" } = session;
    const { profile_name = context.profile, cwd = context.startFolder } = session;
    const info = { session_id, model, provider, platform, profile_name, cwd };
    const loaded = await this.#plugins?.loadAll() ?? [];
    const made = await promptSections(loaded, info, settings.plugins.callbackTimeout * 1000);
    for (const text of made.warnings) context.log("warning", text);
    for (const { plugin, id, position, chars } of made.sections) {
      context.log(
        "info",
        `prompt section "${id}" of plugin "${plugin}": ${position}, ${chars} characters`,
      );
    }
    return made;
  }

  streamCounts(): StreamCounts[] {
    return this.#streams.counts();
  }

  async close(): Promise<void> {
    this.#streams.close();
    await this.#plugins?.close();
  }
}

function firedRow(event: string): EventRow {
  const row = findEvent(event);
  if (row && row.kind !== "gateway") return row;
  throw new RangeError(`"${event}" is no event to fire`);
}

function programOf({ program }: DispatcherOptions): SelfCommand {
  const own = program === undefined ? beside(new URL("../main.ts", import.meta.url)) : undefined;
  return own ?? { file: program ?? "hermes-hooks", args: [] };
}

/**
 * Reads a home's config and allowlist, once: changes count for the next dispatcher. Two dispatchers
 * never see each other's hooks. A plugin's host is started with the first event that wants it, and
 * keeps its state until {@link Dispatcher.close}.
 * @returns a promise that rejects with a ConfigError when the config cannot be used at all
 */
export async function createDispatcher(options: DispatcherOptions = {}): Promise<Dispatcher> {
  const registry = await readRegistry(contextOf(options));
  const plugins = pluginsConcern(registry)
    ? await openPlugins(registry, {
      makeHost: await hostsOf(registry.context, programOf(options)),
    })
    : undefined;
  return new HomeDispatcher(registry, options, plugins);
}
