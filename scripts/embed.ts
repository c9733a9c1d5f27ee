/**
 * Writes lib/ready/files.ts: the imports by which the files of hooks/ come into the executable.
 * Run it when a file of hooks/ was added, renamed or removed:
 *
 *   deno run -A scripts/embed.ts      (or: bun scripts/embed.ts)
 */
import fs from "node:fs";
import path from "node:path";
import process from "node:process";

/** Every file below a folder, by its path from there, in order; hidden ones left out. */
function filesBelow(folder: string, from = ""): string[] {
  if (!fs.existsSync(path.join(folder, from))) return [];
  const entries = fs.readdirSync(path.join(folder, from), { withFileTypes: true })
    .filter(({ name }) =>
      !name.startsWith(".") && name !== "__pycache__" && name !== "node_modules"
    )
    .sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap((entry) => {
    const file = path.posix.join(from, entry.name);
    return entry.isDirectory() ? filesBelow(folder, file) : [file];
  });
}

const quoted = (text: string) => JSON.stringify(text);
const key = (text: string) => /^[A-Za-z_$][\w$]*$/.test(text) ? text : quoted(text);

/**
 * The text of lib/ready/files.ts for the project at `root`: one import for each
 * `hooks/<name>.sh` and each file of `hooks/gateway/<name>/`.
 */
export function embedded(root: string): string {
  const imports: string[] = [];
  const imported = (file: string) => {
    const name = `file${imports.length}`;
    imports.push(`import ${name} from ${quoted(`../../hooks/${file}`)} with { type: "text" };`);
    return name;
  };
  const shell = filesBelow(path.join(root, "hooks"))
    .filter((file) => /^[\w-]+\.sh$/.test(file))
    .map((file) => `  ${key(file.slice(0, -3))}: ${imported(file)},`);
  const gateway = new Map<string, string[]>();
  for (const file of filesBelow(path.join(root, "hooks", "gateway"))) {
    const [name = "", ...rest] = file.split("/");
    if (rest.length === 0) continue;
    const line = `    ${key(rest.join("/"))}: ${imported(`gateway/${file}`)},`;
    gateway.set(name, [...gateway.get(name) ?? [], line]);
  }
  const folders = [...gateway].flatMap(([name, lines]) => [`  ${key(name)}: {`, ...lines, "  },"]);
  return [
    "/** The ready-made hooks, as they stand in hooks/. Written by scripts/embed.ts: do not edit. */",
    ...imports,
    "",
    "/** The text of `hooks/<name>.sh`, by name. */",
    "export const SHELL_FILES: Readonly<Record<string, string>> = {",
    ...shell,
    "};",
    "",
    "/** The texts of the files of `hooks/gateway/<name>/`, by name, then by path in that folder. */",
    "export const GATEWAY_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {",
    ...folders,
    "};",
    "",
  ].join("\n").replace("= {\n};", "= {};");
}

if (import.meta.main) {
  const root = path.dirname(import.meta.dirname!);
  const file = path.join(root, "lib", "ready", "files.ts");
  fs.writeFileSync(file, embedded(root));
  process.stdout.write(`wrote ${path.relative(root, file)}\n`);
}
