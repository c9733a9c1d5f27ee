/** `allow` and `revoke`: consent given and taken back without a terminal. */
import { recordApprovals, revokeCommand } from "../consent/approval.ts";
import { allowlistFile } from "../consent/allowlist.ts";
import type { Context } from "../context.ts";
import { entryScript, leftOutWarning } from "../dispatch/register.ts";
import { approved, readRegistry, standingAcceptance } from "../dispatch/registry.ts";
import { type Json, JsonNumber, printable, writeJson } from "../events/json.ts";
import { problemText } from "../events/problem.ts";
import type { ShellEntry } from "../sources/shell/entry.ts";
import { type Args, UsageError } from "./args.ts";
import { eventRow } from "./fire.ts";
import type { Io } from "./io.ts";
import { tellListener } from "./listener.ts";
import { counted, line, styleFor } from "./style.ts";

function oneCommand(args: Args): string {
  const [command, ...more] = args.words;
  if (command === undefined || command.trim() === "") {
    throw new UsageError(`${args.command} needs a command, as it stands in the config`);
  }
  if (more.length > 0) {
    throw new UsageError(`${args.command} takes one command: put it in quotes as one word`);
  }
  return command.trim();
}

/** The entries meant, one for each (event, command) pair. */
function chosen(entries: readonly ShellEntry[], args: Args): ShellEntry[] {
  const command = args.options.all ? undefined : oneCommand(args);
  const { event: events } = args.options;
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const pair = JSON.stringify([entry.event, entry.command]);
    if (seen.has(pair)) return false;
    if (command !== undefined && entry.command !== command) return false;
    if (events !== undefined && !events.includes(entry.event)) return false;
    seen.add(pair);
    return true;
  });
}

function nothingMeant(args: Args, io: Io, entries: readonly ShellEntry[]): number {
  if (args.options.all) {
    io.out("no shell hook is configured: nothing to approve\n");
    return 0;
  }
  const { event: events } = args.options;
  const where = events === undefined ? "" : ` under ${printable(events.join(", "))}`;
  const known = [...new Set(entries.map(({ command }) => `  ${line(command)}`))];
  const rest = known.length > 0 ? `; configured are:\n${known.join("\n")}` : "; none is configured";
  io.err(`hermes-hooks: no hook has the command "${line(oneCommand(args))}"${where}${rest}\n`);
  return 1;
}

/** Tells a running listener, which obeys at once; that it cannot be told is only worth a note. */
async function listenerObeys(io: Io, context: Context): Promise<boolean> {
  const told = await tellListener(context);
  if (told.kind === "failed") {
    io.err(
      `hermes-hooks: note: the running listener could not be told: ${line(told.reason)}; ` +
        "reload it with: kill -HUP, or restart it\n",
    );
  }
  return told.kind === "told";
}

/** rule 6.5: a closed gate that would not run is named by every command. */
async function warnUnarmed(io: Io, context: Context): Promise<void> {
  const registry = await readRegistry(context);
  if (standingAcceptance(registry, false)) return;
  for (const entry of registry.entries) {
    if (!entry.failClosed || approved(registry, entry)) continue;
    io.err(`hermes-hooks: warning: ${line(leftOutWarning(entry))}\n`);
  }
}

/** Approves configured hooks; approving again is no error. */
export async function allow(args: Args, io: Io, context: Context): Promise<number> {
  if (args.options.all && args.words.length > 0) {
    throw new UsageError("allow takes a command or --all, not both");
  }
  if (!args.options.all) oneCommand(args);
  for (const event of args.options.event ?? []) await eventRow(event, "approved");
  const registry = await readRegistry(context);
  const entries = chosen(registry.entries, args);
  if (entries.length === 0) return nothingMeant(args, io, registry.entries);
  const approvals = entries.map((entry) => {
    const { event, command } = entry;
    return { event, command, script: entryScript(registry, entry), via: "allow" as const };
  });
  const problem = await recordApprovals(registry.allowlist.file, approvals, { now: context.now() });
  if (problem) {
    io.err(`hermes-hooks: ${line(problemText(problem))}\n`);
    return 1;
  }
  await listenerObeys(io, context);
  const style = styleFor(io.stdoutTty, context.env);
  if (args.options.json) {
    const list = entries.map(({ event, command }): Json =>
      new Map([["event", event], ["command", command]])
    );
    io.out(writeJson(new Map([["approved", list]]), { printable: true }) + "\n");
  } else {
    for (const { event, command } of entries) {
      io.out(`${style.ok} approved for ${event}: ${line(command)}\n`);
    }
  }
  await warnUnarmed(io, context);
  return 0;
}

/** Removes every approval of exactly this command; exit 1 when there was none. */
export async function revoke(args: Args, io: Io, context: Context): Promise<number> {
  const command = oneCommand(args);
  const file = allowlistFile(context.home);
  const { removed, problem } = await revokeCommand(file, command);
  if (problem) {
    io.err(`hermes-hooks: ${line(problemText(problem))}\n`);
    return 1;
  }
  const obeyed = removed > 0 && await listenerObeys(io, context);
  if (args.options.json) {
    const json = new Map([["removed", new JsonNumber(String(removed))]]);
    io.out(writeJson(json) + "\n");
  } else if (removed > 0) {
    const what = counted(removed, "approval");
    const listener = obeyed ? "; the running listener obeys already" : "";
    io.out(
      `removed ${what} of "${
        line(command)
      }"; takes effect on restart of what runs hooks${listener}\n`,
    );
  }
  // A config that cannot be read must not keep anybody from taking an approval back.
  await warnUnarmed(io, context).catch(() => {});
  if (removed === 0) io.err(`hermes-hooks: "${line(command)}" has no approval in ${line(file)}\n`);
  return removed > 0 ? 0 : 1;
}
