/**
 * Compiles the one executable; `scripts/build` calls it under Bun, `scripts/release` for each target.
 *
 *   bun scripts/build.ts [OUTFILE]
 */
import path from "node:path";
import process from "node:process";

/** What to compile. */
export interface Compilation {
  /** Its name, without folders, goes into the bytes: the same again only under the same name. */
  readonly outfile: string;
  /** Another machine than this: Bun's name of it, and the file of its runtime. */
  readonly target?: { readonly name: string; readonly runtime: string };
  /** Precompiled code, for a faster start. Default true. */
  readonly bytecode?: boolean;
}

/** What is used of Bun's bundler. */
interface Bundler {
  build(options: object): Promise<{
    success: boolean;
    logs: unknown[];
    metafile?: { inputs: Record<string, unknown> };
  }>;
}
interface Plugin {
  onResolve(filter: { filter: RegExp }, resolve: () => { path: string; namespace?: string }): void;
  onLoad(
    filter: { filter: RegExp; namespace: string },
    load: () => { contents: string; loader: string; resolveDir?: string },
  ): void;
}

const root = path.dirname(import.meta.dirname!);
/** The folder that a compiled program sees itself in. */
const AT_RUN_TIME = "/$bunfs/root";

// Under the name "yaml" a bundler for servers finds CommonJS, all of it; the package's ES modules
// are cut down to what is used, which saves 2 ms of every start.
const yamlModules = {
  name: "yaml as ES modules",
  setup: (build: Plugin) =>
    build.onResolve({ filter: /^yaml$/ }, () => ({
      path: path.join(root, "node_modules/yaml/browser/dist/index.js"),
    })),
};

// BullMQ's index brings its PostgreSQL side, other drivers and job schedules along, which nothing
// here uses: without them the executable is smaller by megabytes.
const bullmq = path.join(root, "node_modules/bullmq/dist/esm/classes");
const bullmqModules = {
  name: "what is used of BullMQ",
  setup: (build: Plugin) => {
    const namespace = "bullmq";
    const parts = {
      "bullmq": ["job", "queue", "worker", "errors"]
        .map((name) => `export * from ${JSON.stringify(path.join(bullmq, name))};`).join("\n"),
      "cron-parser": "export const CronExpressionParser = undefined;",
      // A native addon, looked for in a folder of the machine that built this: whoever can make
      // that folder where this runs could have code of theirs loaded.
      "msgpackr-extract": "module.exports = null;",
    };
    for (const [name, contents] of Object.entries(parts)) {
      const filter = new RegExp(`^${name}$`);
      build.onResolve({ filter }, () => ({ path: name, namespace }));
      build.onLoad({ filter, namespace }, () => ({ contents, loader: "js", resolveDir: root }));
    }
  },
};

/**
 * Compiles, and returns the npm packages of which something is in the bytes: `name@version`, or the
 * bare name where the folder does not tell the version; sorted.
 * @throws Error with what the bundler said
 */
export async function compile(
  { outfile, target, bytecode = true }: Compilation,
): Promise<readonly string[]> {
  const { Bun: bundler } = globalThis as unknown as { Bun: Bundler };
  const file = path.resolve(outfile);
  // The bundler names its parts by their path from the working folder: always from the same one.
  process.chdir(root);
  const { success, logs, metafile } = await bundler.build({
    entrypoints: [path.join(root, "main.ts")],
    target: "bun",
    format: "esm",
    minify: true,
    metafile: true,
    bytecode,
    // What is imported on demand stays out of the cold start.
    splitting: true,
    plugins: [yamlModules, bullmqModules],
    // Else the folders of the machine that builds get into the bytes.
    define: { __dirname: JSON.stringify(AT_RUN_TIME), __filename: JSON.stringify(AT_RUN_TIME) },
    compile: {
      outfile: file,
      ...(target && { target: target.name, executablePath: target.runtime }),
      // rule 1.3b: a compiled program must not read .env and bunfig.toml of the folder it starts in
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (!success) throw new Error(logs.map(String).join("\n"));
  const packages = Object.keys(metafile?.inputs ?? {}).map(packageOf);
  return [...new Set(packages.filter((name) => name !== undefined))].sort();
}

/** The package that a bundled file is of; undefined: one of ours. */
export function packageOf(file: string): string | undefined {
  const name = /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
  if (name === undefined) return undefined;
  const version = /\bnode_modules\/\.deno\/@?[^/@]+@([^/_]+)[^/]*\/node_modules\//.exec(file)?.[1];
  return version === undefined ? name : `${name}@${version}`;
}

if (import.meta.main) {
  const [outfile = path.join(root, "dist", "hermes-hooks")] = process.argv.slice(2);
  try {
    await compile({ outfile });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
