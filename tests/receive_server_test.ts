import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import test from "node:test";
import type { Delivery } from "../lib/receive/delivery.ts";
import { deliveryLine } from "../lib/receive/line.ts";
import { Reception } from "../lib/receive/reception.ts";
import { type ReceiverOptions, startReceiver } from "../lib/receive/server.ts";
import { hmac } from "../lib/receive/signature.ts";

const NOW = new Date("2026-07-22T14:00:00Z");
const SECRET = "s3cret";

interface Setup {
  url: string;
  port: number;
  taken: Delivery[];
  room: { left: number };
  post: (body: string, headers?: Record<string, string>) => Promise<[number, unknown]>;
  raw: (text: string) => Promise<string>;
  stop: () => Promise<void>;
}

type Options = Partial<ReceiverOptions> & { secrets?: string[] };

async function withReceiver(options: Options, body: (setup: Setup) => Promise<void>) {
  const { secrets = [SECRET], ...more } = options;
  const taken: Delivery[] = [], room = { left: 100 };
  const reception = new Reception({
    secrets,
    now: () => NOW,
    accept: (delivery) => room.left-- > 0 && taken.push(delivery) > 0,
  });
  const receiver = await startReceiver({
    host: "127.0.0.1",
    port: 0,
    loopbackOnly: secrets.length === 0,
    take: (headers, bytes) => reception.take(headers, bytes),
    ...more,
  });
  const { port } = receiver.address;
  const url = `http://127.0.0.1:${port}/`;
  const post = async (text: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { method: "POST", body: text, headers });
    return [answer.status, await answer.json()] as [number, unknown];
  };
  const raw = (text: string) => rawRequest(port, text);
  try {
    await body({ url, port, taken, room, post, raw, stop: () => receiver.stop(2000) });
  } finally {
    await receiver.stop(0);
  }
}

/** All that comes back until the other side closes, or for three seconds. */
function rawRequest(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    const timer = setTimeout(() => socket.destroy(), 3000);
    socket.on("data", (data) => got += data);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(got);
    });
  });
}

function own(id: string, more = ""): string {
  return `{"hook_event_name": "subagent_stop", "delivery_id": "${id}", "timestamp": "2026-07-22T14:00:00Z"${more}}`;
}

function signed(body: string, secret = SECRET) {
  const digest = Buffer.from(hmac(secret, [body])).toString("hex");
  return { "X-Hermes-Signature-256": `sha256=${digest}` };
}

test("a signed delivery is taken once, and its repetition is answered and dropped", () =>
  withReceiver({}, async ({ post, taken }) => {
    const body = own("a");
    assert.deepEqual(await post(body, signed(body)), [200, { ok: true }]);
    assert.deepEqual(await post(body, signed(body)), [200, { ok: true, duplicate: true }]);
    // The sender's one retry: the same id with a new attempt, time and signature.
    const again = own("a", ', "attempt": 2');
    assert.deepEqual(await post(again, signed(again)), [200, { ok: true, duplicate: true }]);
    assert.deepEqual(taken.map(({ deliveryId }) => deliveryId), ["a"]);
  }));

test("what is not to be believed is answered 401 with why, and is not remembered", () =>
  withReceiver({}, async ({ post, taken }) => {
    const body = own("a");
    const [status, answer] = await post(body, signed(body, "wrong"));
    assert.equal(status, 401);
    assert.match(
      JSON.stringify(answer),
      /"ok":false,"error":"X-Hermes-Signature-256 does not match/,
    );
    assert.equal((await post(body))[0], 401);
    const old = body.replace("14:00:00Z", "13:54:59Z");
    assert.match(JSON.stringify(await post(old, signed(old))), /401.*stale/);
    assert.equal(taken.length, 0);
    assert.deepEqual(await post(body, signed(body)), [200, { ok: true }]);
  }));

test("a delivery for which there is no room is answered 503 and taken when it comes again", () =>
  withReceiver({}, async ({ post, taken, room }) => {
    const body = own("a");
    room.left = 0;
    assert.equal((await post(body, signed(body)))[0], 503);
    room.left = 1;
    assert.deepEqual(await post(body, signed(body)), [200, { ok: true }]);
    assert.equal(taken.length, 1);
  }));

