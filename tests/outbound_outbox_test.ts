import assert from "node:assert/strict";
import test from "node:test";
import { Slots } from "../lib/outbound/slots.ts";
import { call, outboxOf, targetOf, targetsOf } from "./programs/outbound_outbox.ts";
import { closedPort, receive, until } from "./programs/outbound_receiver.ts";

const events = "events: [on_session_end, post_tool_call]";
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const noteOf = (body: { toString(): string }) => JSON.parse(body.toString()).extra.note;

test("a dead target and a hanging one never delay another", async () => {
  const well = await receive(() => 200), hung = await receive(() => {});
  const { outbox } = outboxOf(
    targetsOf(`
- {name: dead, url: "http://127.0.0.1:${await closedPort()}/", ${events}}
- {name: hung, url: "${hung.url}", ${events}, timeout: 30}
- {name: well, url: "${well.url}", ${events}}`).targets,
  );
  const began = performance.now();
  let slowest = 0;
  for (let i = 0; i < 20; i++) {
    const before = performance.now();
    outbox.tell(call("on_session_end", { note: i }));
    slowest = Math.max(slowest, performance.now() - before);
  }
  await until(() => well.posts.length === 20);
  const took = performance.now() - began;
  assert.ok(took < 900, `${took} ms for the healthy target`);
  assert.ok(slowest < 50, `${slowest} ms to fire`);
  const counts = [...(await outbox.counts()).values()];
  assert.deepEqual(
    counts.map(({ name, waiting, inFlight, delivered }) => [
      name,
      waiting + inFlight,
      delivered,
    ]),
    [["dead", 20, 0], ["hung", 20, 0], ["well", 0, 20]],
  );
  await outbox.close();
  await well.close();
  await hung.close();
});

test("one at a time keeps the order, also past a retry, which holds its own lane only", async () => {
  const flaky = await receive((_, _s, n) => n === 2 ? 503 : 200), calm = await receive(() => 200);
  const { outbox } = outboxOf(
    targetsOf(`
- {url: "${flaky.url}", ${events}}
- {url: "${calm.url}", ${events}}`).targets,
    {
      policy: {
        after: (_target, _delivery, { status, error = "" }, made) => ({
          settlement: status === 200
            ? { kind: "done" }
            : made === 1 && status === 503
            ? { kind: "retry", afterMs: 300 }
            : { kind: "dead", why: { error } },
        }),
      },
    },
  );
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(...await outbox.tell(call("on_session_end", { note: i })));
  await until(() => calm.posts.length === 5);
  assert.equal(flaky.posts.length, 2);
  assert.equal((await outbox.settled(ids, 5_000)).delivered, 10);
  assert.deepEqual(flaky.posts.map(({ body }) => noteOf(body)), [0, 1, 1, 2, 3, 4]);
  assert.deepEqual(calm.posts.map(({ body }) => noteOf(body)), [0, 1, 2, 3, 4]);
  await outbox.close();
  await flaky.close();
  await calm.close();
});

test("concurrency sends that many at a time and no more", async () => {
  let now = 0, most = 0;
  const slow = await receive((_, socket) => {
    most = Math.max(most, ++now);
    setTimeout(() => {
      now--;
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }, 60);
  });
  const { outbox } = outboxOf([targetOf(`- {url: "${slow.url}", ${events}, concurrency: 4}`)]);
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push(...await outbox.tell(call("on_session_end")));
  assert.equal((await outbox.settled(ids, 5_000)).delivered, 12);
  assert.equal(most, 4);
  await outbox.close();
  await slow.close();
});

test("slots are given in order, and only as many as there are", async () => {
  const slots = new Slots(2), got: string[] = [];
  assert.equal(slots.take() ?? slots.take(), undefined);
  for (const name of ["a", "b"]) slots.take()?.then(() => got.push(name));
  await sleep(1);
  assert.deepEqual(got, []);
  slots.give();
  await sleep(1);
  assert.deepEqual(got, ["a"]);
});

test("a rate limit makes deliveries wait and drops none", async () => {
  const sink = await receive(() => 200);
  const { outbox } = outboxOf([
    targetOf(`- {url: "${sink.url}", ${events}, rate_limit_per_second: 20, concurrency: 8}`),
  ]);
  const ids: string[] = [];
  for (let i = 0; i < 21; i++) ids.push(...await outbox.tell(call("on_session_end")));
  const began = performance.now();
  assert.equal((await outbox.settled(ids, 5_000)).delivered, 21);
  const took = performance.now() - began;
  assert.ok(took > 900 && took < 1_600, `${took} ms`);
  await outbox.close();
  await sink.close();
});

