/** `fire EVENT`: the main job. */
import process from "node:process";
import { findEvent } from "../events/catalog.ts";
import { printable, stringAt, writeJson } from "../events/json.ts";
import { readFields } from "../events/payload.ts";
import { exitCodeOf, type OnApproval } from "../events/verdict.ts";
import type { Context } from "../context.ts";
import type { ConsentOptions } from "../dispatch/register.ts";
import { readRegistry, type Registry, standingAcceptance } from "../dispatch/registry.ts";
import { type Args, UsageError } from "./args.ts";
import type { Terminal, TerminalFacts } from "../platform/tty.ts";
import { type Fired, fireOne } from "./fire_one.ts";
import type { Io } from "./io.ts";
import { endHooksOnSignals } from "./signals.ts";

/** The longest `--flush`, in seconds. */
const MOST_FLUSH = 300;

/** Whether to read the payload from a file, or from stdin. */
function source(args: Args, io: Io) {
  const file = args.options["payload-file"];
  if (file !== undefined) return io.readFile(file);
  if (!io.stdinTty) return io.readStdin();
  throw new UsageError(
    "fire reads the event's fields from stdin, and stdin is a terminal: pipe a JSON object in, or give --payload-file FILE",
  );
}

/**
 * The row of an event that `fire` takes.
 * @throws UsageError for one that is none, with a hint
 */
export async function eventRow(name: string, verb: string) {
  const row = findEvent(name);
  if (row && row.kind !== "gateway") return row;
  const { hintFor } = await import("../events/names.ts");
  const hint = hintFor(name) ?? "see hermes-hooks events";
  const what = row
    ? `"${printable(name)}" cannot be ${verb}`
    : `unknown event "${printable(name)}"`;
  throw new UsageError(`${what}: ${hint}`);
}

/** How unseen hooks are met here: taken as accepted, asked about on a terminal, or left out. */
export function consentHere(args: Args, io: Io, registry: Registry): ConsentOptions {
  const accept = standingAcceptance(registry, args.options["accept-hooks"] ?? false);
  if (accept) return { accept };
  if (!io.stderrTty) return {};
  const stdinInUse = args.options["payload-file"] === undefined &&
    (args.command === "fire" || args.command === "exec");
  let terminal: Promise<Terminal | undefined> | undefined;
  return {
    ask: async (question) => {
      terminal ??= terminalOf({ stdinTty: io.stdinTty, stderrTty: io.stderrTty, stdinInUse });
      const opened = await terminal;
      if (!opened) return false;
      const { askOnTerminal } = await import("../consent/prompt.ts");
      return await askOnTerminal(opened, question, (text) => io.err(text));
    },
  };
}

/** Opened at the first question, and then kept: lines typed ahead answer the next ones. */
async function terminalOf(facts: TerminalFacts): Promise<Terminal | undefined> {
  const { openTerminal, terminalAvailable } = await import("../platform/tty.ts");
  if (!terminalAvailable(facts)) return undefined;
  return openTerminal({ stdinTty: facts.stdinTty && !facts.stdinInUse });
}

/** Runs it; the exit code is the answer (section 11). */
export async function fire(args: Args, io: Io, context: Context): Promise<number> {
  const [named, ...more] = args.words;
  if (more.length > 0) throw new UsageError("fire takes one event");
  const onApproval = args.options["on-approval"] ?? "ask";
  if (onApproval !== "ask" && onApproval !== "block") {
    throw new UsageError(`--on-approval takes "block" or "ask", not "${printable(onApproval)}"`);
  }
  const flushMs = flushSeconds(args) * 1000;
  if (named !== undefined) await eventRow(named, "fired");
  const where = args.options["payload-file"] ?? "stdin";
  const input = await source(args, io);
  if (!input.ok) return failed(io, input.reason);
  const read = readFields(input.text, named);
  if (!read.ok && read.exit === 64) throw new UsageError(read.message);
  if (!read.ok) return failed(io, `${where}: ${read.message}`);
  const row = await eventRow(read.event, "fired");
  const registry = await readRegistry(context, read.event);
  endHooksOnSignals();
  const consent = consentHere(args, io, registry);
  const deliver = { noServer: args.options["no-server"] ?? false, flushMs };
  const { event, fields } = read;
  return await fireOne(
    { registry, row, event, fields, consent, deliver },
    (fired) => answer(fired, io, onApproval),
  );
}

/** Prints the verdict; the exit code that goes with it. */
async function answer(
  { verdict, lost, flushed: flushing }: Fired,
  io: Io,
  onApproval: OnApproval,
): Promise<number> {
  // Handed over first: whoever has read the verdict, or closes the pipe, may end us.
  const printed = io.out(writeJson(verdict, { printable: true }) + "\n");
  const decided = exitCodeOf(verdict, { onApproval });
  // Who could not read the verdict must not go on without what it asks for; and what a listener
  // was handed is never handed over twice, so a connection lost after that is a failure.
  const known = printed && !lost;
  const exit = known || decided === 2 ? decided : 1;
  if (!printed) io.err("hermes-hooks: the verdict could not be written to stdout\n");
  // A caller that reads only stderr sees why.
  if (exit === 2) io.err(printable(stringAt(verdict, "message") ?? "blocked", true) + "\n");
  const flushed = await flushing;
  for (const text of flushed?.warnings ?? []) {
    io.err(`hermes-hooks: warning: ${printable(text)}\n`);
  }
  return flushed?.lost && exit !== 2 ? 1 : exit;
}

/**
 * How long to wait for our own deliveries, in seconds (rule 10.5): whoever is process 1 takes the
 * sender down.
 * @throws UsageError for what is no number of seconds, or too many
 */
export function flushSeconds(
  args: Args,
  fallback = process.pid === 1 ? 10 : 0,
  most = MOST_FLUSH,
): number {
  const { flush } = args.options;
  if (flush === undefined) return fallback;
  const seconds = /^[0-9]+(?:\.[0-9]+)?$/.test(flush) ? Number(flush) : NaN;
  if (seconds <= most) return seconds;
  throw new UsageError(
    `--flush takes seconds from 0 to ${most}, not "${printable(flush)}"`,
  );
}

function failed(io: Io, message: string): number {
  io.err(`hermes-hooks: ${printable(message)}\n`);
  return 1;
}
