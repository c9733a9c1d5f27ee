/** Starts a host for each file named, tells their processes' ids, and stays or ends. */
import process from "node:process";
import path from "node:path";
import { createHost } from "../../lib/sources/host/create.ts";
import { fromJs, writeJson } from "../../lib/events/json.ts";

const [stay, ...files] = process.argv.slice(2);
const main = path.join(import.meta.dirname!, "../../main.ts");
const self = {
  file: process.execPath,
  args: "Deno" in globalThis ? ["run", "-A", main] : [main],
};
const pids = await Promise.all(files.map(async (file) => {
  const host = createHost({
    language: file.endsWith(".py") ? "python" : "script",
    mode: "plugin",
    label: 'plugin "guard"',
    file,
    folder: path.dirname(file),
    env: { PATH: process.env["PATH"] ?? "" },
    cwd: path.dirname(file),
    memoryMb: 512,
  }, { self, log: () => {} });
  await host.load();
  const result = await host.call(0, "pre_tool_call", fromJs({}), 10_000);
  // Busy for ever, as far as it can be.
  host.call(1, "pre_tool_call", fromJs({}), stay === "stay" ? 0 : 100);
  return result.kind === "returned" ? writeJson(result.value) : "?";
}));
console.log(pids.join(" "));
if (stay === "stay") setInterval(() => {}, 1000);
