import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import fs from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { readYaml } from "../lib/config/yaml.ts";
import { concernedEntries, outboundConcerns } from "../lib/outbound/handover_wanted.ts";
import { commandOf, type Home, withHome } from "./programs/outbound_fire.ts";
import { closedPort, type Post, receive, until } from "./programs/outbound_receiver.ts";

const EVENT = "post_tool_call";
const FIELDS = { tool_name: "terminal", args: { command: "ls" }, session_id: "s1" };

const target = (url: string, more = "") =>
  `  outbound:\n    - {name: t, url: "${url}", events: [${EVENT}, pre_tool_call]${more}}\n`;

const bodyOf = (post: Post | undefined) => JSON.parse(post?.body.toString() ?? "null");

const signedWith = (post: Post, secret: string) =>
  post.headers.get("x-hermes-signature-256") ===
    `sha256=${createHmac("sha256", secret).update(post.body).digest("hex")}`;

test("an outbound list concerns the events its entries name, and no others", () => {
  const concerns = (outbound: string, event = EVENT) => {
    const { root } = readYaml(`hooks:\n  outbound: ${outbound}\n`, "config.yaml");
    return [outboundConcerns(root, event), concernedEntries(root, event)];
  };
  assert.deepEqual(concerns("[{events: [x]}, {events: [a, ' post_tool_call ']}]"), [
    true,
    ["hooks.outbound[1]"],
  ]);
  assert.deepEqual(concerns("[{events: post_tool_call}]"), [true, ["hooks.outbound[0]"]]);
  assert.deepEqual(concerns("[{events: [x, 1, [post_tool_call]]}, text, {url: y}]"), [false, []]);
  assert.deepEqual(concerns("null"), [false, []]);
  assert.deepEqual(concerns("[]"), [false, []]);
  assert.deepEqual(concerns("{url: x}"), [true, ["hooks.outbound"]]);
  assert.equal(outboundConcerns(undefined, EVENT), false);
});

test("fire leaves its delivery behind, signed, and no secret can be seen in the process", () =>
  withHome(async (home) => {
    const held: ServerSocket[] = [];
    const receiver = await receive((_, socket) => void held.push(socket));
    home.config(target(receiver.url, ", secret_env: THE_SECRET"));
    const env = { THE_SECRET: "s3cret", AGENT_TOKEN: "not yours" };
    const { exit, warnings, stderr } = await home.fire(EVENT, FIELDS, [], { env });
    assert.deepEqual([exit, warnings, stderr], [0, [], ""]);
    await until(() => receiver.posts.length === 1);
    for (const pid of home.senders()) {
      const shown = ["cmdline", "environ"].map((f) => fs.readFileSync(`/proc/${pid}/${f}`, "utf8"));
      assert.doesNotMatch(shown.join(""), /s3cret|not yours|terminal/);
    }
    for (const socket of held) socket.end("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n");
    await until(() => home.senders().length === 0);
    await receiver.close();
    const [post] = receiver.posts;
    assert.ok(signedWith(post!, "s3cret"));
    const { hook_event_name, tool_input, delivery_id, occurred_at, attempt } = bodyOf(post);
    assert.deepEqual([hook_event_name, tool_input, attempt], [EVENT, FIELDS.args, 1]);
    assert.match(delivery_id, /^[0-9a-f]{32}$/);
    assert.ok(Math.abs(Date.parse(occurred_at) - Date.now()) < 20_000);
    const mode = (name: string) => fs.statSync(path.join(home.folder, name)).mode & 0o777;
    assert.deepEqual([mode("run"), mode("logs"), mode("logs/outbound.log")], [0o700, 0o700, 0o600]);
    assert.equal(fs.readFileSync(path.join(home.folder, "logs/outbound.log"), "utf8"), "");
  }));
type ServerSocket = Parameters<Parameters<typeof receive>[0]>[1];

test("a blocked call is delivered once, as it was fired", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(
      `  pre_tool_call:\n    - command: "sh -c 'echo no >&2; exit 2'"\n${target(receiver.url)}`,
    );
    const { exit, stdout } = await home.fire("pre_tool_call", FIELDS, ["--flush", "10"]);
    assert.equal(exit, 2);
    assert.match(stdout, /"decision": "block"/);
    await receiver.close();
    assert.equal(receiver.posts.length, 1);
    assert.deepEqual(bodyOf(receiver.posts[0]).tool_input, FIELDS.args);
    assert.equal("decision" in bodyOf(receiver.posts[0]), false);
  }));

