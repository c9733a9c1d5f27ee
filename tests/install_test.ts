/** `scripts/install.sh`, with a small script in the place of the program. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";

const SCRIPT = path.join(import.meta.dirname!, "..", "scripts", "install.sh");
const PROGRAM = "#!/bin/sh\necho hermes-hooks 1.2.3\n";
const SHELLS = ["sh", "dash", "busybox sh"].filter((shell) =>
  spawnSync(shell.split(" ")[0]!, ["-c", ":"]).status !== null &&
  spawnSync("sh", ["-c", `${shell} -c :`]).status === 0
);

interface Machine {
  readonly folder: string;
  readonly release: string;
  readonly bin: string;
  readonly system: string;
  readonly env: Record<string, string>;
}

/** A release and a machine to install it on: which system, processor, and files. */
function machine(
  { uname = ["Linux", "x86_64"], files = ["proc/cpuinfo:avx2", "lib64/ld-linux-x86-64.so.2:"] } =
    {},
  names = ["linux-x64", "linux-x64-baseline", "linux-x64-musl", "macos-arm64"],
): Machine {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "install-"));
  const release = path.join(folder, "release"), fake = path.join(folder, "fake");
  fs.mkdirSync(release);
  fs.mkdirSync(fake);
  let sums = "";
  for (const name of names) {
    const text = `${PROGRAM}# ${name}\n`;
    fs.writeFileSync(path.join(release, `hermes-hooks-${name}`), text);
    sums += `${createHash("sha256").update(text).digest("hex")}  hermes-hooks-${name}\n`;
  }
  fs.writeFileSync(path.join(release, "SHA256SUMS"), sums);
  const [system, processor] = uname;
  fs.writeFileSync(
    path.join(fake, "uname"),
    `#!/bin/sh\n[ "$1" = -s ] && echo ${system} || echo ${processor}\n`,
    { mode: 0o755 },
  );
  const root = path.join(folder, "root");
  for (const file of files) {
    const [name = "", text = ""] = file.split(":");
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  const PATH = `${fake}:${process.env["PATH"]}`;
  const env = { PATH, HOME: folder, HERMES_INSTALL_ROOT: root };
  return { folder, release, bin: path.join(folder, "bin"), system: root, env };
}

function install(at: Machine, words: readonly string[], shell = "sh") {
  const [file, ...args] = [...shell.split(" "), SCRIPT, ...words];
  const { status, stderr } = spawnSync(file!, args, { env: at.env, encoding: "utf8" });
  return { status, stderr };
}

/** Nothing was installed, and nothing was left behind. */
function assertUntouched({ bin }: Machine): void {
  assert.deepEqual(fs.existsSync(bin) ? fs.readdirSync(bin) : [], []);
}

for (const shell of SHELLS) {
  test(`${shell}: the file for this machine is verified and put in place`, () => {
    const at = machine();
    const { status, stderr } = install(at, ["--from", at.release, "--dir", at.bin], shell);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /hermes-hooks 1\.2\.3 is in .*not on PATH/s);
    const installed = fs.readFileSync(path.join(at.bin, "hermes-hooks"), "utf8");
    assert.match(installed, /# linux-x64\n/);
    assert.deepEqual(fs.readdirSync(at.bin), ["hermes-hooks"]);
    assert.equal(fs.statSync(path.join(at.bin, "hermes-hooks")).mode & 0o777, 0o755);
    fs.rmSync(at.folder, { recursive: true });
  });
}

