/** A host of a plugin or gateway hook written down for one test. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fromJs, type Json, toJs } from "../../lib/events/json.ts";
import type { SelfCommand } from "../../lib/platform/self.ts";
import { createHost } from "../../lib/sources/host/create.ts";
import type { CallResult, Host, HostSpec } from "../../lib/sources/host/host.ts";

/** How a test starts our own program. */
export const SELF: SelfCommand = {
  file: process.execPath,
  args: [
    ..."Deno" in globalThis ? ["run", "-A"] : [],
    path.join(import.meta.dirname!, "../../main.ts"),
  ],
};

/** Where `python3` is; undefined: nowhere, and tests that need it are skipped. */
export const PYTHON: string | undefined = (process.env["PATH"] ?? "").split(":")
  .map((entry) => path.join(entry, "python3")).find((file) => fs.existsSync(file));

/** One test's host and what it logged. */
export interface Hosted extends Host {
  readonly log: { line: string; level: string }[];
  /** The log's lines, one text. */
  said(): string;
  /** As {@link Host.call}, from and to plain values; the plugin's event does not matter. */
  ask(callback: number, fields?: object, timeoutMs?: number, event?: string): Promise<Asked>;
}

/** A {@link CallResult} with a plain value. */
export type Asked =
  & { kind: CallResult["kind"]; error?: string; afterMs?: number }
  & { value?: unknown };

/** Runs a test with a host of these files, and closes it. */
export async function withHost(
  files: Readonly<Record<string, string>>,
  run: (host: Hosted) => Promise<void>,
  spec: Partial<HostSpec> = {},
): Promise<void> {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-host-")));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  const file = path.join(folder, Object.keys(files)[0]!);
  const host = hosted({
    language: file.endsWith(".py") ? "python" : "script",
    mode: "plugin",
    label: 'plugin "guard"',
    file,
    folder,
    env: { PATH: process.env["PATH"] ?? "", HERMES_HOME: "/home/of/hermes" },
    cwd: folder,
    memoryMb: 512,
    ...spec,
  });
  try {
    await run(host);
  } finally {
    await host.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function hosted(spec: HostSpec): Hosted {
  const log: { line: string; level: string }[] = [];
  const host = createHost(spec, {
    self: SELF,
    log: (line, level) => void log.push({ line, level }),
  });
  return {
    spec,
    log,
    load: () => host.load(),
    call: (...given) => host.call(...given),
    close: () => host.close(),
    said: () => log.map(({ line }) => line).join("\n"),
    ask: async (callback, fields = {}, timeoutMs = 20_000, event = "pre_tool_call") => {
      const result = await host.call(callback, event, fromJs(fields), timeoutMs);
      return result.kind === "returned" ? { ...result, value: plain(result.value) } : result;
    },
  };
}

function plain(value: Json): unknown {
  return JSON.parse(JSON.stringify(toJs(value)));
}

/** Waits until it is so. */
export async function until(isSo: () => boolean, ms = 4_000): Promise<void> {
  const end = performance.now() + ms;
  while (!isSo()) {
    if (performance.now() > end) throw new Error("it never came to be so");
    await new Promise((resume) => setTimeout(resume, 10));
  }
}

/** Does the process run? A zombie does not. */
export function runs(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