test("without a target for the event, in safe mode, and under test nothing is sent or made", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url, ", matcher: other"));
    await home.fire("on_session_end", {});
    await home.fire(EVENT, FIELDS);
    home.config(target(receiver.url));
    await home.fire(EVENT, FIELDS, [], { env: { HERMES_SAFE_MODE: "1" } });
    await home.run(["test", EVENT]);
    assert.deepEqual(home.senders(), []);
    await receiver.close();
    assert.equal(receiver.posts.length, 0);
    assert.deepEqual(fs.readdirSync(home.folder), ["config.yaml"]);
  }));

test("an endpoint that hangs costs a tool call no time", () =>
  withHome(async (home) => {
    const receiver = await receive(() => {});
    home.config("  post_tool_call: []\n");
    const without = [await home.fire(EVENT, FIELDS), await home.fire(EVENT, FIELDS)];
    home.config(target(receiver.url));
    const cold = await home.fire(EVENT, FIELDS);
    await until(() => receiver.posts.length === 1);
    const warm = await home.fire(EVENT, FIELDS);
    assert.deepEqual([cold.warnings, warm.warnings], [[], []]);
    const most = Math.max(...without.map(({ ms }) => ms)) * 3 + 500;
    assert.ok(cold.ms < most, `${cold.ms} ms with nobody there, ${most} at most`);
    assert.ok(warm.ms < most, `${warm.ms} ms with a sender there, ${most} at most`);
    await receiver.close();
  }));

test("--flush waits for the own deliveries and names those not made; the verdict stays", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    const fine = await home.fire(EVENT, FIELDS, ["--flush", "10"]);
    assert.deepEqual([fine.exit, fine.stderr, receiver.posts.length], [0, "", 1]);
    home.config(target(`http://127.0.0.1:${await closedPort()}/`));
    const failed = await home.fire(EVENT, FIELDS, ["--flush", "10"]);
    assert.equal(failed.exit, 0);
    assert.match(
      failed.stderr,
      /warning: outbound "t": [0-9a-f]{32} not delivered within 10 s: it f/,
    );
    const hangs = await receive(() => {});
    home.config(target(hangs.url));
    const late = await home.fire(EVENT, FIELDS, ["--flush", "0.3"]);
    assert.match(late.stderr, /not delivered within 0.3 s: still being tried/);
    assert.deepEqual([late.exit, late.warnings], [0, []]);
    await Promise.all([receiver.close(), hangs.close()]);
  }));

test("--flush takes seconds", () =>
  withHome(async (home) => {
    for (const wrong of ["x", "301", "1e2", ""]) {
      const { exit, stderr } = await home.fire(EVENT, FIELDS, [`--flush=${wrong}`]);
      assert.equal(exit, 64);
      assert.match(stderr, /--flush takes seconds from 0 to 300/);
    }
  }));

test("of 30 fired at once none is lost, none comes twice, and one sender is left", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    const fired = await Promise.all(
      Array.from({ length: 30 }, (_, n) => home.fire(EVENT, { ...FIELDS, n })),
    );
    assert.deepEqual(
      fired.flatMap(({ exit, warnings }) => [...warnings, ...exit ? [exit] : []]),
      [],
    );
    await until(() => receiver.posts.length >= 30, 10_000);
    await until(() => home.senders().length === 0, 10_000);
    await receiver.close();
    const seen = receiver.posts.map((post) => bodyOf(post).extra.n).sort((a, b) => a - b);
    assert.deepEqual(seen, Array.from({ length: 30 }, (_, n) => n));
  }));

test("a payload far beyond any pipe comes whole", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    const text = "é".repeat(3_000_000);
    const { exit, warnings } = await home.fire(EVENT, { ...FIELDS, text });
    assert.deepEqual([exit, warnings], [0, []]);
    await until(() => receiver.posts.length === 1, 10_000);
    await receiver.close();
    assert.equal(bodyOf(receiver.posts[0]).extra.text, text);
  }));

