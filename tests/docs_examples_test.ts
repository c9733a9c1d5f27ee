/**
 * Runs every ts, python, yaml and sh block of docs/plugins.md and docs/gateway-hooks.md. An HTML
 * comment right before a block says how: `run: KIND [NAME]`, then steps, a line each.
 *
 *   plugin NAME   the block is the plugin's code, alone in a fresh home, in which it is enabled
 *   gateway NAME  the block is the handler of hooks/NAME
 *   file PATH     the block is a file of the home that the next block runs in
 *   sh, program   a shell script (`hermes-hooks` is on its PATH), a program using lib/mod.ts
 *
 *   fire: EVENT JSON    through the dispatcher; kept for all steps of the block, with its state
 *   main: ARGS          through main.ts, split at spaces; `< JSON` at the end is its stdin
 *   expect: JSON        the last verdict holds this; `expect: none`, that nothing is said
 *   out: TEXT           stdout and stderr of the last program hold this, or the dispatcher's log
 *   exit: N             of the last program; 0 when not said
 *   wrote: PATH TEXT    a file of the home comes to hold this text
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { createDispatcher, type Dispatcher } from "../lib/mod.ts";
import { type Block, blocksOf, ROOT, type Step } from "./programs/doc_blocks.ts";
import { PYTHON, SELF, until } from "./programs/host_home.ts";
import { putOnPath } from "./programs/self_script.ts";
import { ENV, inHome } from "./programs/plugin_home.ts";

const CHECKED = ["ts", "python", "yaml", "sh"];

/** Every key of what is expected is there, with that value; texts need only be contained. */
function holds(actual: unknown, expected: unknown, at: string): void {
  if (typeof expected === "string") return assert.ok(String(actual).includes(expected), at);
  if (typeof expected !== "object" || expected === null) return assert.equal(actual, expected, at);
  for (const [key, value] of Object.entries(expected)) {
    const found = (actual as Record<string, unknown> | undefined)?.[key];
    holds(found, value, `${at}: ${key} is ${JSON.stringify(found)}`);
  }
}

const PARTS = ["decision", "context", "args", "result", "prompt", "classification", "text"];

class Run {
  readonly #home: string;
  readonly #log: string[] = [];
  #hooks: Dispatcher | undefined;
  #verdict: unknown;
  #said = "";

  constructor(home: string) {
    this.#home = home;
  }

