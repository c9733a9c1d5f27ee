/** What a host is started with. */
import { isAbsolute } from "node:path";
import type { SelfCommand } from "../../platform/self.ts";
import type { HostRequest } from "../../platform/spawn_host.ts";
import { DEFAULT_PATH, isProgram } from "../shell/program/lookup.ts";
import type { HostSpec } from "./host.ts";

/** The command, or why there is none. */
export type HostCommand =
  | { readonly ok: true; readonly request: HostRequest }
  | { readonly ok: false; readonly error: string };

/** Finds what hosts this: ourselves, or the `python3` of its PATH. */
export async function hostCommand(spec: HostSpec, self: SelfCommand): Promise<HostCommand> {
  const { cwd, env } = spec;
  if (spec.language === "script") {
    // The label is for whoever looks at the list of processes.
    const args = [...self.args, "host", spec.label];
    const clean = withoutRelative(env, "NODE_PATH");
    return { ok: true, request: { file: self.file, args, cwd, env: clean } };
  }
  const file = findPython(env["PATH"] ?? DEFAULT_PATH);
  if (!file) {
    const error = "python3 not found on PATH: install Python 3, or take this one out";
    return { ok: false, error };
  }
  const { default: program } = await import("./python_program.py", { with: { type: "text" } });
  // Given as text: no file of ours lies where a hook could change it.
  const args = ["-u", "-c", program, spec.label];
  return { ok: true, request: { file, args, cwd, env: withoutRelative(env, "PYTHONPATH") } };
}

/**
 * The environment without what leads from a list of folders to the one we start in (rule 1.3b): an
 * empty entry of PYTHONPATH would put its modules before all others, and before our own program.
 */
function withoutRelative(env: HostSpec["env"], name: string): HostSpec["env"] {
  const { [name]: folders, ...rest } = env;
  const kept = folders?.split(":").filter((folder) => isAbsolute(folder)) ?? [];
  return kept.length === 0 ? rest : { ...rest, [name]: kept.join(":") };
}

/** Relative entries are left out: the folder we start in is not to be trusted (rule 1.3b). */
function findPython(path: string): string | undefined {
  for (const entry of path.split(":")) {
    const file = `${entry}/python3`;
    if (isAbsolute(entry) && isProgram(file)) return file;
  }
  return undefined;
}
