/** The drill: everything a receiver can do to a sender, and what comes of it (rules 10.2–10.4). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import type net from "node:net";
import test from "node:test";
import { ONE_RETRY, type Policy } from "../lib/outbound/work.ts";
import { call, outboxOf, targetOf } from "./programs/outbound_outbox.ts";
import {
  answerText,
  closedPort,
  type Post,
  receive,
  type Script,
  until,
} from "./programs/outbound_receiver.ts";

const events = "events: [on_session_end]\n  secret: tops3cret";

/** The rule's retry without its second of waiting, for what is not about time. */
const AT_ONCE: Policy = {
  after: (...attempt) => {
    const step = ONE_RETRY.after(...attempt);
    const { settlement } = step;
    return settlement.kind === "retry" ? { settlement: { ...settlement, afterMs: 50 } } : step;
  },
};

/** Fires one event at a receiver with this script and waits for its end. */
async function fireAt(script: Script, options = "", policy = AT_ONCE) {
  const receiver = await receive(script);
  const { outbox, lines } = outboxOf([
    targetOf(`- name: drill\n  url: ${receiver.url}\n  ${events}\n${options}`),
  ], { policy });
  const began = performance.now();
  const ids = await outbox.tell(call("on_session_end", { completed: true }));
  const firedMs = performance.now() - began;
  const report = await outbox.settled(ids, 10_000);
  const tookMs = performance.now() - began;
  // What would come too often comes now.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await outbox.close();
  await receiver.close();
  const attempts = outbox.recent();
  return { posts: receiver.posts, ids, report, attempts, lines, firedMs, tookMs };
}

