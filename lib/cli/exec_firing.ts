/** Firing the events of one run of `exec`. */
import type { ConsentOptions } from "../dispatch/register.ts";
import type { Registry } from "../dispatch/registry.ts";
import { findEvent } from "../events/catalog.ts";
import { printable } from "../events/json.ts";
import type { Fields, Verdict } from "../events/outcome.ts";
import { problemText } from "../events/problem.ts";
import type { Flushed } from "../outbound/handover.ts";
import type { Args } from "./args.ts";
import { consentHere } from "./fire.ts";
import { fireOne } from "./fire_one.ts";
import type { Io } from "./io.ts";

/** Fires the events of one run, and remembers whose deliveries are to be waited for. */
export class Firing {
  readonly #io: Io;
  readonly #registry: Registry;
  readonly #consent: ConsentOptions;
  readonly #deliver: { readonly noServer: boolean; readonly flushMs: number };
  readonly #flushed: Promise<Flushed>[] = [];
  /** What the config's problems say, and which of them was said: the events of a run share them. */
  readonly #problems: ReadonlySet<string>;
  readonly #said = new Set<string>();

  /** @param flushMs how long to wait for the deliveries, in ms */
  constructor(args: Args, io: Io, registry: Registry, flushMs: number) {
    this.#io = io;
    this.#registry = registry;
    this.#problems = new Set(registry.problems.map(problemText));
    this.#consent = consentHere(args, io, registry);
    this.#deliver = { noServer: args.options["no-server"] ?? false, flushMs };
  }

  /** Fires one; its warnings are said on stderr. */
  async fire(event: string, fields: Fields): Promise<Verdict> {
    const row = findEvent(event)!;
    const one = { registry: this.#registry, consent: this.#consent, deliver: this.#deliver };
    return await fireOne({ ...one, row, event, fields }, ({ verdict, flushed }) => {
      if (flushed) this.#flushed.push(flushed.catch(unflushed));
      const warnings = verdict.get("warnings");
      for (const text of Array.isArray(warnings) ? warnings : []) this.#warnOnce(String(text));
      return verdict;
    });
  }

  #warnOnce(text: string): void {
    if (this.#said.has(text)) return;
    if (this.#problems.has(text)) this.#said.add(text);
    this.warn(text);
  }

  /** Fires one that changes nothing any more: a failure is a warning, and the exit code stays. */
  async tell(event: string, fields: Fields): Promise<void> {
    try {
      await this.fire(event, fields);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      this.warn(`${event} was not fired: ${what}`);
    }
  }

  /** One line on stderr. */
  warn(text: string): void {
    this.#io.err(`hermes-hooks: warning: ${printable(text)}\n`);
  }

  /** Waits for the deliveries of all of them. */
  async flush(): Promise<void> {
    for (const { warnings } of await Promise.all(this.#flushed)) {
      warnings.forEach((text) => this.warn(text));
    }
  }
}

/** What cannot be waited for costs a warning, and not the command's exit code. */
function unflushed(error: unknown): Flushed {
  const what = error instanceof Error ? error.message : String(error);
  return { warnings: [`deliveries cannot be waited for: ${what}`], lost: true };
}