test("what does not fit is dropped as it comes, and warned about once with the count", async () => {
  const hung = await receive(() => {});
  const { outbox, lines } = outboxOf([
    targetOf(`- {name: hung, url: "${hung.url}", ${events}, max_queue: 5}`),
  ]);
  const first = await outbox.tell(call("on_session_end"));
  await until(() => hung.posts.length === 1);
  const ids: string[] = [];
  for (let i = 0; i < 100; i++) ids.push(...await outbox.tell(call("on_session_end")));
  assert.equal(ids.length, 100);
  const report = await outbox.settled([...first, ...ids, "unheard of"], 10);
  assert.deepEqual(report, { delivered: 0, failed: 0, dropped: 95, pending: 6, unknown: 1 });
  await sleep(1_300);
  assert.deepEqual(lines, ['outbound "hung": queue full (max_queue 5): 95 events dropped']);
  await outbox.close();
  await hung.close();
});

test("each target gets the events it names, also of a blocked call, and the event as fired", async () => {
  const sink = await receive(() => 200);
  const { outbox } = outboxOf(
    targetsOf(`
- {name: a, url: "${sink.url}?a", events: [post_tool_call], matcher: "term.*"}
- {name: b, url: "${sink.url}?b", events: [on_session_end, post_tool_call]}
- {name: c, url: "${sink.url}?c", events: [post_tool_call], secret_env: NOT_SET}`).targets,
  );
  const fired = call("post_tool_call", { note: 1 }, "terminal");
  const ids = [
    ...await outbox.tell(fired),
    ...await outbox.tell(call("post_tool_call", {}, "write_file")),
    ...await outbox.tell(call("on_session_start")),
  ];
  assert.equal(ids.length, 3);
  await outbox.settled(ids, 5_000);
  const lines = sink.posts.map(({ requestLine }) => requestLine).sort();
  assert.deepEqual(lines.map((line) => line.split(" ")[1]), ["/hook?a", "/hook?b", "/hook?b"]);
  const text = sink.posts[0]!.body.toString();
  assert.ok(text.startsWith(fired.text.slice(0, -1)));
  await outbox.close();
  await sink.close();
});

test("redact takes credentials out for the targets that want it, before signing", async () => {
  const sink = await receive(() => 200);
  const { outbox } = outboxOf(
    targetsOf(`
- {url: "${sink.url}?safe", ${events}, redact: true}
- {url: "${sink.url}?all", ${events}}`).targets,
  );
  await outbox.settled(await outbox.tell(call("on_session_end", { password: "hunter2" })), 5_000);
  const of = (query: string) =>
    JSON.parse(sink.posts.find((p) => p.requestLine.includes(query))!.body.toString()).extra;
  assert.deepEqual([of("?safe").password, of("?safe").redacted_values], ["[redacted]", 1]);
  assert.deepEqual([of("?all").password, of("?all").redacted_values], ["hunter2", undefined]);
  await outbox.close();
  await sink.close();
});

test("extra headers and a URL's password are sent, and ours stand", async () => {
  const sink = await receive(() => 200);
  const url = sink.url.replace("//", "//us%20er:p%40ss@");
  const { outbox, lines, debug } = outboxOf([
    targetOf(`- {url: "${url}", ${events}, secret: s, format: standard, headers: {X-Team: ops}}`),
  ]);
  await outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  const { headers } = sink.posts[0]!;
  assert.equal(headers.get("x-team"), "ops");
  assert.equal(headers.get("authorization"), `Basic ${btoa("us er:p@ss")}`);
  assert.equal(headers.get("webhook-id"), headers.get("x-hermes-delivery"));
  assert.match(headers.get("webhook-signature")!, /^v1,/);
  assert.doesNotMatch([...lines, ...debug].join() + JSON.stringify(outbox.recent()), /p@ss|p%40ss/);
  await outbox.close();
  await sink.close();
});

test("a delivery that ended can be sent again under its id, one that is unknown cannot", async () => {
  const sink = await receive((_, _s, n) => n === 1 ? 400 : 200);
  const { outbox } = outboxOf([targetOf(`- {url: "${sink.url}", ${events}}`)]);
  const [id] = await outbox.tell(call("on_session_end"));
  assert.equal((await outbox.settled([id!], 5_000)).failed, 1);
  assert.equal(outbox.redeliver(id!), true);
  assert.equal(outbox.redeliver(id!), false);
  assert.equal((await outbox.settled([id!], 5_000)).delivered, 1);
  assert.equal(outbox.redeliver("0".repeat(32)), false);
  assert.deepEqual(sink.posts.map(({ headers }) => headers.get("x-hermes-delivery")), [id, id]);
  assert.deepEqual(outbox.recent().map((a) => [a.id, a.outcome]), [
    [id, "delivered"],
    [id, "rejected"],
  ]);
  await outbox.close();
  await sink.close();
});

