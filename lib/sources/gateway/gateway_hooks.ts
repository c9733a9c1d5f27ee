/** The gateway hooks of one home: loaded into hosts, fired, reloaded and closed (section 9). */
import type { Context } from "../../context.ts";
import type { Registry } from "../../dispatch/registry.ts";
import { readReturn } from "../../events/answer.ts";
import type { Json } from "../../events/json.ts";
import type { Fields, Outcome, Verdict } from "../../events/outcome.ts";
import { endsCommand, reduce } from "../../events/verdict.ts";
import type { CallResult, HostSpec } from "../host/host.ts";
import { contextFor } from "./context.ts";
import { Failures } from "../failures.ts";
import type { GatewayFolder } from "./folder.ts";
import { labelOf, LiveHook, type MakeHost } from "./live_hook.ts";
import { stampOf } from "./stamp.ts";
import { baseOf } from "./subscription.ts";

/** What the hooks run with. */
export interface GatewaySetup {
  /** In directory order. */
  readonly hooks: readonly GatewayFolder[];
  /** The whole environment of a host. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder hosts start in, absolute. */
  readonly cwd: string;
  /** MiB a host may take; 0: no bound. */
  readonly memoryMb: number;
  /** How long a handler may take, in ms; 0: no bound. */
  readonly timeoutMs: number;
  /** rule 6.7: none is loaded. */
  readonly safeMode: boolean;
}

/** What a registry says the hooks run with. */
export function gatewaySetup(registry: Registry, hooks: readonly GatewayFolder[]): GatewaySetup {
  const { host, settings, safeMode } = registry;
  const { home } = registry.context;
  return {
    hooks,
    env: { ...host.env, HERMES_HOME: home },
    // Not the folder we were started in: nothing found there is ours to run (rule 1.3b).
    cwd: home,
    memoryMb: settings.plugins.memoryMb,
    timeoutMs: settings.plugins.callbackTimeout * 1000,
    safeMode,
  };
}

/** How a hook is hosted. */
export function hostSpec(entry: GatewayFolder, { env, cwd, memoryMb }: GatewaySetup): HostSpec {
  const { language, handler: file, folder } = entry;
  return { language, mode: "gateway", label: labelOf(entry), file, folder, env, cwd, memoryMb };
}

/** rule 9.2: exact subscriptions first, then `base:*`; one that has both runs once. */
export function firingOrder<T extends { readonly entry: Pick<GatewayFolder, "events"> }>(
  hooks: readonly T[],
  event: string,
): T[] {
  const exact = hooks.filter(({ entry }) => entry.events.includes(event));
  const wildcard = `${baseOf(event)}:*`;
  const rest = hooks.filter((hook) => hook.entry.events.includes(wildcard));
  return [...exact, ...rest.filter((hook) => !exact.includes(hook))];
}

/** Why a call gave no value, in one line. */
function failureOf(result: Exclude<CallResult, { kind: "returned" }>): string {
  switch (result.kind) {
    case "threw":
      return `threw: ${result.error}`;
    case "overran":
      return `timed out after ${result.afterMs / 1000}s`;
    case "stillRunning":
      return "not called: a call of it that timed out is still running";
    case "gone":
      return result.error;
  }
}

/** See the file's head. One for each home; a reload is {@link update}. */
export class GatewayHooks {
  readonly #makeHost: MakeHost;
  readonly #log: Context["log"];
  readonly #failures: Failures;
  #setup: GatewaySetup | undefined;
  #hooks: readonly LiveHook[] = [];
  /** Retired ones too, until they are closed. */
  readonly #open = new Set<LiveHook>();
  #closed = false;

  constructor(makeHost: MakeHost, log: Context["log"]) {
    this.#makeHost = makeHost;
    this.#log = log;
    this.#failures = new Failures(log);
  }

  /** How many are in force, those rejected on loading among them. */
  get size(): number {
    return this.#hooks.length;
  }

