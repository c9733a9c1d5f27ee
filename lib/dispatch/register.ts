/** Which hooks of an event may run: consent asked for or taken as given, refusals said (section 6). */
import type { ApprovedVia } from "../consent/accept.ts";
import type { NewApproval } from "../consent/approval.ts";
import { problemText } from "../events/problem.ts";
import type { Call, Hook } from "../sources/hook.ts";
import type { ShellEntry } from "../sources/shell/entry.ts";
import { entryMatches, matcherOf, shellHook } from "../sources/shell/hook.ts";
import { scriptOf } from "../sources/shell/program.ts";
import { quoteWords } from "../sources/shell/words.ts";
import { approved, type Registry } from "./registry.ts";

/** What a person is asked about. */
export interface Question {
  readonly event: string;
  readonly command: string;
  /** The resolved script or program; absent when there is no file to name. */
  readonly script?: string;
  readonly failClosed: boolean;
}

/** How unseen hooks are met. Neither given: they are left out. */
export interface ConsentOptions {
  /** Approve unseen hooks without asking, recorded as this. */
  readonly accept?: ApprovedVia;
  /** Asks a person; true is yes. */
  readonly ask?: (question: Question) => Promise<boolean>;
}

/** What {@link register} returns. */
export interface Registration {
  /** In registration order. */
  readonly hooks: readonly Hook[];
  readonly warnings: readonly string[];
}

/** The file whose change matters to consent (rule 6.6); undefined when there is none to name. */
export function entryScript(registry: Registry, entry: ShellEntry): string | undefined {
  const { env, startFolder, expandTilde } = registry.host;
  return scriptOf(entry.command, { env, startFolder, expandTilde });
}

/** What to type to approve a command. */
export function allowLine(command: string): string {
  return `hermes-hooks allow ${quoteWords([command])}`;
}

/** Why a hook that is not approved did not run, and what to do (rule 6.5). */
export function leftOutWarning(entry: ShellEntry): string {
  const where = `${entry.path} "${entry.command}"`;
  const todo = `approve it with: ${allowLine(entry.command)} (or --accept-hooks)`;
  return entry.failClosed
    ? `UNARMED: fail_closed hook ${where} is not approved and did not run; ${todo}`
    : `hook ${where} is not approved and did not run; ${todo}`;
}

/** Where the hooks of a home's plugins come from; hosts are started when they are asked for. */
export interface PluginSource {
  hooksFor(event: string): Promise<Registration>;
}

const pairOf = (entry: ShellEntry) => JSON.stringify([entry.event, entry.command]);

async function consentTo(
  registry: Registry,
  entries: readonly ShellEntry[],
  consent: ConsentOptions,
): Promise<Map<string, ApprovedVia | undefined>> {
  const answers = new Map<string, ApprovedVia | undefined>();
  for (const entry of entries) {
    const pair = pairOf(entry);
    if (answers.has(pair) || approved(registry, entry)) continue;
    if (consent.accept) answers.set(pair, consent.accept);
    else if (consent.ask) {
      const { event, command, failClosed } = entry;
      const script = entryScript(registry, entry);
      const yes = await consent.ask({ event, command, script, failClosed });
      answers.set(pair, yes ? "prompt" : undefined);
    }
  }
  return answers;
}

/** Records what was accepted; one that cannot be recorded runs all the same (rule 6.4). */
async function record(
  registry: Registry,
  entries: readonly ShellEntry[],
  answers: Map<string, ApprovedVia | undefined>,
): Promise<string[]> {
  const seen = new Set<string>();
  const fresh = entries.flatMap((entry): NewApproval[] => {
    const pair = pairOf(entry);
    const via = answers.get(pair);
    if (!via || seen.has(pair)) return [];
    seen.add(pair);
    const { event, command } = entry;
    return [{ event, command, script: entryScript(registry, entry), via }];
  });
  if (fresh.length === 0) return [];
  const { recordApprovals } = await import("../consent/approval.ts");
  const { context, allowlist } = registry;
  const problem = await recordApprovals(allowlist.file, fresh, { now: context.now() });
  return problem ? [`${problemText(problem)}; the accepted hooks run this once`] : [];
}

async function safeModeWarning(
  entries: readonly ShellEntry[],
  call: Call,
): Promise<string> {
  const matching = [];
  for (const entry of entries) {
    if ((await entryMatches(entry, matcherOf(entry), call)).matched) matching.push(entry);
  }
  const closed = matching.filter((entry) => entry.failClosed).length;
  return `safe mode: ${matching.length} hooks not run, ${closed} of them fail_closed`;
}

/** Plugins that may have had a say: how many hooks that would be, only loading them would tell. */
function safeModePlugins({ plugins }: Registry, { event }: Call): string[] {
  const names = plugins.plugins
    .filter(({ provides }) => provides === undefined || provides.includes(event))
    .map(({ name }) => `"${name}"`);
  return names.length === 0 ? [] : [`safe mode: plugins not loaded: ${names.join(", ")}`];
}

/**
 * Registers the hooks of the call's event (rules 6.4, 6.5, 6.7), plugins' before shell hooks.
 * @param plugins needs no consent (rule 6.1); undefined: none
 */
export async function register(
  registry: Registry,
  call: Call,
  consent: ConsentOptions,
  plugins?: PluginSource,
): Promise<Registration> {
  const entries = registry.entries.filter((entry) => entry.event === call.event);
  if (registry.safeMode) {
    const warnings = [await safeModeWarning(entries, call), ...safeModePlugins(registry, call)];
    return { hooks: [], warnings };
  }
  const loading = plugins?.hooksFor(call.event);
  const answers = await consentTo(registry, entries, consent);
  const warnings = await record(registry, entries, answers);
  const hooks: Hook[] = [];
  for (const entry of entries) {
    if (approved(registry, entry) || answers.get(pairOf(entry))) {
      hooks.push(shellHook(entry, registry.host));
    } else warnings.push(leftOutWarning(entry));
  }
  const ofPlugins = await loading;
  if (!ofPlugins) return { hooks, warnings };
  return {
    hooks: [...ofPlugins.hooks, ...hooks],
    warnings: [...ofPlugins.warnings, ...warnings],
  };
}
