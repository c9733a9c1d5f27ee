import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fs from "node:fs";
import { createServer, type Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { deliveriesFor } from "../lib/outbound/deliveries.ts";
import {
  type Parcel,
  ParcelReader,
  readParcel,
  writeParcel,
} from "../lib/outbound/handover_parcel.ts";
import { runSender, type SenderTimes } from "../lib/outbound/sender.ts";
import { MAX_LOG, openSenderLog, senderLog } from "../lib/outbound/sender_log.ts";
import { placeIn, senderPlace } from "../lib/outbound/sender_place.ts";
import { giveToSender, GREETING } from "../lib/outbound/sender_protocol.ts";
import { withFlock } from "../lib/platform/flock.ts";
import { call, targetsOf } from "./programs/outbound_outbox.ts";
import { receive, until } from "./programs/outbound_receiver.ts";

const uid = process.getuid?.();
const NOW = new Date("2026-07-22T14:00:00.123Z");
const PATIENCE = { greetMs: 1000, answerMs: 1000 };
const SECRET = "s3cret-of-the-target";

async function withFolder(body: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "hh-send-"));
  try {
    await body(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function parcelOf(items: string, extra: Record<string, unknown> = {}, flushMs = 0) {
  const { targets } = targetsOf(items);
  const deliveries = await deliveriesFor(
    call("on_session_end", extra),
    targets,
    NOW,
    () => {},
  );
  return { deliveries, targets, proxies: {}, flushMs } satisfies Parcel;
}

const entry = (name: string, url: string, more = "") =>
  `- {name: ${name}, url: "${url}", events: [on_session_end], secret: ${SECRET}${more}}`;

async function* stream(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}

interface Started {
  readonly exit: Promise<number>;
  readonly said: string[];
  readonly lines: string[];
  readonly stop: AbortController;
}

function start(folder: string, input: Uint8Array, times: Partial<SenderTimes> = {}): Started {
  const said: string[] = [], lines: string[] = [], stop = new AbortController();
  const exit = runSender({
    place: placeIn(folder),
    input: stream(input),
    say: (line) => said.push(line),
    log: (level, text) => level === "debug" || lines.push(text),
    now: () => new Date(),
    stop: stop.signal,
    times: { lingerMs: 20, ...times },
  });
  return { exit, said, lines, stop };
}

const idsOf = (bodies: readonly { body: Buffer }[]) =>
  bodies.map(({ body }) => JSON.parse(body.toString()).delivery_id as string);

test("a parcel is the same on the other side, whatever pieces it comes in", async () => {
  const given = await parcelOf(entry("a", "https://u:p@example.com/x", ", headers: {X-A: b}"), {
    text: "\ud800 é \u0000",
  });
  const bytes = writeParcel(given);
  for (const size of [1, 3, 5, 1000, bytes.length]) {
    const pieces = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    const got = await readParcel(stream(...pieces));
    assert.deepEqual(got?.deliveries, given.deliveries);
    assert.deepEqual(got?.targets.map((t) => t.secrets()), given.targets.map((t) => t.secrets()));
    assert.equal(JSON.stringify(got?.targets), JSON.stringify(given.targets));
  }
});

test("no parcel is undefined, one cut off or no parcel at all is an error", async () => {
  const bytes = writeParcel(await parcelOf(entry("a", "https://example.com/")));
  assert.equal(await readParcel(stream()), undefined);
  await assert.rejects(readParcel(stream(bytes.subarray(0, -1))), /cut off/);
  assert.throws(() => new ParcelReader().push(Buffer.from("GET / HTTP/1.1")), /no parcel/);
});

test("a sender delivers what it was started with, ends when idle, and leaves the lock free", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(() => 200);
    const parcel = await parcelOf(entry("a", receiver.url));
    const { exit, lines } = start(folder, writeParcel(parcel));
    assert.equal(await exit, 0);
    await receiver.close();
    assert.deepEqual(idsOf(receiver.posts), parcel.deliveries.map(({ id }) => id));
    assert.equal(JSON.parse(receiver.posts[0]!.body.toString()).occurred_at, NOW.toISOString());
    assert.match(receiver.posts[0]!.headers.get("x-hermes-signature-256") ?? "", /^sha256=/);
    assert.deepEqual(lines, []);
    assert.equal(fs.existsSync(placeIn(folder).socket), false);
    await withFlock(placeIn(folder).lock, () => {}, { waitMs: 0 });
  });
});

