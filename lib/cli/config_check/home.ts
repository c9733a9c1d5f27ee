/** `config check` of this home: the files, and what the machine says of them. Runs and asks nothing. */
import process from "node:process";
import { ConfigError } from "../../config/load.ts";
import { allowlistFile, readAllowlist } from "../../consent/allowlist.ts";
import { homePaths, ownershipProblems } from "../../consent/ownership.ts";
import type { Context } from "../../context.ts";
import { allowLine } from "../../dispatch/register.ts";
import { readRegistry, type Registry } from "../../dispatch/registry.ts";
import type { Problem } from "../../events/problem.ts";
import { readTargets } from "../../outbound/target.ts";
import { prepareCommand } from "../../sources/shell/program.ts";
import { allProblems, survey, type Surveyed } from "../survey.ts";
import { type Checked, type Finding, findingOf } from "./finding.ts";
import { folderFiles, folderProblems, isFile } from "./folders.ts";
import { withGates } from "./gates.ts";

/** A hook that cannot start, as `doctor` finds it (rule 3.9). */
function commandFinding({ entry }: Surveyed, { host, context }: Registry): Finding[] {
  const { env, startFolder, expandTilde } = host;
  const program = prepareCommand(entry.command, {
    env,
    startFolder,
    cwd: startFolder,
    expandTilde,
  });
  if (program.ok) return [];
  const blocks = entry.failClosed ? "; this fail_closed gate blocks every call it takes" : "";
  const { path, line } = entry;
  const message = program.reason + blocks;
  return [{ level: "error", kind: "hook-command", file: context.configFile, path, line, message }];
}

/** rule 6.5: a gate that is not approved does not run. */
function unarmedFinding({ entry, unarmed }: Surveyed, { context }: Registry): Finding[] {
  if (!unarmed) return [];
  const message = `UNARMED: this fail_closed gate is not approved; approve it with: ${
    allowLine(entry.command)
  }`;
  const { path, line } = entry;
  return [{ level: "error", kind: "unarmed-gate", file: context.configFile, path, line, message }];
}

function ownership(problem: Problem): Finding {
  const { message } = problem;
  const others = / is (?:writable by|owned by another user)/.test(message) && problem.path === "";
  return others ? findingOf(problem, "writable-by-others") : findingOf(problem);
}

function registryFindings(registry: Registry, acceptFlag: boolean): Finding[] {
  const { context, root, entries } = registry;
  const surveyed = survey(registry, acceptFlag);
  const problems = [
    ...allProblems(registry, surveyed),
    ...readTargets(root, context.configFile, context.env).problems,
  ];
  return [
    ...withGates(problems.map(ownership), context.configFile, root, entries),
    ...surveyed.flatMap((each) => commandFinding(each, registry)),
    ...surveyed.flatMap((each) => unarmedFinding(each, registry)),
  ];
}

/** What can be said when the config cannot be used at all. */
function brokenConfig(error: ConfigError, { home, configFile }: Context): Finding[] {
  const unreadable: Problem = {
    severity: "error",
    file: configFile,
    path: "",
    message: error.message,
  };
  const allowlist = readAllowlist(allowlistFile(home));
  const owner = { uid: process.getuid?.(), gid: process.getgid?.() };
  return [
    error.problem ?? unreadable,
    ...allowlist.problems,
    ...ownershipProblems(homePaths(home, configFile, allowlist.file), owner),
  ].map(ownership);
}

/**
 * Everything that `list` and `doctor` report of the home's files.
 * @param acceptFlag was `--accept-hooks` given: then no gate is left out for want of an approval
 */
export async function checkHome(context: Context, acceptFlag: boolean): Promise<Checked> {
  let registry: Registry | undefined;
  let findings: Finding[];
  try {
    registry = await readRegistry(context);
    findings = registryFindings(registry, acceptFlag);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings = brokenConfig(error, context);
  }
  const { home, configFile } = context;
  const enabled = registry?.settings.plugins.enabled ?? [];
  const inFolders = await folderProblems(home, enabled);
  return {
    files: [configFile, allowlistFile(home), ...folderFiles(home)].filter(isFile),
    findings: [...findings, ...inFolders.map((problem) => findingOf(problem))],
  };
}