test("only POST is answered, and no web page", () =>
  withReceiver({}, async ({ url, post, taken }) => {
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await fetch(url, { method });
      await answer.body?.cancel();
      assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST"], method);
    }
    const body = own("a");
    for (const origin of ["http://evil.example", "null"]) {
      const [status] = await post(body, { ...signed(body), Origin: origin });
      assert.equal(status, 403, origin);
    }
    assert.equal(taken.length, 0);
  }));

test("without a secret a Host that is not this machine is refused, and nothing counts as verified", () =>
  withReceiver({ secrets: [] }, async ({ raw, taken }) => {
    const request = (host: string) =>
      `POST / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`;
    assert.match(await raw(request("evil.example:80")), /^HTTP\/1\.1 403 /);
    assert.match(await raw("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}"), /^HTTP\/1\.1 403 /);
    assert.match(await raw(request("localhost:1")), /^HTTP\/1\.1 200 /);
    assert.deepEqual([taken.length, taken[0]?.scheme], [1, undefined]);
  }));

test("without a secret ids are taken at their word, and repetitions still drop", () =>
  withReceiver({ secrets: [] }, async ({ post, taken }) => {
    const github = { "X-GitHub-Delivery": "g", "X-GitHub-Event": "push" };
    assert.deepEqual(await post("{}", github), [200, { ok: true }]);
    assert.deepEqual(await post("{}", github), [200, { ok: true, duplicate: true }]);
    assert.deepEqual(await post(own("a")), [200, { ok: true }]);
    assert.deepEqual(await post("{}"), [200, { ok: true }]);
    assert.deepEqual(await post("{}"), [200, { ok: true }]);
    assert.deepEqual(taken.map(({ event }) => event), [
      "push",
      "subagent_stop",
      undefined,
      undefined,
    ]);
  }));

test("a body over the limit is answered 413, said beforehand or not", () =>
  withReceiver({ bodyLimit: 1000 }, async ({ post, raw, taken }) => {
    const fits = own("a", `, "x": "${"x".repeat(800)}"`).padEnd(1000);
    assert.deepEqual(await post(fits, signed(fits)), [200, { ok: true }]);
    const over = fits + " ";
    assert.equal((await post(over, signed(over)))[0], 413);
    const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
    assert.match(await raw(head + chunk + chunk), /^HTTP\/1\.1 413 /);
    assert.equal(taken.length, 1);
  }));

test("a large body still being written gets its 413 and not a broken connection", () =>
  withReceiver({ bodyLimit: 1000 }, async ({ post }) => {
    assert.equal((await post("x".repeat(3_000_000)))[0], 413);
  }));

test("the default limit takes 16 MiB and not a byte more", () =>
  withReceiver({}, async ({ post }) => {
    const most = "x".repeat(16 * 1024 * 1024);
    const hub = { "X-Hub-Signature-256": signed(most)["X-Hermes-Signature-256"] };
    assert.deepEqual(await post(most, hub), [200, { ok: true }]);
    assert.equal((await post(most + "x", hub))[0], 413);
  }));

test("bodies that many senders hold open are bounded together", () =>
  withReceiver({ bodiesLimit: 1500 }, async ({ port, post }) => {
    const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n";
    const holder = connect(port, "127.0.0.1", () => holder.write(head + "x".repeat(1000)));
    holder.on("error", () => {});
    await new Promise((done) => setTimeout(done, 100));
    assert.equal((await post("x".repeat(1000)))[0], 503);
    holder.destroy();
    await new Promise((done) => setTimeout(done, 100));
    assert.equal((await post("x".repeat(1000)))[0], 401);
  }));

test("a sender that never ends its body or its headers is cut off", () =>
  withReceiver({ deadlineMs: 300 }, async ({ raw, post }) => {
    const began = performance.now();
    const head = "POST / HTTP/1.1\r\nHost: a\r\n";
    const answers = await Promise.all([raw(head), raw(head + "Content-Length: 9\r\n\r\nabc")]);
    assert.ok(performance.now() - began < 2500);
    for (const answer of answers) assert.match(answer, /^(HTTP\/1\.1 408 |$)/);
    const body = own("a");
    assert.deepEqual(await post(body, signed(body)), [200, { ok: true }]);
  }));

