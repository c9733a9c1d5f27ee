/**
 * Builds every downloadable file; `scripts/release` calls it under Bun.
 *
 *   bun scripts/release.ts [--check] [FOLDER]
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { licenceIn, sbom } from "./release_sbom.ts";
import { signatureFault, signed } from "./release_sign.ts";
import { fileName, type Target, TARGETS } from "./release_targets.ts";
import { fileType } from "./release_type.ts";

const root = path.dirname(import.meta.dirname!);
/** What one file may weigh, in bytes. */
const MOST_BYTES = 120_000_000;
const NATIVE = ["linux-x64", "linux-x64-baseline"];
/** What a build reads. */
const SOURCES = ["main.ts", "deno.json", "lib", "hooks", "scripts", "node_modules"];

const check = process.argv.includes("--check");
const [out = path.join(root, "dist", "release")] = process.argv.slice(2)
  .filter((word) => !word.startsWith("--"));
const folder = path.resolve(out);

const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

function fail(message: string): never {
  console.error(`release: ${message}`);
  process.exit(1);
}

/** Builds one file from the sources in `from`, and returns the packages that are in it. */
async function build(target: Target, from: string, file: string): Promise<readonly string[]> {
  const suffix = path.extname(fileName(target));
  const modules = path.join(root, ".toolchain/runtimes/node_modules");
  const runtime = path.join(modules, target.runtime, "bin", `bun${suffix}`);
  if (!existsSync(runtime)) fail(`no runtime for ${target.name}: ${runtime}`);
  // Always under one name, which goes into the bytes; then moved.
  const made = path.join(path.dirname(file), ".building", `hermes-hooks${suffix}`);
  mkdirSync(path.dirname(made), { recursive: true });
  const { compile } = await import(
    pathToFileURL(path.join(from, "scripts/build.ts")).href
  ) as typeof import("./build.ts");
  const packages = await compile({
    outfile: made,
    target: { name: target.bun, runtime },
    bytecode: target.startable,
  });
  if (target.type === "Mach-O x64") {
    writeFileSync(made, signed(readFileSync(made), "hermes-hooks"));
  }
  chmodSync(made, 0o755);
  renameSync(made, file);
  rmSync(path.dirname(made), { recursive: true });
  return packages;
}

/** Ends the release when a file is not what its name says. */
function inspect(target: Target, from: string, file: string): void {
  const bytes = readFileSync(file), type = fileType(file);
  const size = `${(bytes.length / 1e6).toFixed(1)} MB`;
  console.log(`${path.basename(file).padEnd(32)} ${size.padStart(9)}  ${type}`);
  if (type !== target.type) fail(`${target.name} is ${type}, not ${target.type}`);
  if (bytes.length > MOST_BYTES) fail(`${target.name} is over ${MOST_BYTES / 1e6} MB`);
  // A path of the machine that builds would make another machine's build another file, and a
  // program that looks there would look in a folder anybody may make.
  if (bytes.includes(path.join(from, "node_modules"))) fail(`${target.name} holds a path: ${from}`);
  const fault = type.startsWith("Mach-O") ? signatureFault(bytes) : undefined;
  if (fault !== undefined) fail(`${target.name}: ${fault}`);
}

/** Builds everything from the sources in `from`. */
async function buildAll(from: string, into: string): Promise<void> {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  const bundled = new Set<string>();
  for (const target of TARGETS) {
    const file = path.join(into, fileName(target));
    for (const name of await build(target, from, file)) bundled.add(name);
    inspect(target, from, file);
  }
  const text = (file: string) => readFileSync(path.join(root, file), "utf8");
  const { version } = JSON.parse(text("deno.json"));
  writeFileSync(
    path.join(into, "hermes-hooks.cdx.json"),
    sbom({
      version,
      bundled: [...bundled],
      lock: text("deno.lock"),
      runtimes: text("scripts/release_runtimes/bun.lock"),
      licenceOf: licenceIn(root),
    }),
  );
  writeFileSync(path.join(into, "VERSION"), `${version}\n`);
  copyFileSync(path.join(root, "scripts/install.sh"), path.join(into, "install.sh"));
  const names = [...TARGETS.map(fileName), "hermes-hooks.cdx.json", "VERSION", "install.sh"];
  const sums = names.map((name) => `${sha256(path.join(into, name))}  ${name}\n`);
  writeFileSync(path.join(into, "SHA256SUMS"), sums.join(""));
}

/** Starts what this machine can start, and runs a part of the black-box cases on it. */
function start(): void {
  const cases = ["decisions", "exec", "cli"].map((name) =>
    path.join(root, "tests/conformance/cases", `${name}.json`)
  );
  for (const name of NATIVE) {
    const target = TARGETS.find((each) => each.name === name)!;
    const file = path.join(folder, fileName(target));
    const runner = path.join(root, "tests/conformance/run.mjs");
    const { status, stdout } = spawnSync(process.execPath, [runner, file, ...cases]);
    const last = String(stdout).trim().split("\n").at(-1);
    console.log(`${name}: started, ${last}`);
    if (status !== 0) fail(`${name} fails cases`);
  }
}

/** Builds once more from a copy of the sources in another folder, and compares. */
async function buildAgain(): Promise<void> {
  const work = mkdtempSync(path.join(tmpdir(), "hermes-hooks-release-"));
  try {
    const copy = path.join(work, "another", "folder"), again = path.join(work, "release");
    for (const name of SOURCES) {
      cpSync(path.join(root, name), path.join(copy, name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
    await buildAll(copy, again);
    const sums = (of: string) => readFileSync(path.join(of, "SHA256SUMS"), "utf8");
    if (sums(folder) !== sums(again)) {
      throw new Error("a build of the same sources in another folder differs");
    }
    console.log("a second build, in another folder, is the same, byte for byte");
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  await buildAll(root, folder);
  if (check) {
    if (process.platform === "linux" && process.arch === "x64") start();
    await buildAgain();
  }
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