test("deliveries from another process keep their ids; those of no target are dropped", async () => {
  const sink = await receive(() => 200);
  const target = targetOf(`- {url: "${sink.url}", ${events}}`);
  const { outbox } = outboxOf([target]);
  const made = {
    event: "on_session_end",
    wire: "{}",
    occurredAt: "2026-01-01T00:00:00.000Z",
    attempts: 0,
  };
  const [known, other, forged] = ["1".repeat(32), "2".repeat(32), "3".repeat(32)];
  await outbox.adopt([
    { ...made, id: known!, target: target.key },
    { ...made, id: other!, target: "nobody" },
    { ...made, id: forged!, target: target.key, event: "x\r\nEvil: 1" },
  ]);
  const report = await outbox.settled([known!, other!, forged!], 5_000);
  assert.deepEqual([report.delivered, report.dropped], [1, 2]);
  assert.equal(sink.posts[0]?.headers.get("x-hermes-delivery"), known);
  await outbox.close();
  await sink.close();
});

test("after a reload the same target keeps its queue under new options, one that is gone loses its", async () => {
  let open = false;
  const held: (() => void)[] = [];
  const sink = await receive((_, socket) => {
    const answer = () => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    if (open) answer();
    else held.push(answer);
  });
  const entry = (name: string, more = "") =>
    `- {name: ${name}, url: "${sink.url}?${name}", ${events}${more}}\n`;
  const { outbox, lines } = outboxOf(targetsOf(entry("stays") + entry("goes")).targets);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(...await outbox.tell(call("on_session_end", { note: i })));
  await until(() => sink.posts.length === 2);
  outbox.replaceTargets(targetsOf(entry("stays", ", secret: new")).targets);
  open = true;
  for (const answer of held) answer();
  const report = await outbox.settled(ids, 5_000);
  assert.deepEqual([report.delivered, report.dropped], [4, 2]);
  const stays = sink.posts.filter(({ requestLine }) => requestLine.includes("stays"));
  assert.deepEqual(stays.map(({ body }) => noteOf(body)), [0, 1, 2]);
  assert.deepEqual(stays.map(({ headers }) => headers.has("x-hermes-signature-256")), [
    false,
    true,
    true,
  ]);
  assert.deepEqual(lines, ['outbound "goes": is no longer configured: 2 events dropped']);
  await outbox.close();
  await sink.close();
});

test("drain sends what waits, takes nothing more, and says what was dropped at its end", async () => {
  const well = await receive(() => 200), hung = await receive(() => {});
  const { outbox, lines } = outboxOf(
    targetsOf(`
- {name: well, url: "${well.url}", ${events}}
- {name: hung, url: "${hung.url}", ${events}, timeout: 30}`).targets,
  );
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push(...await outbox.tell(call("on_session_end")));
  const began = performance.now();
  const { dropped } = await outbox.drain(300);
  const took = performance.now() - began;
  assert.equal(dropped, 4);
  assert.ok(took > 250 && took < 1_000, `${took} ms`);
  assert.equal(well.posts.length, 4);
  assert.deepEqual(lines, ['outbound "hung": 4 events not delivered in time, dropped']);
  const late = await outbox.tell(call("on_session_end"));
  const report = await outbox.settled([...ids, ...late], 100);
  assert.deepEqual([report.delivered, report.dropped, report.pending], [4, 6, 0]);
  await outbox.close();
  await well.close();
  await hung.close();
});

test("the same failure over and over is one warning; it is said again after a success", async () => {
  let status = 404;
  const sink = await receive(() => status);
  const { outbox, lines } = outboxOf([targetOf(`- {url: "${sink.url}", ${events}}`)]);
  const fire = async () => outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  for (let i = 0; i < 3; i++) await fire();
  assert.equal(lines.length, 1);
  status = 200;
  await fire();
  status = 404;
  await fire();
  assert.equal(lines.length, 2);
  await outbox.close();
  await sink.close();
});

test("the list of attempts is bounded, the newest first", async () => {
  const sink = await receive(() => 200);
  const { outbox } = outboxOf([targetOf(`- {url: "${sink.url}", ${events}, max_queue: 1000}`)]);
  const ids: string[] = [];
  for (let i = 0; i < 620; i++) ids.push(...await outbox.tell(call("on_session_end")));
  await outbox.settled(ids, 10_000);
  assert.deepEqual(outbox.recent().map(({ id }) => id), ids.slice(120).reverse());
  await outbox.close();
  await sink.close();
});
