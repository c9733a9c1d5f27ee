/** The bill of materials: what is in the executable, as CycloneDX 1.5. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";

interface Lock {
  readonly npm: Readonly<
    Record<string, { readonly integrity: string; readonly dependencies?: readonly string[] }>
  >;
}
interface BunLock {
  /** Name to `[name@version, registry, machine, integrity]`. */
  readonly packages: Readonly<Record<string, readonly [string, string, unknown, string]>>;
}

/** What it is made from. */
export interface SbomInput {
  readonly version: string;
  /** The packages that are in the bytes, as `compile` returns them. */
  readonly bundled: readonly string[];
  /** The text of `deno.lock`. */
  readonly lock: string;
  /** The text of `release_runtimes/bun.lock`. */
  readonly runtimes: string;
  /** The licence of a package, as its own manifest says; undefined: it does not. */
  readonly licenceOf: (name: string, version: string) => string | undefined;
}

/** `@scope/name@1.2.3` apart; what deno adds of peers is cut off. */
function parts(key: string): [string, string] {
  const at = key.indexOf("@", 1);
  return at < 0 ? [key, ""] : [key.slice(0, at), key.slice(at + 1).replace(/_.*$/, "")];
}

/** The lock file's key of a package. */
function keyOf({ npm }: Lock, wanted: string): string {
  const [name, version] = parts(wanted);
  const key = Object.keys(npm).find((key) => {
    const [is, has] = parts(key);
    return is === name && (version === "" || has === version);
  });
  if (key === undefined) throw new Error(`"${wanted}" is bundled, but not in deno.lock`);
  return key;
}

const purl = (name: string, version: string) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

function component(type: string, key: string, integrity: string, licence: string | undefined) {
  const [name, version] = parts(key);
  return {
    type,
    "bom-ref": purl(name, version),
    name,
    version,
    purl: purl(name, version),
    hashes: [{ alg: "SHA-512", content: hex(integrity.replace(/^sha512-/, "")) }],
    ...(licence !== undefined && { licenses: [{ expression: licence }] }),
  };
}

/**
 * The document; the same for the same input. It covers every file of a release: one runtime is in
 * each, the libraries are in all.
 * @throws Error when something is bundled that the lock file does not know
 */
export function sbom({ version, bundled, lock, runtimes, licenceOf }: SbomInput): string {
  const read = JSON.parse(lock) as Lock;
  const keys = [...new Set(bundled.map((name) => keyOf(read, name)))].sort();
  const libraries = keys.map((key) =>
    component("library", key, read.npm[key]!.integrity, licenceOf(...parts(key)))
  );
  // bun.lock is JSON with commas before closing brackets.
  const { packages } = JSON.parse(runtimes.replace(/,(?=\s*[}\]])/g, "")) as BunLock;
  const platforms = Object.values(packages).map(([key, , , integrity]) =>
    component("platform", key, integrity, "MIT")
  );
  const subject = {
    type: "application",
    "bom-ref": "hermes-hooks",
    name: "hermes-hooks",
    version,
    licenses: [{ expression: "MIT" }],
  };
  const components = [...platforms, ...libraries];
  const reference = (key: string) => purl(...parts(key));
  const dependencies = keys.map((key) => ({
    ref: reference(key),
    dependsOn: (read.npm[key]!.dependencies ?? []).map((name) => keyOf(read, name))
      .filter((each) => keys.includes(each)).map(reference),
  }));
  const body = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: subject },
    components,
    dependencies: [
      { ref: "hermes-hooks", dependsOn: components.map((each) => each["bom-ref"]) },
      ...dependencies,
    ],
  };
  return JSON.stringify({ ...body, serialNumber: serial(JSON.stringify(body)) }, null, 2) + "\n";
}

const hex = (base64: string) =>
  [...atob(base64)].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("");

/** A UUID of the content: a random one would make no build the same as another. */
function serial(text: string): string {
  const digits = createHash("sha256").update(text).digest("hex").slice(0, 32).split("");
  digits[12] = "8";
  digits[16] = "8";
  const uuid = digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return `urn:uuid:${uuid}`;
}

/** A package's licence from its manifest in `node_modules`. */
export function licenceIn(root: string) {
  return (name: string, version: string): string | undefined => {
    const folders = [
      path.join(root, "node_modules", name),
      path.join(
        root,
        "node_modules/.deno",
        `${name.replace("/", "+")}@${version}`,
        "node_modules",
        name,
      ),
    ];
    for (const folder of folders) {
      try {
        const { license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
        if (typeof license === "string") return license;
      } catch {
        // Not there: the next place.
      }
    }
    return undefined;
  };
}
