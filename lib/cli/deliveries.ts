/** `deliveries`: what waits in a queue that keeps deliveries; send again, remove, let through. */
import { type QueueSettings, readQueueSettings } from "../config/queue_settings.ts";
import type { Context } from "../context.ts";
import { readRegistry, type Registry } from "../dispatch/registry.ts";
import { type Json, JsonNumber, printable, writeJson } from "../events/json.ts";
import { problemText } from "../events/problem.ts";
import { LIFTED, NotAccepted, type QueueCounts } from "../outbound/engine.ts";
import { keptJson } from "../outbound/kept_json.ts";
import { type OpenKept, openKept } from "../outbound/open_kept.ts";
import { readTargets, type Target } from "../outbound/target.ts";
import { TargetNames } from "../outbound/target_names.ts";
import { type Args, UsageError } from "./args.ts";
import { filterOf, isEmpty } from "./deliveries_filter.ts";
import { flush } from "./deliveries_flush.ts";
import { keptLines, statusJson, statusLines } from "./deliveries_text.ts";
import type { Io } from "./io.ts";
import { counted, line, styleFor } from "./style.ts";

/** What a subcommand works on. */
export interface Kept {
  readonly args: Args;
  readonly io: Io;
  readonly context: Context;
  readonly registry: Registry;
  readonly queue: QueueSettings;
  readonly targets: readonly Target[];
  readonly names: TargetNames;
  readonly open: OpenKept;
  readonly counts: ReadonlyMap<string, QueueCounts>;
}

type Subcommand = (kept: Kept, words: readonly string[]) => number | Promise<number>;

const PAGE = 100;

function print({ io }: Kept, value: Json): number {
  io.out(writeJson(value, { printable: true }) + "\n");
  return 0;
}

const count = (value: number) => new JsonNumber(String(value));

const keysOf = ({ names, counts }: Kept, name: string) => names.keysOf(name, counts.keys());

const filtered = (kept: Kept, words: readonly string[]) =>
  filterOf(kept.args, words, kept.context.now(), (name) => keysOf(kept, name));

async function status(kept: Kept, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw new UsageError("deliveries status takes no further words");
  const { args, io, names, targets, counts, open, context } = kept;
  const configured = targets.map(({ key }) => key);
  const statuses = await open.kept.statuses();
  if (args.options.json) return print(kept, statusJson(configured, names, counts, statuses));
  const style = styleFor(io.stdoutTty, context.env);
  io.out(statusLines(configured, names, counts, statuses, style).join("\n") + "\n");
  return 0;
}

async function list(kept: Kept, words: readonly string[]): Promise<number> {
  const { args, io, names, open, context } = kept;
  const filter = filtered(kept, words);
  const limit = wholeNumber("limit", args.options.limit) ?? PAGE;
  const found = await open.kept.find(filter, { limit: limit + 1 });
  const shown = found.slice(0, limit);
  if (args.options.json) {
    return print(
      kept,
      new Map<string, Json>([
        ["deliveries", shown.map((each) => keptJson(each, names.of(each.target)))],
        ["more", found.length > limit],
      ]),
    );
  }
  const style = styleFor(io.stdoutTty, context.env);
  const lines = shown.length === 0
    ? ["no deliveries"]
    : keptLines(shown, names, context.now(), style);
  if (found.length > limit) lines.push(`… and more: --limit ${limit * 10}, or narrow it`);
  io.out(lines.join("\n") + "\n");
  return 0;
}

async function show(kept: Kept, words: readonly string[]): Promise<number> {
  if (words.length !== 1) throw new UsageError("deliveries show takes one id");
  const { io, names, open } = kept;
  const [found] = await open.kept.find(filtered(kept, words));
  if (!found) {
    io.err(
      `hermes-hooks: delivery "${printable(words[0]!)}" is not kept: delivered, or purged\n`,
    );
    return 1;
  }
  return print(kept, keptJson(found, names.of(found.target), true));
}

async function change(
  kept: Kept,
  words: readonly string[],
  verb: "redeliver" | "purge",
): Promise<number> {
  const { args, io, open } = kept;
  const filter = filtered(kept, words);
  if (isEmpty(filter) && !args.options.all) {
    throw new UsageError(
      `deliveries ${verb} takes ids, or --target, --state, --event, --before, --after, or --all`,
    );
  }
  // Unless said otherwise, what is still being tried is left to its schedule.
  const bare = verb === "redeliver" && !filter.ids && !filter.states;
  const changed = await open.kept[verb](bare ? { ...filter, states: ["dead"] } : filter);
  if (args.options.json) print(kept, new Map([["count", count(changed)]]));
  else {
    const deliveries = counted(changed, "delivery").replace("ys", "ies");
    io.out(verb === "purge" ? `${deliveries} removed\n` : `${deliveries} due now\n`);
  }
  return changed > 0 || !filter.ids ? 0 : 1;
}

async function enable(kept: Kept, words: readonly string[]): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new UsageError("deliveries enable takes one target's name");
  }
  const keys = keysOf(kept, name);
  if (keys.length === 0) throw new UsageError(`no target "${printable(name)}"`);
  for (const key of keys) await kept.open.kept.setStatus(key, LIFTED);
  if (kept.args.options.json) return print(kept, new Map([["enabled", [name]]]));
  kept.io.out(`${line(name)} is sent to again\n`);
  return 0;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  status,
  list,
  show,
  redeliver: (kept, words) => change(kept, words, "redeliver"),
  purge: (kept, words) => change(kept, words, "purge"),
  enable,
  flush,
};

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} takes a whole number from 1, not "${printable(text)}"`);
}

/** Opens the queue and runs a subcommand on it; exit 1 when there is none that keeps anything. */
export async function deliveries(args: Args, io: Io, context: Context): Promise<number> {
  const [verb = "status", ...words] = args.words;
  const run = Object.hasOwn(SUBCOMMANDS, verb) ? SUBCOMMANDS[verb]! : undefined;
  if (!run) {
    const known = Object.keys(SUBCOMMANDS).join(", ");
    throw new UsageError(`deliveries takes ${known}, not "${printable(verb)}"`);
  }
  const registry = await readRegistry(context);
  const { settings: queue, problems } = readQueueSettings(registry.root, context.configFile);
  const fatal = problems.find(({ severity }) => severity === "error");
  if (fatal) return failed(io, problemText(fatal));
  const { targets } = readTargets(registry.root, context.configFile, context.env);
  try {
    const { home, log, now } = context;
    const open = await openKept({ home, log, now, queue, targets });
    if (!open) {
      return failed(
        io,
        "the queue is memory, which keeps no deliveries: set hermes_hooks.outbound.queue to " +
          `sqlite or a redis URL in ${context.configFile}`,
      );
    }
    try {
      const counts = await open.counts();
      const names = new TargetNames(targets.map(({ key, name }) => [key, name]));
      return await run(
        { args, io, context, registry, queue, targets, names, open, counts },
        words,
      );
    } finally {
      await open.close();
    }
  } catch (error) {
    if (error instanceof NotAccepted) return failed(io, error.message);
    throw error;
  }
}

function failed(io: Io, message: string): number {
  io.err(`hermes-hooks: ${printable(message)}\n`);
  return 1;
}
