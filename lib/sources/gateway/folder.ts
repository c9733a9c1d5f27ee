/** The folders of gateway hooks, read but not run: what `list` shows and the listener loads. */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { at, type ConfigNode } from "../../config/node.ts";
import { readTextFile } from "../../config/text_file.ts";
import { YamlSyntaxError } from "../../config/yaml_error.ts";
import { readConfigYaml } from "../../config/yaml_file.ts";
import { printable } from "../../events/json.ts";
import type { Problem } from "../../events/problem.ts";
import { readSubscriptions } from "./subscription.ts";

/** One gateway hook as its folder describes it. */
export interface GatewayFolder {
  /** The folder's own name; hooks are in the order of these. */
  readonly directory: string;
  /** Absolute. */
  readonly folder: string;
  /** Of HOOK.yaml; the directory when it gives none. */
  readonly name: string;
  /** Of HOOK.yaml; empty when it gives none. */
  readonly description: string;
  /** Exact names and `base:*`, in the order written, each once; never empty. */
  readonly events: readonly string[];
  /** The handler's file, absolute. */
  readonly handler: string;
  readonly language: "script" | "python";
}

/** What {@link findGatewayFolders} found. */
export interface GatewayFolders {
  readonly hooks: readonly GatewayFolder[];
  /** Each names its directory. */
  readonly problems: readonly Problem[];
}

/** Where the hooks of a home are. */
export function gatewayFolder(home: string): string {
  return path.join(home, "hooks");
}

const HANDLERS = ["handler.ts", "handler.js", "handler.mjs", "handler.py"];

/** By code points, as Python sorts, whatever the language of the machine. */
function byCodePoint(a: string, b: string): number {
  const left = [...a], right = [...b];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const step = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (step !== 0) return step;
  }
  return left.length - right.length;
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort(byCodePoint);
  } catch {
    return [];
  }
}

/** Where in HOOK.yaml. */
interface Place {
  readonly line?: number;
}

/** Reads one folder: a hook, or nothing when it is rejected or no gateway hook at all. */
class FolderReader {
  readonly problems: Problem[] = [];
  readonly #folder: string;
  readonly #yaml: string;

  constructor(readonly directory: string, hooks: string) {
    this.#folder = path.join(hooks, directory);
    this.#yaml = path.join(this.#folder, "HOOK.yaml");
  }

  #say(severity: Problem["severity"], message: string, at?: Place, key = ""): void {
    const where = `hooks/${printable(this.directory)}${key}`;
    const { line } = at ?? {};
    this.problems.push({
      severity,
      file: this.#yaml,
      path: where,
      message,
      ...(line !== undefined && { line }),
    });
  }

  /** rule 9.2: the directory is named, and the rest load. */
  #reject(why: string, at?: Place): undefined {
    const name = printable(this.directory);
    this.#say("error", `gateway hook "${name}" is not loaded: ${why}`, at);
  }

  async read(): Promise<GatewayFolder | undefined> {
    const names = namesIn(this.#folder);
    const handlers = HANDLERS.filter((name) =>
      names.includes(name) && isFile(path.join(this.#folder, name))
    );
    const text = readTextFile(this.#yaml);
    if (text.state === "unusable") return this.#reject(`HOOK.yaml ${text.why}`);
    if (text.state === "missing") {
      const near = names.find((name) => /^hook\.ya?ml$/i.test(name));
      if (near !== undefined) return this.#reject(`the file is called HOOK.yaml, not ${near}`);
      return handlers.length > 0 ? this.#reject("it has no HOOK.yaml") : undefined;
    }
    const root = await this.#parse(text.text);
    if (root === "rejected") return undefined;
    if (root?.kind !== "map") return this.#reject("HOOK.yaml: expected a mapping", root);
    const events = this.#events(root);
    if (events === undefined) return undefined;
    const [handler, ...others] = handlers;
    const all = `${HANDLERS.slice(0, -1).join(", ")} or ${HANDLERS.at(-1)}`;
    if (handler === undefined) return this.#reject(`it has no ${all}`);
    if (others.length > 0) return this.#reject(`it has ${handlers.join(" and ")}, expected one`);
    return {
      directory: this.directory,
      folder: this.#folder,
      name: this.#text(root, "name") || this.directory,
      description: this.#text(root, "description"),
      events,
      handler: path.join(this.#folder, handler),
      language: handler.endsWith(".py") ? "python" : "script",
    };
  }

  async #parse(text: string): Promise<ConfigNode | undefined | "rejected"> {
    try {
      const { root, problems } = await readConfigYaml(text, this.#yaml);
      for (const problem of problems) this.#say("warning", problem.message, problem);
      return root;
    } catch (error) {
      if (!(error instanceof YamlSyntaxError)) throw error;
      const { line, column, message } = error;
      this.#reject(`HOOK.yaml:${line}:${column}: ${message}`, error);
      return "rejected";
    }
  }

  #events(root: ConfigNode): string[] | undefined {
    const events = at(root, "events");
    if (events === undefined || (events.kind === "scalar" && events.value === null)) {
      return this.#reject("no events: name what it listens to", events ?? root);
    }
    const found = readSubscriptions(
      events,
      (node, key, message) => this.#say("warning", message, node, `.events${key}`),
    );
    return found.length > 0 ? found : this.#reject("no events are left", events);
  }

  /** A text of HOOK.yaml, trimmed; empty when there is none, or one that is no text. */
  #text(root: ConfigNode, key: string): string {
    const node = at(root, key);
    if (node === undefined || (node.kind === "scalar" && node.value === null)) return "";
    if (node.kind === "scalar" && typeof node.value === "string") return node.value.trim();
    this.#say("warning", "expected text; ignored", node, `.${key}`);
    return "";
  }
}

/**
 * Reads the one gateway hook in `folder`, wherever that is. Runs none of its code, never throws.
 * @param folder absolute
 */
export async function readGatewayFolder(folder: string): Promise<GatewayFolders> {
  const reader = new FolderReader(path.basename(folder), path.dirname(folder));
  const hook = await reader.read();
  return { hooks: hook ? [hook] : [], problems: reader.problems };
}

/**
 * Finds the gateway hooks of a home, in directory order. Runs none of their code, and never throws
 * for what is wrong in one: that is a problem, and the rest are found.
 */
export async function findGatewayFolders(home: string): Promise<GatewayFolders> {
  const folder = gatewayFolder(home);
  const hooks: GatewayFolder[] = [];
  const problems: Problem[] = [];
  for (const name of namesIn(folder)) {
    const reader = new FolderReader(name, folder);
    const hook = await reader.read();
    if (hook) hooks.push(hook);
    problems.push(...reader.problems);
  }
  return { hooks, problems };
}