function check(post: Post, id: string, attempt: number): void {
  const { headers, body } = post;
  const dgst = ["dgst", "-sha256", "-hmac", "tops3cret"];
  const mac = spawnSync("openssl", dgst, { input: body }).stdout.toString().trim().split(" ").at(
    -1,
  );
  assert.equal(headers.get("x-hermes-signature-256"), `sha256=${mac}`);
  assert.equal(headers.get("x-hermes-delivery"), id);
  assert.equal(headers.get("x-hermes-event"), "on_session_end");
  assert.equal(headers.get("content-type"), "application/json");
  assert.match(headers.get("user-agent")!, /^hermes-hooks\/\d/);
  const read = JSON.parse(body.toString());
  assert.deepEqual([read.delivery_id, read.attempt], [id, attempt]);
  assert.match(read.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(id, /^[0-9a-f]{32}$/);
}

test("200: one signed POST, and whoever fired was not held up", async () => {
  const { posts, ids, report, firedMs, lines } = await fireAt(() => 200);
  assert.equal(posts.length, 1);
  check(posts[0]!, ids[0]!, 1);
  assert.equal(report.delivered, 1);
  assert.ok(firedMs < 100, `${firedMs} ms`);
  assert.deepEqual(lines, []);
});

test("404: one POST, no retry, one warning", async () => {
  const { posts, report, lines } = await fireAt(() => 404);
  assert.deepEqual([posts.length, report.failed, lines.length], [1, 1, 1]);
  assert.match(lines[0]!, /^outbound "drill": on_session_end \w{32} not delivered: answered 404$/);
});

test("500 then 200: tried again a second later, with the same id and a fresh signature", async () => {
  const { posts, ids, report, attempts } = await fireAt(
    (_, _s, n) => n === 1 ? 500 : 200,
    "",
    ONE_RETRY,
  );
  assert.deepEqual([posts.length, report.delivered], [2, 1]);
  posts.forEach((post, i) => check(post, ids[0]!, i + 1));
  const [first, second] = posts.map(({ body }) => JSON.parse(body.toString()));
  assert.notEqual(first.timestamp, second.timestamp);
  assert.equal(first.occurred_at, second.occurred_at);
  const gap = posts[1]!.at - posts[0]!.at;
  assert.ok(gap > 900 && gap < 2_000, `${gap} ms`);
  assert.deepEqual(attempts.map((a) => [a.attempt, a.status, a.retried]), [
    [2, 200, false],
    [1, 500, true],
  ]);
});

test("500 and 500: two POSTs and no more", async () => {
  const { posts, report, lines } = await fireAt(() => 500);
  assert.deepEqual([posts.length, report.failed], [2, 1]);
  assert.match(lines.join(), /not delivered: answered 500 \(2 attempts\)$/);
});

test("302: one POST, not followed, its Location told with nothing in it that steers a terminal", async () => {
  const { posts, report, lines } = await fireAt((_, socket) => {
    socket.write("HTTP/1.1 302 X\r\nLocation: /els\x1bewhere\r\nContent-Length: 0\r\n\r\n");
  });
  assert.deepEqual([posts.length, report.failed], [1, 1]);
  assert.match(
    lines[0]!,
    /answered 302, a redirect to "\/els%1Bewhere"; redirects are not followed/,
  );
});

test("a Location is told without the password, key or token that it repeats", async () => {
  const told = async (location: string) => {
    const { lines } = await fireAt((_, socket) => {
      socket.write(`HTTP/1.1 301 X\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    });
    return lines.join();
  };
  const lines = await Promise.all([
    told("https://me:hunter1@a.example/x?token=hunter2&b=1"),
    told("/y?key=hunter3&b=2"),
    told("//me:hunter4@b.example/z"),
  ]);
  assert.doesNotMatch(lines.join(), /hunter/);
  assert.match(lines[0]!, /to "https:\/\/a\.example\/x\?token=\[redacted\]&b=1"/);
  assert.match(lines[1]!, /to "\/y\?key=\[redacted\]&b=2"/);
  assert.match(lines[2]!, /to "http:\/\/b\.example\/z"/);
});

test("a hang: each attempt ends at its timeout, and there are two", async () => {
  const { posts, report, lines, tookMs } = await fireAt(() => {}, "  timeout: 1");
  assert.deepEqual([posts.length, report.failed], [2, 1]);
  assert.match(lines[0]!, /timed out after 1s \(2 attempts\)$/);
  assert.ok(tookMs > 1_900 && tookMs < 3_500, `${tookMs} ms`);
});

test("a slow trickle of headers does not stretch the timeout", async () => {
  const { report, tookMs } = await fireAt((_, socket) => {
    let n = 0;
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write(`X-${n++}: y\r\n`), 100);
    socket.on("close", () => clearInterval(timer));
  }, "  timeout: 1");
  assert.equal(report.failed, 1);
  assert.ok(tookMs < 4_500, `${tookMs} ms`);
});

test("a closed port: two attempts, and a warning that says what it was", async () => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const { outbox, lines } = outboxOf([targetOf(`- name: drill\n  url: ${url}\n  ${events}`)]);
  const ids = await outbox.tell(call("on_session_end"));
  assert.equal((await outbox.settled(ids, 5_000)).failed, 1);
  assert.equal(outbox.recent().length, 2);
  assert.match(lines[0]!, /connection refused \(2 attempts\)$/);
  await outbox.close();
});

test("a reset before the answer is whole in its head: tried again", async () => {
  const { posts, report } = await fireAt((_, socket, n) => {
    if (n > 1) return 200;
    socket.write("HTTP/1.1 200 O");
    setTimeout(() => (socket as net.Socket).resetAndDestroy(), 20);
  });
  assert.deepEqual([posts.length, report.delivered], [2, 1]);
});

test("a reset in the middle of the body: the status was known, so it counts", async () => {
  const { posts, report } = await fireAt((_, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    setTimeout(() => (socket as net.Socket).resetAndDestroy(), 20);
  });
  assert.deepEqual([posts.length, report.delivered], [1, 1]);
});

test("an endless body: cut at 64 KiB, and the delivery counts by its status", async () => {
  let written = 0;
  const { posts, report, tookMs } = await fireAt((_, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const more = () => {
      while (!socket.destroyed && socket.write(`4000\r\n${"x".repeat(0x4000)}\r\n`)) {
        written += 0x4000;
      }
    };
    socket.on("drain", more);
    more();
  });
  assert.deepEqual([posts.length, report.delivered], [1, 1]);
  assert.ok(tookMs < 2_000, `${tookMs} ms`);
  assert.ok(written < 32 * 1024 * 1024, `${written} bytes`);
});

test("a body that never comes holds nothing up for long", async () => {
  const { report, tookMs } = await fireAt((_, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  });
  assert.equal(report.delivered, 1);
  assert.ok(tookMs < 2_000, `${tookMs} ms`);
});

test("an answer that is no HTTP: tried again, and said", async () => {
  const { posts, lines } = await fireAt((_, socket) => {
    socket.end("220 mail.example.com ESMTP\r\n\r\n");
  });
  assert.equal(posts.length, 2);
  assert.match(lines[0]!, /the answer is not HTTP\/1/);
});

test("a server that closes connections it was to keep gets exactly one POST an attempt", async () => {
  // It answers the first request of a connection, and closes at the second without a word.
  const seen = new Set<number>();
  const receiver = await receive(({ connection }, socket) => {
    if (seen.has(connection)) return void socket.destroy();
    seen.add(connection);
    socket.write(answerText(200));
  });
  const { outbox } = outboxOf([targetOf(`- url: ${receiver.url}\n  ${events}`)]);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(...await outbox.tell(call("on_session_end")));
  const report = await outbox.settled(ids, 10_000);
  await outbox.close();
  await receiver.close();
  assert.equal(report.delivered, 5);
  const wire = receiver.posts.map(({ headers, body }) =>
    `${headers.get("x-hermes-delivery")} ${JSON.parse(body.toString()).attempt}`
  );
  assert.equal(wire.length, outbox.recent().length);
  assert.equal(new Set(wire).size, wire.length);
  // Having been fooled twice, it keeps connections no longer.
  assert.ok(wire.length <= 7, `${wire.length} POSTs`);
});

test("connections are kept for the next delivery, and closed when told so", async () => {
  const receiver = await receive((_, socket, n) => {
    if (n !== 3) return 200;
    socket.end(answerText(200, "Connection: close\r\n"));
  });
  const { outbox } = outboxOf([targetOf(`- url: ${receiver.url}\n  ${events}`)]);
  for (let i = 0; i < 5; i++) {
    await outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  }
  assert.deepEqual(receiver.posts.map(({ connection }) => connection), [1, 1, 1, 2, 2]);
  await outbox.close();
  await receiver.close();
});

test("a body of megabytes arrives whole and signed", async () => {
  const receiver = await receive(() => 200);
  const { outbox } = outboxOf([targetOf(`- url: ${receiver.url}\n  ${events}`)]);
  const ids = await outbox.tell(call("on_session_end", { note: "ü".repeat(3_000_000) }));
  assert.equal((await outbox.settled(ids, 10_000)).delivered, 1);
  await until(() => receiver.posts.length === 1);
  check(receiver.posts[0]!, ids[0]!, 1);
  await outbox.close();
  await receiver.close();
});
