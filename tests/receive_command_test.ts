import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";

const MAIN = path.join(import.meta.dirname!, "..", "main.ts");
const START = process.versions.bun === undefined
  ? [process.execPath, "run", "-A", "--quiet", MAIN]
  : [process.execPath, MAIN];
const SECRET = "a secret of the tests";

interface Home {
  folder: string;
  env: Record<string, string>;
}

async function withHome(body: (home: Home) => Promise<void>) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "receive-"));
  const env = { PATH: process.env["PATH"]!, HOME: folder, HERMES_HOME: folder, NO_COLOR: "1" };
  try {
    await body({ folder, env });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

function start(words: string[], home: Home, env: Record<string, string> = {}) {
  const child = spawn(START[0]!, [...START.slice(1), ...words], {
    cwd: home.folder,
    env: { ...home.env, ...env },
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => said.stdout += data);
  child.stderr.on("data", (data) => said.stderr += data);
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (exit) => resolve({ exit, ...said }))
  );
  return { child, said, ended };
}

async function runOnce(
  words: string[],
  home: Home,
  env: Record<string, string> = {},
  input: string | Uint8Array = "",
): Promise<Ended> {
  const { child, ended } = start(words, home, env);
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return await ended;
}

async function until<T>(what: () => T | undefined | false): Promise<T> {
  for (let n = 0; n < 400; n++) {
    const found = what();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** A running receiver: where it is, what it said, and how to end it. */
async function receiver(words: string[], home: Home, env: Record<string, string> = {}) {
  const running = start(["receive", "--listen", "127.0.0.1:0", ...words], home, env);
  const url = await until(() => /http:\/\/[^,\s]+/.exec(running.said.stderr)?.[0]);
  return { ...running, url };
}

// Not child.kill(): after it Deno tells of a signal, whatever exit code the child ended with.
const terminate = (child: ChildProcess) => process.kill(child.pid!, "SIGTERM");

async function stop({ child, ended }: { child: ChildProcess; ended: Promise<Ended> }) {
  terminate(child);
  return await ended;
}

const mac = (body: string | Uint8Array, secret = SECRET) =>
  createHmac("sha256", secret).update(body).digest();
const hexOf = (body: string | Uint8Array, secret = SECRET) =>
  `sha256=${mac(body, secret).toString("hex")}`;

function own(id: string, at = new Date()): string {
  return `{"hook_event_name": "on_session_end", "extra": {"n": 1.0}, "delivery_id": "${id}", "timestamp": "${at.toISOString()}"}`;
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method: "POST", body, headers });
  return [answer.status, await answer.text()] as const;
}

test("receive prints one line for each delivery that it accepts, and ends with 0 on TERM", () =>
  withHome(async (home) => {
    const { url, ...running } = await receiver(["--secret-env", "HOOK_SECRET"], home, {
      HOOK_SECRET: SECRET,
    });
    const body = own("id-1");
    const headers = { "X-Hermes-Signature-256": hexOf(body), "X-Hermes-Delivery": "id-1" };
    assert.deepEqual(await post(url, body, headers), [200, '{"ok": true}\n']);
    assert.deepEqual(await post(url, body, headers), [200, '{"ok": true, "duplicate": true}\n']);
    assert.equal((await post(url, body + " ", headers))[0], 401);
    const old = own("id-2", new Date(Date.now() - 400_000));
    assert.equal((await post(url, old, { "X-Hermes-Signature-256": hexOf(old) }))[0], 401);
    const { exit, stdout, stderr } = await stop(running);
    assert.deepEqual([exit, stdout.split("\n").length], [0, 2]);
    assert.ok(stdout.endsWith(`"verified": true, "body": ${body}}\n`), stdout);
    assert.equal((stdout + stderr).includes(SECRET), false);
  }));

