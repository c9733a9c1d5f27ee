/** `exec -- COMMAND`: the hooks around any command, for cron jobs, containers and scripts. */
import process from "node:process";
import type { Context } from "../context.ts";
import { readRegistry } from "../dispatch/registry.ts";
import { printable, stringAt } from "../events/json.ts";
import type { Verdict } from "../events/outcome.ts";
import { ignoredSignals } from "../platform/ignored_signals.ts";
import type { Args } from "./args.ts";
import { askAbout, canBeAsked } from "./exec_approval.ts";
import { commandOf } from "./exec_command.ts";
import * as facts from "./exec_facts.ts";
import type { ExecFacts, ExecOutcome } from "./exec_facts.ts";
import { Firing } from "./exec_firing.ts";
import { type ExecOptions, readOptions } from "./exec_options.ts";
import { type ExecRan, runCommand } from "./exec_run.ts";
import { passSignals } from "./exec_signals.ts";
import { outputWriter } from "./exec_write.ts";
import type { Io } from "./io.ts";
import { endHooksOnSignals } from "./signals.ts";

/** What one run of `exec` has to do with. */
interface Here {
  readonly options: ExecOptions;
  readonly firing: Firing;
  readonly hooks: HookSignals;
  readonly io: Io;
  readonly context: Context;
}

/** What is to become of the command: it is run, or why it is not. */
type Decided = { readonly run: readonly string[] } | { readonly not: string };

/** Decides, and asks a person where the hooks leave it to one. */
async function decide(
  verdict: Verdict,
  about: ExecFacts,
  { options, firing, io }: Here,
): Promise<Decided & { readonly about: ExecFacts }> {
  const decision = stringAt(verdict, "decision");
  const message = stringAt(verdict, "message") ?? "blocked";
  const changed = commandOf(verdict, about.argv);
  const now = changed.ok ? { ...about, argv: changed.argv } : about;
  if (decision !== "allow" && decision !== "approve") return { about: now, not: message };
  // Before anybody is asked: nobody can say yes to it.
  if (!changed.ok) return { about: now, not: changed.reason };
  if (decision === "allow") return { about: now, run: now.argv };
  if (!options.asks) return { about: now, not: `needs approval: ${message}` };
  if (!await canBeAsked(io)) {
    return { about: now, not: `needs approval, and there is no terminal to ask on: ${message}` };
  }
  const rule = stringAt(verdict, "rule_key");
  await firing.fire("pre_approval_request", facts.approvalFields(now, message, rule));
  const yes = await askAbout(io, now, message);
  const choice = yes ? "once" as const : "deny" as const;
  await firing.fire("post_approval_response", facts.approvalFields(now, message, rule, choice));
  return { about: now, ...(yes ? { run: now.argv } : { not: `not approved: ${message}` }) };
}

function outcomeOf(ran: ExecRan, durationMs: number): ExecOutcome {
  const { exit, signal, refused, output } = ran;
  return {
    status: exit === 0 ? "ok" : "error",
    exit,
    ...(signal !== undefined && { signal }),
    ...(refused !== undefined && { message: refused }),
    ...(output !== undefined && { output }),
    durationMs,
  };
}

/** Who hears signals: before and after the command, the hooks that run then. */
class HookSignals {
  readonly ignored = ignoredSignals();
  leave = endHooksOnSignals(this.ignored);

  take(): void {
    this.leave = endHooksOnSignals(this.ignored);
  }
}

async function run(
  argv: readonly string[],
  { options: { capture }, firing, hooks, io, context: { startFolder } }: Here,
): Promise<ExecOutcome> {
  const signals = passSignals(hooks.ignored, io.stdinTty);
  hooks.leave();
  const began = performance.now();
  const path = process.env["PATH"];
  const write = outputWriter((text) => firing.warn(text));
  const ran = await runCommand({ argv, startFolder, path, capture, write }, signals);
  hooks.take();
  signals.stop();
  if (ran.refused !== undefined) io.err(`hermes-hooks: ${printable(ran.refused)}\n`);
  return outcomeOf(ran, Math.round(performance.now() - began));
}

function blocked(message: string, exit: number, io: Io): ExecOutcome {
  io.err(`${printable(message, true)}\n`);
  return { status: "blocked", exit, message, durationMs: 0 };
}

/** Runs it; the exit code is the command's own, or `--block-exit` when it was not run. */
export async function exec(args: Args, io: Io, context: Context): Promise<number> {
  const options = await readOptions(args);
  const registry = await readRegistry(context);
  const firing = new Firing(args, io, registry, options.flushMs);
  const given: ExecFacts = {
    tool: args.options.tool ?? "terminal",
    session: args.options.session ?? "",
    cwd: context.startFolder,
    callId: `exec-${crypto.randomUUID()}`,
    argv: options.argv,
  };
  const here = { options, firing, hooks: new HookSignals(), io, context };
  const verdict = await firing.fire("pre_tool_call", facts.beforeFields(given));
  const { about, ...decided } = await decide(verdict, given, here);
  const outcome = "run" in decided
    ? await run(decided.run, here)
    : blocked(decided.not, options.blockExit, io);
  await firing.tell("post_tool_call", facts.afterFields(about, outcome));
  for (const event of options.events) {
    await firing.tell(event, facts.reportFields(event, about, outcome));
  }
  await firing.flush();
  return outcome.exit;
}