test("a body that does not end after its 413 is cut off", () =>
  withReceiver({ bodyLimit: 10 }, async ({ raw }) => {
    const began = performance.now();
    const answer = await raw("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\nabc");
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.ok(performance.now() - began < 2500);
  }));

test("a sender that leaves in the middle is not taken for a delivery", () =>
  withReceiver({ secrets: [] }, async ({ port, taken, post }) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{}");
      setTimeout(() => socket.destroy(), 50);
    });
    await new Promise((done) => socket.on("close", done));
    await new Promise((done) => setTimeout(done, 50));
    assert.equal(taken.length, 0);
    assert.equal((await post("{}"))[0], 200);
  }));

test("two ambiguous lengths or two ids never make a delivery", () =>
  withReceiver({}, async ({ raw, taken }) => {
    const body = own("a");
    const sign = signed(body)["X-Hermes-Signature-256"];
    const head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    const twice = `${head}Content-Length: ${body.length}\r\nContent-Length: 3\r\n\r\n${body}`;
    assert.match(await raw(twice), /^HTTP\/1\.1 400 /);
    const ids =
      `X-Hermes-Delivery: a\r\nX-Hermes-Delivery: a\r\nX-Hermes-Signature-256: ${sign}\r\n`;
    const answer = await raw(`${head}${ids}Content-Length: ${body.length}\r\n\r\n${body}`);
    assert.match(answer, /^HTTP\/1\.1 401 [^]*X-Hermes-Delivery is not the/);
    assert.equal(taken.length, 0);
  }));

test("once stopping, a request under way is answered 503 so that its sender tries again", () =>
  withReceiver({}, async ({ port, stop, taken }) => {
    const body = own("a");
    const sign = signed(body)["X-Hermes-Signature-256"];
    const head = "POST / HTTP/1.1\r\nHost: a\r\n" +
      `X-Hermes-Signature-256: ${sign}\r\nContent-Length: ${body.length}\r\n\r\n`;
    let got = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(head));
    socket.on("data", (data) => got += data);
    socket.on("error", () => {});
    await new Promise((done) => setTimeout(done, 100));
    const closed = new Promise((done) => socket.on("close", done));
    const stopped = stop();
    socket.write(body);
    await Promise.all([stopped, closed]);
    assert.match(got, /^HTTP\/1\.1 503 [^]*the receiver is stopping/);
    assert.equal(taken.length, 0);
  }));

test("the line keeps digits and the order of keys, and escapes what steers a terminal", () => {
  const reception = (body: string) => {
    let line = "";
    const accept = (delivery: Delivery, bytes: Uint8Array) => {
      line = deliveryLine(delivery, bytes, NOW);
      return true;
    };
    new Reception({ secrets: [SECRET], now: () => NOW, accept })
      .take(signed(body), new TextEncoder().encode(body));
    return line;
  };
  assert.equal(
    reception(own("a", ', "10": 12345678901234567890, "2": 1.0, "x": "é\u202e\\n"')),
    '{"received_at": "2026-07-22T14:00:00.000Z", "scheme": "hermes", "event": "subagent_stop", ' +
      '"delivery_id": "a", "verified": true, "body": ' +
      own("a", ', "10": 12345678901234567890, "2": 1.0, "x": "é\\u202e\\n"') + "}\n",
  );
});

test("a body that is no JSON, or no UTF-8, is printed as base64", () => {
  for (const body of [new Uint8Array([0xff, 0x7b]), new TextEncoder().encode("{'a'")]) {
    const line = JSON.parse(deliveryLine({ knownAs: [] }, body, NOW));
    const { body_base64, body: none, verified } = line;
    assert.deepEqual([body_base64, none], [Buffer.from(body).toString("base64"), undefined]);
    assert.equal(verified, false);
  }
});
