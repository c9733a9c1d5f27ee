/** The column of a finding: loading knows the line, and the file still knows the rest. */
import { at, type ConfigNode } from "../../config/node.ts";
import { readTextFile } from "../../config/text_file.ts";
import { YamlSyntaxError } from "../../config/yaml_error.ts";
import { readConfigYaml } from "../../config/yaml_file.ts";
import type { Finding } from "./finding.ts";

type Read = { readonly root: ConfigNode | undefined } | { readonly error: YamlSyntaxError };

async function readAgain(file: string): Promise<Read | undefined> {
  const text = readTextFile(file);
  if (text.state !== "read") return undefined;
  try {
    return { root: (await readConfigYaml(text.text, file)).root };
  } catch (error) {
    if (error instanceof YamlSyntaxError) return { error };
    throw error;
  }
}

/** The nodes that a path names: the key, and what stands under it. */
function nodesAt(root: ConfigNode | undefined, path: string): (ConfigNode | undefined)[] {
  // Of a gateway hook the path starts with its folder.
  const steps = path.replace(/^hooks\/[^.[]*\.?/, "").match(/[^.[\]]+|\[\d+\]/g) ?? [];
  let key: ConfigNode | undefined;
  let value = root;
  for (const step of steps) {
    const index = /^\[(\d+)\]$/.exec(step)?.[1];
    key = value?.kind === "map" ? value.entries.get(step)?.key : undefined;
    if (index === undefined) value = at(value, step);
    else value = value?.kind === "list" ? value.items[Number(index)] : undefined;
  }
  return [key, value];
}

function columnOf({ path, line }: Finding, read: Read): number | undefined {
  if ("error" in read) return read.error.line === line ? read.error.column : undefined;
  return nodesAt(read.root, path).find((node) => node?.line === line)?.column;
}

/** Each finding that has a line with its column too, where there is one. */
export async function withColumns(findings: readonly Finding[]): Promise<Finding[]> {
  const files = new Map<string, Read | undefined>();
  const located: Finding[] = [];
  for (const finding of findings) {
    const { file, line, column } = finding;
    if (line === undefined || column !== undefined) {
      located.push(finding);
      continue;
    }
    if (!files.has(file)) files.set(file, await readAgain(file));
    const read = files.get(file);
    const found = read && columnOf(finding, read);
    located.push(found === undefined ? finding : { ...finding, column: found });
  }
  return located;
}
