/** Homes with plugins, and stand-ins for hosts, for the tests of plugins. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { readYaml } from "../../lib/config/yaml.ts";
import { readSettings } from "../../lib/config/settings.ts";
import type { PluginSettings } from "../../lib/config/plugin_settings.ts";
import { type Json, parseJson } from "../../lib/events/json.ts";
import type { Call } from "../../lib/sources/hook.ts";
import type { CallResult, Host, HostSpec, Loaded } from "../../lib/sources/host/host.ts";

/** What the tests' plugins and hooks find in their environment. */
export const ENV = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

/** Makes a home of these files, runs the test, and takes it away; `plugins` are enabled. */
export async function inHome(
  files: Readonly<Record<string, string>>,
  run: (home: string) => Promise<void> | void,
): Promise<void> {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "plugin-home-")));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(home, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
  }
  try {
    await run(home);
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

/** The files of one plugin. */
export function plugin(
  name: string,
  code: string,
  options: { readonly file?: string; readonly yaml?: string } = {},
): Record<string, string> {
  const { file = "plugin.ts", yaml = `name: ${name}\n` } = options;
  return { [`plugins/${name}/plugin.yaml`]: yaml, [`plugins/${name}/${file}`]: code };
}

/** A config that enables these, with more lines of the `plugins` block. */
export function enabling(names: readonly string[], more = ""): Record<string, string> {
  const lines = more.split("\n").filter(Boolean).map((line) => `  ${line}\n`).join("");
  return { "config.yaml": `plugins:\n  enabled: [${names.join(", ")}]\n${lines}` };
}

/** The settings of a config. */
export function settingsOf(yaml = ""): PluginSettings {
  return readSettings(yaml ? readYaml(yaml, "config.yaml").root : undefined, "config.yaml").plugins;
}

/** A call with these fields, as JSON. */
export function callOf(event: string, fields = "{}"): Call {
  const bare = parseJson(fields) as Map<string, Json>;
  return { event, fields: bare, wire: new Map(), text: "", cwd: "/" };
}

/** A host that answers as it is told. */
export function fakeHost(
  spec: HostSpec,
  loaded: Loaded,
  answer: (callback: number, fields: Json, timeoutMs: number) => CallResult = () => ({
    kind: "returned",
    value: null,
  }),
): Host & { closed: boolean; loads: number } {
  return {
    spec,
    closed: false,
    loads: 0,
    load() {
      this.loads++;
      return Promise.resolve(loaded);
    },
    call: (callback, _, fields, timeoutMs) => Promise.resolve(answer(callback, fields, timeoutMs)),
    close() {
      this.closed = true;
      return Promise.resolve();
    },
  };
}

/** A load that went well, with these callbacks. */
export function registered(events: readonly string[], more: Partial<Loaded> = {}): Loaded {
  const callbacks = events.map((event, id) => ({ id, event }));
  return { ok: true, callbacks, sections: [], warnings: [], ...more } as Loaded;
}
