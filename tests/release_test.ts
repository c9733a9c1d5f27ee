import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import test from "node:test";
import { packageOf } from "../scripts/build.ts";
import { licenceIn, sbom } from "../scripts/release_sbom.ts";
import { signatureFault, signed } from "../scripts/release_sign.ts";
import { fileName, TARGETS } from "../scripts/release_targets.ts";
import { typeOf } from "../scripts/release_type.ts";

const root = new URL("../", import.meta.url).pathname;
const lock = readFileSync(`${root}deno.lock`, "utf8");
const runtimes = readFileSync(`${root}scripts/release_runtimes/bun.lock`, "utf8");
const bundled = [
  "hono@4.13.19",
  "prom-client@15.1.3",
  "tdigest@0.1.3",
  "yaml",
  "yaml@2.9.1",
  "zod",
];
const input = { version: "9.9.9", bundled, lock, runtimes, licenceOf: licenceIn(root) };

interface Component {
  readonly name: string;
  readonly purl: string;
  readonly hashes: readonly { readonly content: string }[];
  readonly licenses: unknown;
}

test("the bill of materials names what is bundled once, and nothing else", () => {
  const { bomFormat, specVersion, serialNumber, components, dependencies } = JSON.parse(
    sbom(input),
  );
  assert.deepEqual([bomFormat, specVersion], ["CycloneDX", "1.5"]);
  assert.match(
    serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const names = components.map(({ name }: Component) => name);
  const libraries = names.filter((name: string) => !name.startsWith("@oven/"));
  assert.deepEqual(libraries, ["hono", "prom-client", "tdigest", "yaml", "zod"]);
  for (const { runtime } of TARGETS) assert.ok(names.includes(runtime), runtime);
  const zod = components.find(({ name }: Component) => name === "zod");
  assert.match(zod.purl, /^pkg:npm\/zod@[0-9.]+$/);
  assert.deepEqual(zod.licenses, [{ expression: "MIT" }]);
  for (const { name, hashes } of components as Component[]) {
    assert.match(hashes[0]!.content, /^[0-9a-f]{128}$/, name);
  }
  const metrics = dependencies.find(({ ref }: { ref: string }) => ref.includes("prom-client"));
  assert.deepEqual(metrics.dependsOn, ["pkg:npm/tdigest@0.1.3"]);
});

test("something bundled that no lock file pins is an error", () => {
  assert.throws(() => sbom({ ...input, bundled: ["left-pad@1.0.0"] }), /"left-pad@1\.0\.0"/);
});

test("a bundled file tells its package", () => {
  const table: [string, string | undefined][] = [
    ["node_modules/.deno/hono@4.13.19/node_modules/hono/dist/index.js", "hono@4.13.19"],
    [
      "../x/node_modules/.deno/@a+b@1.0.0_c@2.0.0/node_modules/@a/b/index.js",
      "@a/b@1.0.0",
    ],
    ["node_modules/yaml/browser/dist/index.js", "yaml"],
    ["lib/cli/main.ts", undefined],
    ["bullmq:msgpackr-extract", undefined],
  ];
  for (const [file, name] of table) assert.equal(packageOf(file), name, file);
});

test("it is the same for the same input, and another for another", () => {
  assert.equal(sbom(input), sbom(input));
  assert.notEqual(sbom(input), sbom({ ...input, version: "9.9.8" }));
});

test("every target has a file name of its own, as the install script asks for it", () => {
  const names = TARGETS.map(fileName);
  assert.equal(new Set(names).size, names.length);
  const script = readFileSync(`${root}scripts/install.sh`, "utf8");
  assert.match(script, /hermes-hooks-%s-%s%s/);
  for (const name of names) {
    assert.match(name, /^hermes-hooks-(?:linux|macos|windows)-(?:x64|arm64)/);
  }
});

test("the runtimes are pinned to the version that builds", () => {
  const { dependencies } = JSON.parse(
    readFileSync(`${root}scripts/release_runtimes/package.json`, "utf8"),
  );
  const [, pinned] = /^bun_version=(.*)$/m.exec(readFileSync(`${root}scripts/bootstrap`, "utf8"))!;
  assert.deepEqual(new Set(Object.values(dependencies)), new Set([pinned]));
  for (const { runtime } of TARGETS) assert.ok(runtime in dependencies, runtime);
});

test("a program's kind is told by its first bytes", () => {
  const elf = (machine: number, rest: string) => {
    const head = Buffer.alloc(512);
    head.write("\x7fELF", "latin1");
    head.writeUInt16LE(machine, 18);
    head.write(rest, 64, "latin1");
    return head;
  };
  const mach = Buffer.alloc(64);
  mach.writeUInt32LE(0xfeedfacf, 0);
  mach.writeUInt32LE(0x0100000c, 4);
  const pe = Buffer.alloc(512);
  pe.write("MZ", "latin1");
  pe.writeUInt32LE(128, 0x3c);
  pe.write("PE\0\0", 128, "latin1");
  pe.writeUInt16LE(0x8664, 132);
  const table: [Buffer, string][] = [
    [elf(62, "/lib64/ld-linux-x86-64.so.2\0"), "ELF x64 glibc"],
    [elf(62, "/lib/ld-musl-x86_64.so.1\0"), "ELF x64 musl"],
    [elf(183, "/lib/ld-linux-aarch64.so.1\0"), "ELF arm64 glibc"],
    [elf(40, ""), "ELF unknown static"],
    [mach, "Mach-O arm64"],
    [pe, "PE x64"],
    [Buffer.from("#!/bin/sh\n".padEnd(64)), "unknown"],
    [Buffer.from("MZ".padEnd(64, "\xff"), "latin1"), "unknown"],
  ];
  for (const [head, type] of table) assert.equal(typeOf(head), type);
});

/** A Mach-O program of some pages, with room for a signature and another's left in it. */
function program(): Buffer {
  const limit = 3 * 4096 + 100;
  const bytes = Buffer.alloc(limit + 64, 7);
  bytes.fill(0, 0, 512);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(3, 16);
  for (const [at, name, from, size] of [[32, "__TEXT", 0, 4096], [104, "__LINKEDIT", 4096, 0]]) {
    bytes.writeUInt32LE(0x19, Number(at));
    bytes.writeUInt32LE(72, Number(at) + 4);
    bytes.write(String(name), Number(at) + 8, "latin1");
    bytes.writeBigUInt64LE(BigInt(from!), Number(at) + 40);
    bytes.writeBigUInt64LE(BigInt(size || bytes.length - 4096), Number(at) + 48);
  }
  bytes.set([0x1d, 0, 0, 0, 16], 176);
  bytes.writeUInt32LE(limit, 184);
  bytes.writeUInt32LE(64, 188);
  return bytes;
}

test("a signed program's every page is as it was signed; one changed byte anywhere is a fault", () => {
  assert.match(signatureFault(program())!, /no signature/);
  const good = signed(program(), "hermes-hooks");
  assert.equal(signatureFault(good), undefined);
  assert.deepEqual(signed(good, "hermes-hooks"), good);
  for (const at of [300, 4096, 2 * 4096 + 5, 3 * 4096 + 99]) {
    const changed = Buffer.from(good);
    changed[at]! ^= 1;
    assert.match(signatureFault(changed)!, new RegExp(`page ${Math.floor(at / 4096)} `));
  }
});

test("a program that goes on after its signature is not signed", () => {
  const longer = Buffer.concat([program(), Buffer.alloc(8)]);
  assert.throws(() => signed(longer, "x"), /does not end with its signature/);
});
