import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { askSocket } from "../lib/server/client.ts";
import { listenOnSocket } from "../lib/server/socket.ts";
import { folderFault, socketPathOf, socketTrusted } from "../lib/platform/socket_path.ts";
import { ask, Home, startHere } from "./programs/server_home.ts";

const uid = process.getuid?.();
const self = { uid, pid: process.pid };
const mode = (file: string) => (fs.lstatSync(file).mode & 0o7777).toString(8);
const hello = () => new Response("{}");

test("the socket is 0600 in a folder of 0700, and both are made on the way", async () => {
  const home = new Home();
  const socket = path.join(home.folder, "deep", "run", "hooks.sock");
  const listener = await listenOnSocket(socket, hello, self);
  assert.equal(mode(socket), "600");
  assert.equal(mode(path.dirname(socket)), "700");
  assert.equal(socketTrusted(socket, uid), true);
  await listener.stop();
  assert.equal(fs.existsSync(socket), false);
  home.remove();
});

test("a folder that others may write to, or a link, is refused", async () => {
  const home = new Home();
  const open = path.join(home.folder, "open");
  fs.mkdirSync(open);
  fs.chmodSync(open, 0o777);
  const link = path.join(home.folder, "link");
  fs.symlinkSync(home.folder, link);
  await assert.rejects(listenOnSocket(path.join(open, "s"), hello, self), /is writable by others/);
  await assert.rejects(listenOnSocket(path.join(link, "s"), hello, self), /is no folder/);
  assert.match(folderFault(home.folder, (uid ?? 0) + 1) ?? "", /owned by another user/);
  assert.equal(socketTrusted(path.join(open, "s"), uid), false);
  home.remove();
});

test("a folder of ours that others may read is made ours alone", async () => {
  const home = new Home();
  const folder = path.join(home.folder, "run");
  fs.mkdirSync(folder);
  fs.chmodSync(folder, 0o755);
  const listener = await listenOnSocket(home.socket, hello, self);
  assert.equal(mode(folder), "700");
  await listener.stop();
  home.remove();
});

test("the socket a crash left behind is replaced", async () => {
  const home = new Home();
  fs.mkdirSync(path.dirname(home.socket));
  const crashed =
    "import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()";
  execFileSync("python3", ["-c", crashed, home.socket]);
  assert.equal(fs.lstatSync(home.socket).isSocket(), true);
  const listener = await listenOnSocket(home.socket, hello, self);
  const answer = await askSocket(home.socket, { method: "GET", path: "/", timeoutMs: 2000 });
  assert.equal(answer.kind, "answer");
  await listener.stop();
  home.remove();
});

test("a live listener is an error that names its process, and goes on", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  await assert.rejects(
    listenOnSocket(home.socket, hello, { uid, pid: 1 }),
    new RegExp(`another listener \\(pid ${process.pid}\\) serves this home`),
  );
  assert.equal((await ask(home.socket, "/healthz")).status, 200);
  await server.stop();
  home.remove();
});

test("a listener that takes connections but never answers is named from its lock file", async () => {
  const home = new Home();
  fs.mkdirSync(path.dirname(home.socket), { mode: 0o700 });
  const taken: net.Socket[] = [];
  const silent = net.createServer((socket) => void taken.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => silent.listen(home.socket, resolve));
  fs.writeFileSync(`${home.socket}.lock`, "4711\n");
  await assert.rejects(listenOnSocket(home.socket, hello, self), /another listener \(pid 4711\)/);
  fs.writeFileSync(`${home.socket}.lock`, "");
  await assert.rejects(
    listenOnSocket(home.socket, hello, self),
    /another listener \(pid unknown\) .*; stop it first$/,
  );
  for (const socket of taken) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
  home.remove();
});

test("of eight that start at once exactly one listens", async () => {
  const home = new Home();
  const starts = await Promise.allSettled(
    Array.from({ length: 8 }, () => listenOnSocket(home.socket, hello, self)),
  );
  const up = starts.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  assert.equal(up.length, 1);
  await up[0]!.stop();
  home.remove();
});

test("a path over 100 bytes goes to the runtime folder, else to a folder of ours by user and home", () => {
  const long = "/home/" + "x".repeat(100);
  assert.equal(socketPathOf("/home/me/.hermes", {}, 7), "/home/me/.hermes/run/hooks.sock");
  assert.match(
    socketPathOf(long, { XDG_RUNTIME_DIR: "/run/user/7" }, 7),
    /^\/run\/user\/7\/hermes-hooks-[0-9a-f]{16}\/hooks\.sock$/,
  );
  assert.match(socketPathOf(long, {}, 7), /^\/tmp\/hermes-hooks-7-[0-9a-f]{16}\/hooks\.sock$/);
  assert.match(socketPathOf(long, { TMPDIR: "/v" }, 7), /^\/v\/hermes-hooks-7-/);
  assert.match(socketPathOf(long, { TMPDIR: long, XDG_RUNTIME_DIR: "run" }, 7), /^\/tmp\//);
  assert.notEqual(socketPathOf(long, {}, 7), socketPathOf(long + "y", {}, 7));
});

test("asking where nobody is says so, and that nothing was sent", async () => {
  const home = new Home();
  const answer = await askSocket(home.socket, { method: "GET", path: "/", timeoutMs: 500 });
  assert.deepEqual(answer, { kind: "unreachable", reason: "ENOENT" });
  home.remove();
});

test("an answer that breaks off after the request went out is lost, not unreachable", async () => {
  const home = new Home();
  const rude = net.createServer((socket) => {
    socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
    socket.on("error", () => {});
  });
  fs.mkdirSync(path.dirname(home.socket));
  await new Promise<void>((resolve) => rude.listen(home.socket, resolve));
  const answer = await askSocket(home.socket, { method: "POST", path: "/", timeoutMs: 2000 });
  assert.equal(answer.kind, "lost");
  await new Promise((resolve) => rude.close(resolve));
  home.remove();
});