test("receive --exec runs the command with body, event and id, and without the secret", () =>
  withHome(async (home) => {
    const script =
      'cat > body; echo "$HERMES_HOOK_EVENT $HERMES_DELIVERY_ID ${HOOK_SECRET-none}" >&2; exit 4';
    fs.writeFileSync(path.join(home.folder, "on.sh"), script);
    const words = ["--secret-env", "HOOK_SECRET", "--exec", "sh ./on.sh"];
    const running = await receiver(words, home, { HOOK_SECRET: SECRET });
    const body = own("id-1");
    const [status] = await post(running.url, body, { "X-Hermes-Signature-256": hexOf(body) });
    assert.equal(status, 200);
    await until(() => running.said.stderr.includes("exit 4"));
    assert.match(running.said.stderr, /--exec .* on "id-1": exit 4: on_session_end id-1 none/);
    assert.equal(fs.readFileSync(path.join(home.folder, "body"), "utf8"), body);
    assert.equal((await stop(running)).exit, 0);
  }));

test("receive answers before the command has run, and lets it finish on TERM", () =>
  withHome(async (home) => {
    const words = ["--secret-env", "S", "--exec", "sh -c 'sleep 1; echo done > done'"];
    const running = await receiver(words, home, { S: SECRET });
    const body = own("id-1");
    const began = performance.now();
    await post(running.url, body, { "X-Hermes-Signature-256": hexOf(body) });
    assert.ok(performance.now() - began < 900);
    assert.equal((await stop(running)).exit, 0);
    assert.equal(fs.existsSync(path.join(home.folder, "done")), true);
  }));

test("a second signal ends receive and its command at once", () =>
  withHome(async (home) => {
    const running = await receiver(["--secret-env", "S", "--exec", "sleep 30"], home, {
      S: SECRET,
    });
    const body = own("id-1");
    await post(running.url, body, { "X-Hermes-Signature-256": hexOf(body) });
    terminate(running.child);
    await new Promise((done) => setTimeout(done, 300));
    const began = performance.now();
    terminate(running.child);
    assert.equal((await running.ended).exit, 143);
    assert.ok(performance.now() - began < 2000);
  }));

test("receive without a secret says so, keeps to loopback, and refuses --exec", () =>
  withHome(async (home) => {
    const running = await receiver([], home);
    assert.equal((await post(running.url, "[1.0]"))[0], 200);
    const page = await post(running.url, "[]", { Origin: "http://evil.example" });
    assert.equal(page[0], 403);
    const { stdout, stderr } = await stop(running);
    assert.match(stdout, /"scheme": null.*"verified": false, "body": \[1\.0\]}\n$/);
    assert.match(stderr, /NOTHING IS CHECKED/);
    const open = await runOnce(["receive", "--listen", "0.0.0.0:0"], home);
    assert.deepEqual([open.exit, /only loopback/.test(open.stderr)], [64, true]);
    const exec = await runOnce(["receive", "--exec", "true"], home);
    assert.deepEqual([exec.exit, /--exec needs --secret-env/.test(exec.stderr)], [64, true]);
  }));

test("receive that cannot start says why in one line", () =>
  withHome(async (home) => {
    const unset = await runOnce(["receive", "--secret-env", "NOT_THERE"], home);
    assert.deepEqual([unset.exit, /"NOT_THERE" is not set/.test(unset.stderr)], [1, true]);
    const empty = await runOnce(["receive", "--secret-env", "E"], home, { E: "" });
    assert.deepEqual([empty.exit, /"E" is empty/.test(empty.stderr)], [1, true]);
    const env = { S: SECRET };
    const gone = await runOnce(["receive", "--secret-env", "S", "--exec", "no-such-x"], home, env);
    assert.deepEqual([gone.exit, /--exec: command not found/.test(gone.stderr)], [1, true]);
    const quote = await runOnce(["receive", "--secret-env", "S", "--exec", "a 'b"], home, env);
    assert.deepEqual([quote.exit, /--exec cannot be parsed/.test(quote.stderr)], [64, true]);
    const bad = await runOnce(["receive", "--listen", "a:b:c"], home);
    assert.deepEqual([bad.exit, /--listen takes HOST:PORT/.test(bad.stderr)], [64, true]);
    const first = await receiver([], home);
    const taken = await runOnce(["receive", "--listen", new URL(first.url).host], home);
    assert.deepEqual([taken.exit, /is in use/.test(taken.stderr)], [1, true]);
    await stop(first);
  }));