test("a running sender takes parcels at its socket and says what became of them", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(({ requestLine }) => requestLine.includes("/bad") ? 404 : 200);
    const { exit } = start(folder, writeParcel(await parcelOf(entry("a", receiver.url))), {
      lingerMs: 300,
    });
    const { socket } = placeIn(folder);
    await until(() => fs.existsSync(socket));
    assert.equal(fs.statSync(socket).mode & 0o777, 0o600);
    const bad = receiver.url.replace("/hook", "/bad");
    const parcel = await parcelOf(`${entry("a", receiver.url)}\n${entry("b", bad)}`, {}, 3000);
    const given = await giveToSender(socket, writeParcel(parcel), parcel.flushMs, PATIENCE);
    assert.equal(given.kind, "taken");
    if (given.kind !== "taken") return;
    assert.deepEqual(given.answer, { taken: 2, dropped: 0 });
    const failed = parcel.deliveries[1]!.id;
    assert.deepEqual(await given.flushed, { undelivered: [[failed, "failed"]] });
    assert.equal(await exit, 0);
    await receiver.close();
    assert.equal(receiver.posts.length, 3);
  });
});

test("senders that come and go at the same time lose nothing and send nothing twice", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(() => 200);
    const parcels = await Promise.all(
      Array.from({ length: 80 }, (_, n) => parcelOf(entry("a", receiver.url), { n })),
    );
    // Lingering hardly at all, so that most find one that is about to end.
    const exits = await Promise.all(parcels.map(async (parcel) => {
      await new Promise((done) => setTimeout(done, Math.random() * 1500));
      return await start(folder, writeParcel(parcel), { lingerMs: 3 }).exit;
    }));
    await receiver.close();
    assert.deepEqual(exits.filter((exit) => exit !== 0), []);
    const wanted = parcels.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
    assert.deepEqual(idsOf(receiver.posts).sort(), wanted.sort());
  });
});

test("the one that does not get the lock hands over what it has, and its report", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(() => 200);
    const parcels = await Promise.all(
      [0, 1, 2].map((n) => parcelOf(entry("a", receiver.url), { n }, 2000)),
    );
    const started = parcels.map((parcel) => start(folder, writeParcel(parcel), { lingerMs: 50 }));
    for (const { exit, said } of started) {
      assert.equal(await exit, 0);
      assert.deepEqual(said, ['{"undelivered":[]}']);
    }
    await receiver.close();
    assert.equal(receiver.posts.length, 3);
  });
});

