/** What stands where a text file should: read, or refused in words, and never waited for. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { readTextFile } from "../lib/config/text_file.ts";
import { SELF } from "./programs/host_home.ts";

const skip = process.platform === "win32" ? "no FIFOs, no links" : false;

function withFolder(body: (folder: string) => void): void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "text-file-"));
  try {
    body(folder);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test("what is no file is unusable, in words, at once", { skip }, () => {
  withFolder((folder) => {
    const at = (name: string) => path.join(folder, name);
    fs.writeFileSync(at("text"), "\uFEFFa: ü\n");
    fs.writeFileSync(at("bytes"), Uint8Array.of(0x61, 0xff));
    fs.mkdirSync(at("folder"));
    fs.symlinkSync("nothing", at("dangling"));
    fs.symlinkSync("circle", at("circle"));
    fs.symlinkSync("text", at("link"));
    assert.equal(spawnSync("mkfifo", [at("fifo")]).status, 0);
    fs.symlinkSync("fifo", at("link-to-fifo"));
    const why = (name: string) => {
      const read = readTextFile(at(name));
      return read.state === "read" ? read : "why" in read ? read.why : read.state;
    };
    assert.deepEqual(why("text"), { state: "read", text: "\uFEFFa: ü\n" });
    assert.deepEqual(why("link"), { state: "read", text: "\uFEFFa: ü\n" });
    assert.equal(why("absent"), "missing");
    assert.equal(why("bytes"), "is not UTF-8 text");
    assert.equal(why("folder"), "is a folder, expected a file");
    assert.equal(why("dangling"), "is a link to a file that is not there");
    assert.equal(why("circle"), "is a link that leads in a circle");
    assert.equal(why("text/below"), "stands below something that is no folder");
    assert.equal(why("fifo"), "is a FIFO, expected a file");
    assert.equal(why("link-to-fifo"), "is a FIFO, expected a file");
    assert.deepEqual(readTextFile("/dev/null"), { state: "read", text: "" });
  });
});

test("what a shell hands over is read, though it is a pipe", { skip }, () => {
  const { stdout, status } = spawnSync(
    "/bin/sh",
    ["-c", `printf 'hooks: 7\\n' | "$0" "$@" config check /dev/stdin`, SELF.file, ...SELF.args],
    { encoding: "utf8" },
  );
  assert.match(stdout, /^\/dev\/stdin:1(?::1)? warning hooks: is 7/);
  assert.equal(status, 0);
});
