/** The hooks in folders of a home, for `config check`: what is there, and what is wrong with it. */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { Problem } from "../../events/problem.ts";
import { findGatewayFolders, gatewayFolder } from "../../sources/gateway/folder.ts";
import { pluginFolderProblems } from "../../sources/plugin/discover.ts";

/** Is there a file (not a folder)? */
export function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Names in a folder, in order; none when it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function filesIn(folder: string, name: string): string[] {
  return namesIn(folder).map((each) => path.join(folder, each, name)).filter(isFile);
}

/** Every HOOK.yaml and plugin.yaml of a home, absolute. */
export function folderFiles(home: string): string[] {
  const plugins = filesIn(path.join(home, "plugins"), "plugin.yaml");
  return [...filesIn(gatewayFolder(home), "HOOK.yaml"), ...plugins];
}

/**
 * What is wrong with a home's gateway hooks, and with its plugins that are not enabled: reading the
 * config looks at those that are.
 */
export async function folderProblems(
  home: string,
  enabled: readonly { readonly name: string }[],
): Promise<Problem[]> {
  const problems = [...(await findGatewayFolders(home)).problems];
  for (const file of filesIn(path.join(home, "plugins"), "plugin.yaml")) {
    const folder = path.dirname(file);
    if (enabled.some(({ name }) => name === path.basename(folder))) continue;
    problems.push(...await pluginFolderProblems(folder));
  }
  return problems;
}