  #start(file: string, args: readonly string[], input = ""): number {
    const bin = path.join(this.#home, "bin");
    const env = { ...ENV, PATH: `${bin}:${ENV.PATH}`, HOME: this.#home, NO_COLOR: "1" };
    const home = { HERMES_HOME: this.#home, TMPDIR: this.#home };
    const done = spawnSync(file, args, {
      input,
      env: { ...env, ...home },
      cwd: this.#home,
      encoding: "utf8",
      timeout: 60_000,
    });
    this.#said = done.stdout + done.stderr;
    const [line = ""] = done.stdout.split("\n");
    this.#verdict = line.startsWith("{") ? JSON.parse(line) : undefined;
    return done.status ?? -1;
  }

  /** The block itself, where it is a program. */
  begin({ language, text, run }: Block): number | undefined {
    if (run!.kind === "sh") {
      putOnPath(path.join(this.#home, "bin/hermes-hooks"));
      return this.#start("sh", ["-c", text]);
    }
    if (run!.kind !== "program") return undefined;
    const file = path.join(this.#home, `program.${language}`);
    const library = pathToFileURL(path.join(ROOT, "lib/mod.ts")).href;
    fs.writeFileSync(file, text.replace('"hermes-hooks"', JSON.stringify(library)));
    const own = "Deno" in globalThis ? ["run", "-A", "--config", path.join(ROOT, "deno.json")] : [];
    return this.#start(process.execPath, [...own, file]);
  }

  async step({ verb, rest }: Step): Promise<number | undefined> {
    const [, first = "", more = ""] = /^(\S*) ?(.*)$/.exec(rest)!;
    switch (verb) {
      case "fire":
        this.#hooks ??= await createDispatcher({
          home: this.#home,
          env: ENV,
          startFolder: this.#home,
          log: (_, line) => void this.#log.push(line),
        });
        this.#verdict = await this.#hooks.fire(first, JSON.parse(more || "{}"));
        return undefined;
      case "main": {
        const [words = "", input] = rest.split(" < ");
        return this.#start(SELF.file, [...SELF.args, ...words.split(" ")], input);
      }
      case "expect":
        if (rest !== "none") return void holds(this.#verdict, JSON.parse(rest), "the verdict");
        return void this.#nothingSaid(this.#verdict as Record<string, unknown>);
      case "out":
        return void await until(() => [this.#said, ...this.#log].join("\n").includes(rest))
          .catch(() =>
            assert.fail(`"${rest}" is not in:\n${[this.#said, ...this.#log].join("\n")}`)
          );
      case "wrote": {
        const file = path.join(this.#home, first);
        return void await until(() =>
          fs.existsSync(file) && fs.readFileSync(file, "utf8").includes(more)
        );
      }
    }
    assert.fail(`no such step: "${verb}"`);
  }

  #nothingSaid(verdict: Record<string, unknown>): void {
    const said = PARTS.filter((key) => key in verdict && verdict[key] !== "allow");
    assert.deepEqual([said, verdict["warnings"]], [[], []]);
  }

  async close(): Promise<void> {
    await this.#hooks?.close();
  }
}

/** The files of the home a block runs in. */
function homeOf({ language, text, run }: Block, before: ReadonlyMap<string, string>) {
  const { kind, name } = run!;
  const files = new Map(before);
  const lay = (file: string, code: string) => void (files.has(file) || files.set(file, code));
  if (kind === "plugin") {
    lay("config.yaml", `plugins:\n  enabled: [${name}]\n`);
    lay(`plugins/${name}/plugin.yaml`, `name: ${name}\n`);
    lay(`plugins/${name}/${language === "python" ? "__init__.py" : "plugin.ts"}`, text);
  }
  if (kind === "gateway") lay(`hooks/${name}/handler.${language === "python" ? "py" : "ts"}`, text);
  return Object.fromEntries(files);
}

async function runBlock(block: Block, files: Readonly<Record<string, string>>): Promise<void> {
  await inHome(files, async (home) => {
    const run = new Run(home);
    let exit = run.begin(block);
    const exits = () => {
      const [was, now] = [exit, undefined];
      exit = now;
      if (was !== undefined) assert.equal(was, 0, "the exit");
    };
    try {
      for (const step of block.run!.steps) {
        if (step.verb === "exit") {
          assert.equal(exit, Number(step.rest), "the exit");
          exit = undefined;
          continue;
        }
        if (step.verb === "main") exits();
        const code = await run.step(step);
        if (code !== undefined) exit = code;
      }
      exits();
    } finally {
      await run.close();
    }
  });
}

for (const page of ["plugins.md", "gateway-hooks.md"]) {
  const blocks = blocksOf(`docs/${page}`).filter(({ language }) => CHECKED.includes(language));
  test(`every example of ${page} says how it is run, and there are some in each language`, () => {
    assert.deepEqual(blocks.filter(({ run }) => !run).map(({ where }) => where), []);
    assert.ok(!blocks.at(-1)!.run!.kind.startsWith("file"), "the last file is run by nothing");
    for (const each of CHECKED) assert.ok(blocks.some(({ language }) => language === each), each);
  });
  let before = new Map<string, string>();
  for (const block of blocks) {
    const { kind = "", name = "", steps = [] } = block.run ?? {};
    if (kind === "file") before.set(name, block.text);
    if (kind === "file" || kind === "") continue;
    const files = homeOf(block, before);
    const skip = block.language === "python" && !PYTHON && "there is no python3 on PATH";
    test(
      `${block.where}: the ${block.language} example ${name} does as stated`,
      { skip },
      async () => {
        assert.ok(steps.length > 0, "nothing is stated");
        await runBlock(block, files);
      },
    );
    before = new Map();
  }
}
