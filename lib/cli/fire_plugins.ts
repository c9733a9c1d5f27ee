/** The plugins' part of `fire`: in the running listener, where they keep their state, or here. */
import { openPlugins } from "../dispatch/plugins.ts";
import type { PluginSource, Registration } from "../dispatch/register.ts";
import type { Registry } from "../dispatch/registry.ts";
import {
  isObject,
  type Json,
  JsonNumber,
  type JsonObject,
  stringAt,
  writeJson,
} from "../events/json.ts";
import type { Fields, Outcome } from "../events/outcome.ts";
import type { Hook } from "../sources/hook.ts";
import type { Plugins } from "../sources/plugin/plugins.ts";
import { askPlugins } from "./listener.ts";
import { ListenerLost } from "./listener_lost.ts";

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];

function outcomeOf(said: JsonObject): Outcome | undefined {
  const name = stringAt(said, "name");
  const outcome = (["directive", "none", "failed"] as const)
    .find((each) => each === said.get("outcome"));
  if (name === undefined || outcome === undefined) return undefined;
  const ms = said.get("duration_ms");
  const directive = said.get("directive");
  return {
    source: "plugin",
    name,
    outcome,
    durationMs: ms instanceof JsonNumber ? ms.valueOf() : 0,
    directive: isObject(directive) ? directive : undefined,
    error: stringAt(said, "error"),
    warnings: texts(said.get("warnings")),
  };
}

/** What the listener's plugins said, as hooks that have run already; undefined: not understood. */
function answered(event: string, answer: JsonObject): Registration | undefined {
  const listed = answer.get("outcomes");
  if (!Array.isArray(listed)) return undefined;
  const hooks: Hook[] = [];
  for (const item of listed) {
    const outcome = isObject(item) ? outcomeOf(item) : undefined;
    if (!outcome) return undefined;
    hooks.push({
      source: "plugin",
      name: outcome.name,
      event,
      matches: () => ({ matched: true }),
      run: () => Promise.resolve(outcome),
    });
  }
  return { hooks, warnings: texts(answer.get("warnings")) };
}

/** The plugins of one fired event. */
export class FirePlugins implements PluginSource {
  readonly #registry: Registry;
  readonly #fields: Fields;
  readonly #noServer: boolean;
  #own: Plugins | undefined;

  /** @param noServer the listener is not to be asked */
  constructor(registry: Registry, fields: Fields, noServer: boolean) {
    this.#registry = registry;
    this.#fields = fields;
    this.#noServer = noServer;
  }

  /** @throws ListenerLost */
  async hooksFor(event: string): Promise<Registration> {
    const there = this.#noServer ? undefined : await this.#askListener(event);
    if (there && there.hooks) return there.hooks;
    this.#own = await openPlugins(this.#registry, { event });
    const { hooks, warnings } = await this.#own?.hooksFor(event) ?? { hooks: [], warnings: [] };
    return { hooks, warnings: [...there?.warnings ?? [], ...warnings] };
  }

  async #askListener(event: string) {
    const { context, settings } = this.#registry;
    const body = `{"event": ${writeJson(event)}, "fields": ${writeJson(new Map(this.#fields))}}`;
    const said = await askPlugins(context, body, settings.plugins.callbackTimeout);
    if (said.kind === "nobody") {
      const why = `the listener ${said.why}: plugins ran here, without the state they have there`;
      return said.why === undefined ? undefined : { warnings: [why] };
    }
    const hooks = said.kind === "answered" ? answered(event, said.answer) : undefined;
    if (hooks) return { hooks };
    const reason = said.kind === "lost" ? said.reason : "its answer is not understood";
    // What it was handed is not run a second time: nobody knows what its plugins did or said.
    throw new ListenerLost(reason);
  }

  /** Ends the hosts that were started here. */
  async close(): Promise<void> {
    await this.#own?.close();
  }
}