test("each machine gets its own file", () => {
  const table: [{ uname?: string[]; files?: string[] }, RegExp][] = [
    [{ files: ["proc/cpuinfo:sse2", "lib64/ld-linux-x86-64.so.2:"] }, /# linux-x64-baseline/],
    [{ uname: ["Darwin", "arm64"] }, /# macos-arm64/],
    [
      { files: ["etc/alpine-release:3", "lib/ld-musl-x86_64.so.1:", "usr/lib/libstdc++.so.6:"] },
      /# linux-x64-musl/,
    ],
    [
      { files: ["proc/cpuinfo:avx2", "lib/ld-musl-x86_64.so.1:", "lib64/ld-linux-x86-64.so.2:"] },
      /# linux-x64\n/,
    ],
  ];
  for (const [kind, pattern] of table) {
    const at = machine(kind);
    const { status, stderr } = install(at, ["--from", at.release, "--dir", at.bin]);
    assert.equal(status, 0, stderr);
    assert.match(fs.readFileSync(path.join(at.bin, "hermes-hooks"), "utf8"), pattern);
    fs.rmSync(at.folder, { recursive: true });
  }
});

test("what is wrong is said, and nothing is put in place", () => {
  const table: [string, (at: Machine) => string[], RegExp, Parameters<typeof machine>[0]?][] = [
    ["tampered", (at) => {
      fs.appendFileSync(path.join(at.release, "hermes-hooks-linux-x64"), "rm -rf /\n");
      return ["--from", at.release];
    }, /checksum of hermes-hooks-linux-x64 is wrong/],
    ["not named in the sums", (at) => {
      fs.writeFileSync(path.join(at.release, "SHA256SUMS"), "");
      return ["--from", at.release];
    }, /SHA256SUMS does not name/],
    ["no sums", (at) => {
      fs.rmSync(path.join(at.release, "SHA256SUMS"));
      return ["--from", at.release];
    }, /cannot get .*SHA256SUMS/],
    ["no file", (at) => {
      fs.rmSync(path.join(at.release, "hermes-hooks-linux-x64"));
      return ["--from", at.release];
    }, /cannot get .*hermes-hooks-linux-x64/],
    ["no base", () => [], /--from/],
    ["no folder", () => ["--from", "/nowhere/at/all"], /there is no folder/],
    ["plain http", () => ["--from", "http://example.com/x"], /only https/],
    ["a name that looks local", () => ["--from", "http://127.0.0.1.example.com/x"], /only https/],
    ["a user name that looks local", () => ["--from", "http://127.0.0.1:80@example.com/x"], /user/],
    ["a folder in its place", (at) => {
      fs.mkdirSync(path.join(at.folder, "taken", "hermes-hooks"), { recursive: true });
      return ["--from", at.release, "--dir", path.join(at.folder, "taken")];
    }, /hermes-hooks is a folder/],
    ["another scheme", () => ["--from", "ftp://example.com/x"], /only https/],
    ["an odd version", (at) => ["--from", at.release, "--version", "../x"], /is no version/],
    ["an unknown word", (at) => ["--from", at.release, "--frm"], /unknown word/],
    ["a word without value", () => ["--from"], /needs a value/],
    ["an unknown processor", (at) => ["--from", at.release], /processor riscv64/, {
      uname: ["Linux", "riscv64"],
    }],
    ["an unknown system", (at) => ["--from", at.release], /no file for SunOS/, {
      uname: ["SunOS", "x86_64"],
    }],
    ["musl without the C++ library", (at) => ["--from", at.release], /apk add libstdc\+\+/, {
      files: ["etc/alpine-release:3", "lib/ld-musl-x86_64.so.1:"],
    }],
  ];
  for (const [about, words, pattern, kind] of table) {
    const at = machine(kind);
    const { status, stderr } = install(at, ["--dir", at.bin, ...words(at)]);
    assert.notEqual(status, 0, about);
    assert.match(stderr, pattern, about);
    assertUntouched(at);
    fs.rmSync(at.folder, { recursive: true });
  }
});

test("a program that does not start replaces nothing", () => {
  const at = machine();
  assert.equal(install(at, ["--from", at.release, "--dir", at.bin]).status, 0);
  const text = "#!/bin/sh\nexit 1\n";
  fs.writeFileSync(path.join(at.release, "hermes-hooks-linux-x64"), text);
  const sum = createHash("sha256").update(text).digest("hex");
  fs.writeFileSync(path.join(at.release, "SHA256SUMS"), `${sum}  hermes-hooks-linux-x64\n`);
  const { status, stderr } = install(at, ["--from", at.release, "--dir", at.bin]);
  assert.equal(status, 1);
  assert.match(stderr, /does not start/);
  assert.match(fs.readFileSync(path.join(at.bin, "hermes-hooks"), "utf8"), /1\.2\.3/);
  fs.rmSync(at.folder, { recursive: true });
});

test("a script that was cut short runs nothing", () => {
  const at = machine();
  const whole = fs.readFileSync(SCRIPT, "utf8");
  const cut = path.join(at.folder, "cut.sh");
  fs.writeFileSync(cut, whole.slice(0, whole.lastIndexOf('main "$@"')));
  const { status } = spawnSync("sh", [cut, "--from", at.release, "--dir", at.bin], { env: at.env });
  assert.equal(status, 0);
  assertUntouched(at);
  fs.rmSync(at.folder, { recursive: true });
});

/** A folder with the named programs of this system and nothing else. */
function only(folder: string, names: readonly string[]): string {
  fs.mkdirSync(folder);
  for (const name of names) {
    const { stdout } = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
    if (stdout.trim().startsWith("/")) fs.symlinkSync(stdout.trim(), path.join(folder, name));
  }
  return folder;
}

const NEEDED = ["sh", "id", "grep", "awk", "mktemp", "mkdir", "rm", "mv", "cp", "chmod", "cut"];

test("without a program for checksums nothing is taken", () => {
  const at = machine();
  const fake = path.join(at.folder, "fake");
  at.env["PATH"] = `${fake}:${only(path.join(at.folder, "few"), NEEDED)}`;
  const { status, stderr } = install(at, ["--from", at.release, "--dir", at.bin], "/bin/sh");
  assert.equal(status, 1);
  assert.match(stderr, /found none of sha256sum, shasum and openssl/);
  assertUntouched(at);
  fs.rmSync(at.folder, { recursive: true });
});

const CLIENTS = ["curl", "wget"].filter((name) =>
  spawnSync("sh", ["-c", `command -v ${name}`]).status === 0
);
for (const client of CLIENTS) {
  test(`over HTTP with ${client}, with a version`, async () => {
    const at = machine();
    const few = [...NEEDED, "sha256sum", "shasum", "openssl", "tail", client];
    at.env["PATH"] = `${path.join(at.folder, "fake")}:${only(path.join(at.folder, "few"), few)}`;
    const asked: string[] = [];
    const server = http.createServer((request, response) => {
      asked.push(request.url ?? "");
      const file = path.join(at.release, path.basename(request.url ?? ""));
      if (!fs.existsSync(file)) return void response.writeHead(404).end();
      response.end(fs.readFileSync(file));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const base = `http://127.0.0.1:${port}/releases`;
    const child = spawn(
      "/bin/sh",
      [SCRIPT, "--from", base, "--version", "v1.2.3", "--dir", at.bin],
      {
        env: at.env,
        stdio: "ignore",
      },
    );
    const status = await new Promise((resolve) => child.once("exit", resolve));
    assert.equal(status, 0);
    assert.deepEqual(asked, [
      "/releases/v1.2.3/SHA256SUMS",
      "/releases/v1.2.3/hermes-hooks-linux-x64",
    ]);
    assert.deepEqual(fs.readdirSync(at.bin), ["hermes-hooks"]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    fs.rmSync(at.folder, { recursive: true });
  });
}
