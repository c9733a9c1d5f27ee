/** How to start this very program once more: the same executable, script and runtime flags. */
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** A program with the words that come before our own arguments. */
export interface SelfCommand {
  /** Absolute. */
  readonly file: string;
  /** Runtime flags and the script, absolute; empty for a compiled program. */
  readonly args: readonly string[];
}

interface DenoRuntime {
  readonly mainModule: string;
  readonly build: { readonly standalone?: boolean };
}

/** The command that started us, without our arguments. */
export function selfCommand(): SelfCommand {
  const file = process.execPath;
  const [script = ""] = process.argv.slice(1, 2);
  if (isCompiled(script)) return { file, args: [] };
  const words = startedWith();
  const own = process.argv.length - 2;
  if (words && words.length >= own + 2) {
    // The last word before our arguments is the script, perhaps relative to a folder long left.
    return { file, args: [...words.slice(1, words.length - own - 1), script] };
  }
  const run = "Deno" in globalThis ? ["run", "-A"] : [];
  return { file, args: [...run, ...process.execArgv, script] };
}

/**
 * How an embedding program starts ours: in its own runtime, from the file beside this library.
 * @param main our `main.ts`, as a URL
 * @returns undefined where there is no such file on disk, as in a compiled program
 */
export function beside(main: URL): SelfCommand | undefined {
  if (main.protocol !== "file:") return undefined;
  const script = fileURLToPath(main);
  if (!existsSync(script) || isCompiled(script)) return undefined;
  return {
    file: process.execPath,
    args: ["Deno" in globalThis ? ["run", "-A"] : [], script].flat(),
  };
}

function isCompiled(script: string): boolean {
  const deno = (globalThis as { Deno?: DenoRuntime }).Deno;
  if (deno) return deno.build.standalone === true;
  // Where Bun keeps the files of a compiled program.
  return script.startsWith("/$bunfs/") || /^[A-Z]:[\\/]~BUN[\\/]/i.test(script);
}

/** The command line as the system has it, runtime flags and all; undefined where it does not tell. */
function startedWith(): string[] | undefined {
  try {
    return readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(0, -1);
  } catch {
    return undefined;
  }
}
