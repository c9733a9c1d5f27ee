/** A config's YAML: by the quick reader where it is simple, as most are, else by the exact one. */

import type { Problem } from "../events/problem.ts";
import type { ConfigNode } from "./node.ts";
import { readSimpleYaml } from "./yaml_simple.ts";

/** A file's tree, and what is odd about it. */
export interface YamlFile {
  /** Undefined: the file is empty, or holds nothing but comments. */
  readonly root: ConfigNode | undefined;
  /** One warning for each duplicate key, naming all its lines. */
  readonly problems: readonly Problem[];
}

/**
 * Reads what `readYaml` reads, with the same result, and loads the YAML package only for a text
 * that is not simple: every cold start pays for it.
 * @param text the file's text; a BOM and any line endings are fine
 * @param file its name, for problems and errors
 * @returns the file, or a promise of it that rejects with a YamlSyntaxError
 */
export function readConfigYaml(text: string, file: string): YamlFile | Promise<YamlFile> {
  return readSimpleYaml(text, file) ??
    import("./yaml.ts").then(({ readYaml }) => readYaml(text, file));
}