  /**
   * Puts these hooks in force. One whose files and environment have not changed goes on in its
   * host; the others are closed when the events that are at work with them are done.
   */
  update(setup: GatewaySetup): void {
    if (this.#closed) return;
    const before = new Map(this.#hooks.map((hook) => [hook.stamp, hook]));
    this.#setup = setup;
    this.#hooks = setup.safeMode ? [] : setup.hooks.map((entry) => {
      const spec = hostSpec(entry, setup);
      const stamp = JSON.stringify([spec, entry, stampOf(entry.folder)]);
      const kept = before.get(stamp);
      return kept && kept.rejection === undefined ? kept : this.#made(entry, stamp, spec);
    });
    for (const hook of before.values()) {
      if (!this.#hooks.includes(hook)) void hook.retire().then(() => this.#open.delete(hook));
    }
  }

  #made(entry: GatewayFolder, stamp: string, spec: HostSpec): LiveHook {
    const hook = new LiveHook(entry, stamp, this.#makeHost(spec), this.#log);
    this.#open.add(hook);
    return hook;
  }

  /** Loads every hook, one after another in directory order; those rejected are logged. */
  async load(): Promise<void> {
    for (const hook of this.#hooks) {
      if (this.#closed) return;
      hook.hold();
      await hook.load();
      hook.release();
    }
  }

  /**
   * Fires an event: each handler that listens to it, one after another. What handlers return for
   * `command:<name>` decides; for other events nothing does. Never rejects.
   * @param fields the context, before its texts are cut
   */
  async emit(event: string, fields: Fields): Promise<Verdict> {
    const context = contextFor(event, fields);
    const hooks = firingOrder(this.#hooks, event);
    const timeoutMs = this.#setup?.timeoutMs ?? 0;
    for (const hook of hooks) hook.hold();
    const warnings = this.#leftOut(event);
    const outcomes: Outcome[] = [];
    for (const hook of hooks) {
      if (this.#closed) break;
      const outcome = await this.#run(hook, event, context, timeoutMs);
      if (outcome) outcomes.push(outcome);
      else if (hook.rejection) warnings.push(`${hook.label} is not loaded: ${hook.rejection}`);
      if (outcome?.directive && endsCommand(outcome.directive)) break;
    }
    for (const hook of hooks) hook.release();
    return reduce(event, context, outcomes, { warnings });
  }

  /** rule 6.7 */
  #leftOut(event: string): string[] {
    const { safeMode, hooks = [] } = this.#setup ?? {};
    if (!safeMode) return [];
    const count = firingOrder(hooks.map((entry) => ({ entry })), event).length;
    return count > 0 ? [`safe mode: ${count} hooks not run, 0 of them fail_closed`] : [];
  }

  async #run(
    hook: LiveHook,
    event: string,
    context: Json,
    timeoutMs: number,
  ): Promise<Outcome | undefined> {
    const began = performance.now();
    const result = await hook.call(event, context, timeoutMs);
    if (result === undefined) return undefined;
    const { name } = hook.entry;
    const run = { source: "gateway", name, durationMs: performance.now() - began } as const;
    if (result.kind !== "returned") {
      const error = failureOf(result);
      this.#failures.say(`${hook.label} on ${event}: ${error}`);
      return { ...run, outcome: "failed", error, warnings: [`hook ${name}: ${error}`] };
    }
    const { outcome, directive, warnings, hints } = readReturn(event, result.value, name);
    for (const hint of hints) this.#log("debug", hint);
    // What is returned on any other event is ignored, and not shown as asked for either.
    if (!event.startsWith("command:")) return { ...run, outcome: "none", warnings: [] };
    return { ...run, outcome, warnings, ...(directive && { directive }) };
  }

  /** Ends every host; what is at work comes to nothing, and nothing is fired any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open].map((hook) => hook.close()));
  }
}
