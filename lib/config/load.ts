/** The config file, read whole: a tree with its problems, or one clear error. */
import type { Problem } from "../events/problem.ts";
import { problemText } from "../events/problem.ts";
import { expandNode } from "./expand.ts";
import type { ConfigNode } from "./node.ts";
import { readTextFile } from "./text_file.ts";
import { YamlSyntaxError } from "./yaml_error.ts";
import { readConfigYaml } from "./yaml_file.ts";

/** A config that cannot be used at all (rule 1.2): never taken for "no hooks". */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  /**
   * @param message the whole of it, with its place
   * @param problem the same with its place apart; absent when it is not about a file's content
   */
  constructor(message: string, readonly problem?: Problem) {
    super(message);
  }
}

function configError(file: string, at: { line?: number; column?: number }, message: string) {
  const { line, column } = at;
  const problem: Problem = { severity: "error", file, path: "", line, column, message };
  return new ConfigError(problemText(problem), problem);
}

/** A config file as read. */
export interface Config {
  readonly file: string;
  /** False when there is no such file: no hooks, no error. */
  readonly exists: boolean;
  /** Expanded (rule 1.2b); undefined for a missing or empty file. */
  readonly root: ConfigNode | undefined;
  readonly problems: readonly Problem[];
}

function readText(file: string): string | undefined {
  const read = readTextFile(file);
  if (read.state === "unusable") {
    const problem: Problem = { severity: "error", file, path: "", message: read.why };
    throw new ConfigError(`${file}: ${read.why}`, problem);
  }
  return read.state === "read" ? read.text : undefined;
}

/**
 * Reads and expands a config.
 * @param file absolute path
 * @param env for `${NAME}` and `${env:NAME}`
 * @returns a promise that rejects with a ConfigError when the file cannot be read, is no valid
 *   YAML, or holds no mapping at the top
 */
export async function loadConfig(
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<Config> {
  const text = readText(file);
  if (text === undefined) return { file, exists: false, root: undefined, problems: [] };
  try {
    const { root, problems } = await readConfigYaml(text, file);
    if (root === undefined || (root.kind === "scalar" && root.value === null)) {
      return { file, exists: true, root: undefined, problems };
    }
    if (root.kind !== "map") {
      const message = 'expected a mapping at the top, such as "hooks:"';
      throw configError(file, root, message);
    }
    const expanded = expandNode(root, env, file);
    return {
      file,
      exists: true,
      root: expanded.node,
      problems: [...problems, ...expanded.problems],
    };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw configError(file, error, error.message);
  }
}
