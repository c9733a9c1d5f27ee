/**
 * Runs every sh block of the README and of the guides. The blocks of a page run in order in one
 * shell, in a home folder of their own, as a reader would paste them: on a terminal, where nobody
 * answers. Each has to end with exit 0.
 * A `text` block right after one is all that it prints, stdout and stderr in one, with `…` for
 * anything. `<!-- not run: REASON -->` before a block leaves it out.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { type Block, blocksOf, ROOT } from "./programs/doc_blocks.ts";
import { ENV } from "./programs/plugin_home.ts";
import { putOnPath } from "./programs/self_script.ts";

/** The pages, and how many of their blocks cannot be run here. */
const PAGES: ReadonlyMap<string, number> = new Map([
  ["README.md", 2], // the build, and what takes minutes
  ["docs/tutorial.md", 1], // the build
  ["docs/coming-from.md", 0],
]);
const END = "---- end of block";
/** The `script` of util-linux makes a terminal; that of other systems takes other options. */
const HAS_TERMINAL = process.platform === "linux" &&
  ENV.PATH.split(":").some((folder) => fs.existsSync(path.join(folder, "script")));
const TARGETS = ["linux-x64", "linux-x64-baseline", "linux-x64-musl", "linux-arm64"];
const RELEASED = [...TARGETS, "linux-arm64-musl", "macos-x64", "macos-arm64"];

/** One sh block. */
interface Shown {
  readonly block: Block;
  /** All it prints; absent: nothing is said about that. */
  readonly prints?: string;
}

/** What came of one. */
interface Ran {
  readonly exit: number;
  readonly printed: string;
}

function shownOn(page: string): Shown[] {
  return blocksOf(page).flatMap((block, at, all) => {
    if (block.language !== "sh") return [];
    const next = all[at + 1];
    return [{ block, ...(next?.language === "text" && { prints: next.text }) }];
  });
}

/** A release as install.sh takes it, with ourselves in the place of each file. */
function layRelease(folder: string): void {
  const sums = RELEASED.map((target) => {
    const file = path.join(folder, `hermes-hooks-${target}`);
    putOnPath(file);
    const sum = createHash("sha256").update(fs.readFileSync(file)).digest("hex");
    return `${sum}  ${path.basename(file)}\n`;
  });
  fs.writeFileSync(path.join(folder, "SHA256SUMS"), sums.join(""));
  fs.copyFileSync(path.join(ROOT, "scripts/install.sh"), path.join(folder, "install.sh"));
}

/** One script of all blocks; each is a file of its own, so that it is read as it stands. */
function scriptOf(shown: readonly Shown[], home: string): string {
  const lines = shown.map(({ block }, at) => {
    fs.writeFileSync(path.join(home, `${at}.sh`), block.text);
    return `. '${home}/${at}.sh'\nprintf '\\n%s %s\\n' '${END}' $?\n`;
  });
  // What a block left running ends here. By way of a file: dash knows no jobs in a substitution.
  return `${lines.join("")}jobs -p > jobs\nkill $(cat jobs) 2>/dev/null\nwait\n`;
}

/** Runs the blocks in one shell. A block the shell did not get to the end of has no entry. */
async function runAll(shown: readonly Shown[], home: string, bin: string): Promise<Ran[]> {
  fs.writeFileSync(path.join(home, "page.sh"), scriptOf(shown, home));
  const output = fs.openSync(path.join(home, "output"), "a+");
  const command = ["sh", path.join(home, "page.sh")];
  // A question that a reader would be asked is printed here too.
  const [program = "", ...args] = HAS_TERMINAL
    ? ["script", "-qec", command.join(" "), "/dev/null"]
    : command;
  const shell = spawn(program, args, {
    cwd: path.join(home, "release"),
    env: { PATH: `${bin}:${ENV.PATH}`, HOME: home, TMPDIR: home, NO_COLOR: "1" },
    // No pipes: what is left running would keep them open.
    stdio: ["ignore", output, output],
    detached: true,
  });
  const late = setTimeout(() => process.kill(-shell.pid!, "SIGKILL"), 50_000);
  await once(shell, "exit");
  clearTimeout(late);
  fs.closeSync(output);
  const text = fs.readFileSync(path.join(home, "output"), "utf8").replaceAll("\r\n", "\n");
  const parts = text.matchAll(new RegExp(`([^]*?)\\n${END} (\\d+)\\n`, "g"));
  return [...parts].map(([, printed = "", exit]) => ({ exit: Number(exit), printed }));
}

/** Is this the text, where `…` stands for anything? */
function fits(printed: string, stated: string): boolean {
  const quoted = stated.trim().split("…").map((part) =>
    part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  );
  return new RegExp(`^${quoted.join("[^]*?")}$`).test(printed.trim());
}

async function inFolder(run: (home: string) => Promise<void>): Promise<void> {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-docs-")));
  try {
    layRelease(path.join(home, "release"));
    await run(home);
  } finally {
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

for (const [page, notRun] of PAGES) {
  const shown = shownOn(page);
  const run = shown.filter(({ block }) => block.notRun === undefined);

  test(`no more blocks of ${page} are left out than are known, each with its reason`, () => {
    const left = shown.filter(({ block }) => block.notRun !== undefined);
    assert.equal(left.length, notRun, left.map(({ block }) => block.where).join(", "));
    assert.ok(left.every(({ block }) => block.notRun), "one has no reason");
  });

  test(`the sh blocks of ${page}, one after another, do and print what the page says`, async () => {
    assert.ok(run.length > 0, "there is none");
    await inFolder(async (home) => {
      // The tutorial has to put it on PATH itself.
      const bin = path.join(home, "bin");
      if (page !== "docs/tutorial.md") putOnPath(path.join(bin, "hermes-hooks"));
      const ran = await runAll(run, home, bin);
      for (const [at, { block: { where }, prints }] of run.entries()) {
        const { exit, printed } = ran[at] ?? assert.fail(`${where}: the shell ended in this block`);
        if (prints !== undefined) {
          assert.ok(fits(printed, prints), `${where} printed:\n${printed}\ninstead of:\n${prints}`);
        }
        assert.equal(exit, 0, `${where}: the exit of the last command, which printed:\n${printed}`);
      }
    });
  });
}

test("a text that differs from what was stated, or goes on after it, does not fit", () => {
  assert.ok(fits("a 12 ms\nb\n", "a … ms\nb\n"));
  assert.ok(!fits("a 12 ms\nc\n", "a … ms\nb\n"));
  assert.ok(!fits("a 12 ms\nb\nc\n", "a … ms\nb\n"));
});