test("each command's deliveries are signed with the secret of its own environment", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url, ", secret_env: S"));
    for (const S of ["one", "two"]) await home.fire(EVENT, FIELDS, [], { env: { S } });
    const unset = await home.fire(EVENT, FIELDS);
    assert.match(unset.warnings.join(), /outbound\[0\].secret_env .*"S" is not set.*disabled/);
    await until(() => receiver.posts.length === 2);
    await receiver.close();
    assert.deepEqual(receiver.posts.map((p) => ["one", "two"].find((s) => signedWith(p, s))), [
      "one",
      "two",
    ]);
  }));

test("a home without a run folder meets its sender elsewhere", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    fs.writeFileSync(path.join(home.folder, "run"), "");
    fs.writeFileSync(path.join(home.folder, "logs"), "");
    const runtime = path.join(home.folder, "runtime");
    fs.mkdirSync(runtime, { mode: 0o700 });
    const env = { XDG_RUNTIME_DIR: runtime };
    const { exit, warnings } = await home.fire(EVENT, FIELDS, ["--flush", "10"], { env });
    assert.deepEqual([exit, warnings, receiver.posts.length], [0, [], 1]);
    assert.match(fs.readdirSync(runtime).join(), /^hermes-hooks-[0-9a-f]{16}$/);
    await receiver.close();
  }));

test("whoever waits for the end of a descriptor of fire's does not wait for the sender", () =>
  withHome(async (home) => {
    const receiver = await receive(() => {});
    home.config(target(receiver.url));
    const { file, args, env } = commandOf(home.folder, ["fire", EVENT]);
    // The shell's `3>&1` makes stdout's pipe a descriptor that nobody asked for.
    const child = spawn("sh", ["-c", 'exec "$@" 3>&1', "sh", file, ...args], { env });
    child.stdin.end(JSON.stringify(FIELDS));
    child.stdout.resume();
    const ended = new Promise((resolve) => child.stdout.on("end", resolve));
    await Promise.race([
      ended,
      until(() => false, 8_000).catch(() => assert.fail("stdout is still open")),
    ]);
    await until(() => receiver.posts.length === 1);
    assert.equal(home.senders().length > 0 || process.platform !== "linux", true);
    await receiver.close();
  }));

interface Fake {
  readonly asked: { path: string; body: string }[];
  close(): Promise<void>;
}

/** A listener of a home that answers as it is told. */
async function listen(
  home: Home,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  digest?: string,
): Promise<Fake> {
  const asked: { path: string; body: string }[] = [];
  const config = digest ??
    createHash("sha256").update(fs.readFileSync(path.join(home.folder, "config.yaml"))).digest(
      "hex",
    );
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked.push({ path: request.url ?? "", body: Buffer.concat(chunks).toString() });
      if (request.url !== "/readyz") return answer(request, response);
      send(response, 200, { status: "ready", config_sha256: config, allowlist_sha256: null });
    });
  });
  const folder = path.join(home.folder, "run");
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const socket = path.join(folder, "hooks.sock");
  await new Promise<void>((ready) => server.listen(socket, ready));
  fs.chmodSync(socket, 0o600);
  const close = () => new Promise<void>((closed) => void server.close(() => closed()));
  return { asked, close };
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": length });
  response.end(text);
}

const taken = (_: unknown, response: ServerResponse) => send(response, 202, { ids: ["a"] });

test("a running listener takes the event over, digits and all", () =>
  withHome(async (home) => {
    home.config(target("http://127.0.0.1:9/"));
    const listener = await listen(home, taken);
    const input = '{"tool_name":"terminal","args":{"n":12345678901234567890.10}}';
    const { exit, warnings } = await home.fire(EVENT, {}, [], { input });
    assert.deepEqual([exit, warnings], [0, []]);
    await listener.close();
    assert.deepEqual(listener.asked.map(({ path }) => path), ["/readyz", "/v1/outbound"]);
    const { body } = listener.asked[1]!;
    assert.match(body, /"tool_input": \{"n": 12345678901234567890.10\}/);
    const { event, wire, occurred_at } = JSON.parse(body);
    assert.deepEqual([event, wire.hook_event_name], [EVENT, EVENT]);
    assert.match(occurred_at, /^20[0-9T:.-]+Z$/);
    assert.deepEqual([home.senders(), fs.existsSync(path.join(home.folder, "logs"))], [[], false]);
  }));