test("the same target with another secret is another target", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(() => 200);
    const one = await parcelOf(entry("a", receiver.url));
    const other = await parcelOf(entry("a", receiver.url).replace(SECRET, "another"));
    const { exit } = start(folder, writeParcel(one), { lingerMs: 300 });
    await until(() => fs.existsSync(placeIn(folder).socket));
    await giveToSender(placeIn(folder).socket, writeParcel(other), 0, PATIENCE);
    assert.equal(await exit, 0);
    await receiver.close();
    const { createHmac } = await import("node:crypto");
    const signed = receiver.posts.map(({ body, headers }) =>
      [SECRET, "another"].find((secret) =>
        headers.get("x-hermes-signature-256") ===
          `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
      )
    );
    assert.deepEqual(signed, [SECRET, "another"]);
  });
});

test("told to stop, it logs what it drops by target, event and id, and nothing else of it", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(() => {});
    const parcel = await parcelOf(entry("slow one", receiver.url), { text: "the body" });
    const { exit, lines, stop } = start(folder, writeParcel(parcel), { stopMs: 100 });
    await until(() => receiver.posts.length === 1);
    stop.abort();
    assert.equal(await exit, 0);
    await receiver.close();
    const said = lines.join("\n");
    const id = parcel.deliveries[0]!.id;
    assert.match(said, new RegExp(`"slow one": on_session_end ${id} dropped: time was up`));
    assert.doesNotMatch(said, new RegExp(`${SECRET}|the body`));
  });
});

test("its whole life is bounded, whatever the receiver does", async () => {
  await withFolder(async (folder) => {
    const receiver = await receive(() => {});
    const began = performance.now();
    const parcel = await parcelOf(entry("a", receiver.url));
    const { exit, lines } = start(folder, writeParcel(parcel), { lifeMs: 600, takeMs: 300 });
    assert.equal(await exit, 0);
    await receiver.close();
    assert.ok(performance.now() - began < 2000);
    assert.match(lines.join("\n"), /dropped: time was up/);
  });
});

test("after half its life a fresh sender takes over while it sends its last", async () => {
  await withFolder(async (folder) => {
    const slow = await receive((_, socket) => void setTimeout(() => socket.end(OK), 700));
    const quick = await receive(() => 200);
    const first = start(folder, writeParcel(await parcelOf(entry("slow", slow.url))), {
      lifeMs: 5000,
      takeMs: 200,
    });
    await new Promise((done) => setTimeout(done, 350));
    const second = start(folder, writeParcel(await parcelOf(entry("quick", quick.url))));
    await until(() => quick.posts.length === 1, 2000);
    assert.deepEqual(await Promise.all([first.exit, second.exit]), [0, 0]);
    await Promise.all([slow.close(), quick.close()]);
    assert.deepEqual([...first.lines, ...second.lines], []);
    assert.equal(slow.posts.length, 1);
  });
});
const OK = "HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n";

test("while the holder of the lock greets nobody, the other waits, and says what it drops", async () => {
  await withFolder(async (folder) => {
    const place = placeIn(folder);
    const parcel = await parcelOf(entry("a", "http://127.0.0.1:9/"));
    await withFlock(place.lock, async () => {
      const { exit, lines } = start(folder, writeParcel(parcel), { lifeMs: 400 });
      assert.equal(await exit, 1);
      assert.match(lines.join("\n"), new RegExp(`"a": on_session_end ${parcel.deliveries[0]!.id}`));
    });
  });
});

/** A server at a socket that is no sender. */
async function pretend(socket: string, onConnection: (connection: Socket) => void) {
  const server = createServer((connection) => {
    connection.on("error", () => {});
    onConnection(connection);
  });
  await new Promise<void>((ready) => server.listen(socket, ready));
  return () => new Promise<void>((closed) => server.close(() => closed()));
}

test("who is not greeted sends nothing, and who is cut off after it may have been lost", async () => {
  await withFolder(async (folder) => {
    const socket = path.join(folder, "s");
    const bytes = writeParcel(await parcelOf(entry("a", "http://127.0.0.1:9/")));
    const give = () => giveToSender(socket, bytes, 0, { greetMs: 200, answerMs: 200 });
    assert.deepEqual(await give(), { kind: "nobody" });
    let got = 0;
    const count = (connection: Socket) => connection.on("data", (chunk) => got += chunk.length);
    let stop = await pretend(socket, count);
    assert.deepEqual(await give(), { kind: "nobody" });
    await stop();
    stop = await pretend(socket, (connection) => {
      count(connection);
      connection.write("somebody else 7\n");
    });
    assert.deepEqual(await give(), { kind: "nobody" });
    await stop();
    assert.equal(got, 0);
    stop = await pretend(socket, (connection) => {
      connection.write(`${GREETING}\n`);
      connection.once("data", () => connection.destroy());
    });
    assert.deepEqual(await give(), { kind: "lost" });
    await stop();
  });
});

test("the meeting place is a folder of ours alone, elsewhere when the home has none", async () => {
  await withFolder((folder) => {
    const home = path.join(folder, "home"), runtime = path.join(folder, "runtime");
    fs.mkdirSync(home);
    fs.mkdirSync(runtime);
    const env = { XDG_RUNTIME_DIR: runtime };
    const folderOf = () => {
      const place = senderPlace(home, env, uid);
      return "fault" in place ? place.fault : place.folder;
    };
    assert.equal(folderOf(), path.join(home, "run"));
    assert.equal(fs.statSync(path.join(home, "run")).mode & 0o777, 0o700);
    fs.chmodSync(path.join(home, "run"), 0o777);
    assert.equal(path.dirname(folderOf()), runtime);
    fs.rmSync(path.join(home, "run"), { recursive: true });
    fs.writeFileSync(path.join(home, "run"), "");
    assert.equal(path.dirname(folderOf()), runtime);
    fs.rmSync(path.join(home, "run"));
    fs.symlinkSync(runtime, path.join(home, "run"));
    assert.equal(path.dirname(folderOf()), runtime);
    const other = path.join(folder, "another home");
    fs.mkdirSync(other);
    fs.writeFileSync(path.join(other, "run"), "");
    const place = senderPlace(other, env, uid);
    assert.ok(!("fault" in place) && place.folder !== folderOf());
  });
});

test("the log is ours alone, one line a thing, and set aside when it is full", async () => {
  await withFolder((folder) => {
    const file = path.join(folder, "logs", "outbound.log");
    const log = senderLog(file, () => NOW);
    log("info", "not this");
    log("warning", "one\nline\u202e");
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.equal(fs.statSync(path.dirname(file)).mode & 0o777, 0o700);
    const [line, rest] = fs.readFileSync(file, "utf8").split("\n");
    assert.match(line!, /^2026-07-22T14:00:00.123Z warning one\\nline\\u202e$/);
    assert.equal(rest, "");
    fs.writeFileSync(file, "x".repeat(MAX_LOG + 1));
    log("error", "after");
    assert.match(fs.readFileSync(file, "utf8"), /^[^x]*after\n$/);
    assert.equal(fs.statSync(`${file}.1`).size, MAX_LOG + 1);
    assert.equal(openSenderLog(path.join(file, "below a file")), undefined);
  });
});

test("a parcel that was cut off is said in the log, and the exit is 1", async () => {
  await withFolder(async (folder) => {
    const bytes = writeParcel(await parcelOf(entry("a", "http://127.0.0.1:9/")));
    const { exit, lines } = start(folder, bytes.subarray(0, 50));
    assert.equal(await exit, 1);
    assert.deepEqual(lines, ["the sender failed: a parcel was cut off"]);
    assert.equal(await start(folder, new Uint8Array()).exit, 0);
  });
});