test("a secret may lie in the home's .env, and a bare --listen means the default", () =>
  withHome(async (home) => {
    fs.writeFileSync(path.join(home.folder, ".env"), `DOT_SECRET=${SECRET}\n`);
    const words = ["receive", "--listen", "--secret-env", "DOT_SECRET"];
    const running = start(words, home);
    // Another run on this machine may hold the default port: its name is told either way.
    await until(() => running.said.stderr.includes("http://127.0.0.1:8646/"));
    const { stderr } = await stop(running);
    assert.equal(stderr.includes("is not set"), false);
  }));

test("verify exits 0 for the right signature of the exact bytes and 1 for any other", () =>
  withHome(async (home) => {
    const env = { S: SECRET, OLD: "old" };
    const body = new Uint8Array([0xff, 0x00, 0x0d, 0x0a, 0xc3]);
    const words = ["verify", "--secret-env", "OLD", "--secret-env", "S", "--signature"];
    const good = await runOnce([...words, hexOf(body)], home, env, body);
    assert.deepEqual(good, { exit: 0, stdout: "", stderr: "" });
    const bad = await runOnce([...words, hexOf(body)], home, env, body.subarray(1));
    assert.equal(bad.exit, 1);
    assert.match(bad.stderr, /^hermes-hooks: not valid: --signature does not match.*\n$/);
    const form = await runOnce([...words, "sha256=12"], home, env, body);
    assert.match(form.stderr, /^hermes-hooks: not valid: --signature is malformed.*\n$/);
  }));

test("verify takes Standard Webhooks with --id and --timestamp, and minds the age unless told not to", () =>
  withHome(async (home) => {
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    const env = { S: `whsec_${key.toString("base64")}` };
    const sign = (time: string) =>
      `v1,${createHmac("sha256", key).update(`msg_1.${time}.{}`).digest("base64")}`;
    const verify = (time: string, more: string[] = []) =>
      runOnce(
        [
          "verify",
          "--secret-env",
          "S",
          "--id",
          "msg_1",
          "--timestamp",
          time,
          "--signature",
          sign(time),
          ...more,
        ],
        home,
        env,
        "{}",
      );
    assert.equal((await verify(String(Math.floor(Date.now() / 1000)))).exit, 0);
    const old = await verify("1614265330");
    assert.deepEqual([old.exit, /not valid: it is stale/.test(old.stderr)], [1, true]);
    assert.equal((await verify("1614265330", ["--tolerance", "0"])).exit, 0);
  }));

test("verify minds the time inside a body of our own", () =>
  withHome(async (home) => {
    const words = (body: string) => ["verify", "--secret-env", "S", "--signature", hexOf(body)];
    const [fresh, old] = [own("a"), own("a", new Date(Date.now() - 400_000))];
    assert.equal((await runOnce(words(fresh), home, { S: SECRET }, fresh)).exit, 0);
    const stale = await runOnce(words(old), home, { S: SECRET }, old);
    assert.deepEqual([stale.exit, /not valid: it is stale/.test(stale.stderr)], [1, true]);
  }));

test("verify used wrongly exits 64, and a secret that is not there 1", () =>
  withHome(async (home) => {
    const env = { S: SECRET };
    for (
      const words of [
        ["--signature", "sha256=aa"],
        ["--secret-env", "S"],
        ["--secret-env", "S", "--signature", "md5=aa"],
        ["--secret-env", "S", "--signature", "v1,aa"],
        ["--secret-env", "S", "--signature", "v1,aa", "--id", "x"],
        ["--secret-env", "S", "--signature", "sha256=aa", "--id", "x"],
        ["--secret-env", "S", "--signature", "sha256=aa", "--tolerance", "soon"],
        ["--secret-env", "S", "--signature", "sha256=aa", "body"],
        ["--secret-env", "S=x", "--signature", "sha256=aa"],
      ]
    ) {
      const { exit, stderr } = await runOnce(["verify", ...words], home, env);
      assert.deepEqual([exit, stderr.includes("internal")], [64, false], words.join(" "));
    }
    const words = ["verify", "--secret-env", "T", "--signature", hexOf("")];
    const unset = await runOnce(words, home);
    assert.deepEqual([unset.exit, /"T" is not set/.test(unset.stderr)], [1, true]);
  }));
