/** The runtimes at hand, so that one test covers what differs between them. */

import { execFileSync, spawn } from "node:child_process";
import process from "node:process";

/** The words that start a TypeScript program, for each runtime that is installed. */
export function runtimes(): string[][] {
  const current = process.versions.bun === undefined
    ? [process.execPath, "run", "-A", "--quiet"]
    : [process.execPath];
  const other = process.versions.bun === undefined ? ["bun"] : ["deno", "run", "-A", "--quiet"];
  return answers(other[0]!) ? [current, other] : [current];
}

/** Can the program be started? */
export function answers(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A finished process. */
export interface Finished {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a program; resolves when it has exited and its output is read. */
export function run(words: readonly string[], input = ""): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(words[0]!, words.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "", stderr = "";
    child.stdout.on("data", (data) => stdout += data);
    child.stderr.on("data", (data) => stderr += data);
    child.on("error", reject);
    child.on("close", (exit) => resolve({ exit, stdout, stderr }));
    child.stdin.end(input);
  });
}