test("with --flush the listener is told how long to wait, and what it says goes to stderr", () =>
  withHome(async (home) => {
    home.config(target("http://127.0.0.1:9/"));
    const settled = { delivered: 0, failed: 1, dropped: 0, pending: 0, unknown: 0 };
    const listener = await listen(
      home,
      (_, response) => send(response, 202, { ids: ["a"], settled }),
    );
    const { exit, stderr } = await home.fire(EVENT, FIELDS, ["--flush", "2.5"]);
    await listener.close();
    assert.equal(exit, 0);
    assert.equal(listener.asked[1]?.path, "/v1/outbound?flush=2.5");
    assert.match(stderr, /not delivered within 2.5 s \("t"\): 1 failed of 1/);
  }));

test("a listener that is not to be trusted, or not in the state on disk, is left alone", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    const flush = ["--flush", "10"];
    const stale = await listen(home, taken, "0".repeat(64));
    await home.fire(EVENT, FIELDS, flush);
    await stale.close();
    assert.deepEqual(stale.asked.map(({ path }) => path), ["/readyz"]);
    const open = await listen(home, taken);
    fs.chmodSync(path.join(home.folder, "run", "hooks.sock"), 0o666);
    await home.fire(EVENT, FIELDS, flush);
    fs.chmodSync(path.join(home.folder, "run", "hooks.sock"), 0o600);
    await home.fire(EVENT, FIELDS, [...flush, "--no-server"]);
    await open.close();
    assert.deepEqual(open.asked, []);
    await receiver.close();
    assert.equal(receiver.posts.length, 3);
  }));

test("what a listener refuses goes to the sender; what is lost on it goes nowhere else", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    const answers = [503, 409];
    const refuses = await listen(home, (_, response) => send(response, answers.shift()!, {}));
    for (const posts of [1, 2]) {
      const refused = await home.fire(EVENT, FIELDS);
      await until(() => receiver.posts.length === posts);
      assert.deepEqual([refused.exit, refused.warnings], [0, []]);
    }
    await refuses.close();
    const loses = await listen(home, (request) => void request.socket.destroy());
    const lost = await home.fire(EVENT, FIELDS);
    await loses.close();
    // What was handed over is not done a second time: nobody knows what became of it.
    assert.equal(lost.exit, 1);
    assert.match(lost.warnings.join(), /^delivery may be lost \("t"\): the listener: /);
    await until(() => home.senders().length === 0);
    await receiver.close();
    assert.equal(receiver.posts.length, 2);
  }));

test("what a listener makes no delivery of goes to the sender; of fewer there is a warning", () =>
  withHome(async (home) => {
    const receiver = await receive(() => 200);
    home.config(target(receiver.url));
    const none = await listen(home, (_, response) => send(response, 202, { ids: [] }));
    const left = await home.fire(EVENT, FIELDS, ["--flush", "10"]);
    await none.close();
    assert.deepEqual([left.exit, left.warnings, receiver.posts.length], [0, [], 1]);
    const [list, entry] = target(receiver.url).split("\n");
    home.config([list, entry, entry, ""].join("\n"));
    const fewer = await listen(home, taken);
    const half = await home.fire(EVENT, FIELDS);
    await fewer.close();
    assert.match(half.warnings.join(), /the listener took 1 of 2 deliveries \("t", "t"\)/);
    await until(() => home.senders().length === 0);
    await receiver.close();
    assert.equal(receiver.posts.length, 1);
  }));

test("allow and revoke tell a running listener, and only note that it cannot be told", () =>
  withHome(async (home) => {
    home.config("  post_tool_call:\n    - command: /bin/true\n");
    const answers = [200, 200, 500];
    const listener = await listen(home, (_, response) => send(response, answers.shift()!, {}));
    assert.equal((await home.run(["allow", "/bin/true"])).exit, 0);
    const revoked = await home.run(["revoke", "/bin/true"]);
    assert.match(revoked.stdout, /the running listener obeys already/);
    const noted = await home.run(["allow", "/bin/true"]);
    assert.equal(noted.exit, 0);
    assert.match(noted.stderr, /note: the running listener could not be told: it answered 500/);
    await listener.close();
    assert.deepEqual(listener.asked.map(({ path }) => path), Array(3).fill("/v1/reload"));
    const alone = await home.run(["revoke", "/bin/true"]);
    assert.deepEqual([alone.exit, alone.stderr], [0, ""]);
  }));
