/** Where a connection goes: pinned addresses, certificates, proxies, and what `doctor` sees of it. */
import assert from "node:assert/strict";
import net from "node:net";
import test, { after } from "node:test";
import type { Policy } from "../lib/outbound/work.ts";
import { probeTarget } from "../lib/outbound/probe.ts";
import { call, outboxOf, targetOf } from "./programs/outbound_outbox.ts";
import { makeCertificates } from "./programs/outbound_certificates.ts";
import { receive } from "./programs/outbound_receiver.ts";

const events = "events: [on_session_end], secret: s";
const certificates = makeCertificates();
const good = certificates.issue("DNS:hooks.test,IP:127.0.0.1");
const wrong = certificates.issue("DNS:other.test");
after(() => certificates.remove());

const at = (...addresses: string[]) => () => Promise.resolve(addresses);
const here = at("127.0.0.1");
const once: Policy = {
  after: (_target, _delivery, { outcome, error = "" }) => ({
    settlement: outcome === "delivered" ? { kind: "done" } : { kind: "dead", why: { error } },
  }),
};
const now = () => new Date();

/** Sends one event to an entry and tells how the first attempt ended. */
async function sendTo(entry: string, options: Parameters<typeof outboxOf>[1] = {}) {
  const { outbox } = outboxOf([targetOf(entry)], { policy: once, ...options });
  await outbox.settled(await outbox.tell(call("on_session_end")), 8_000);
  await outbox.close();
  return outbox.recent()[0]!;
}

/** A proxy on loopback that sends everything to one port, whatever name was asked for. */
async function proxyTo(port: number) {
  const asked: string[] = [];
  const server = net.createServer((client) => {
    client.on("error", () => {});
    client.once("data", (first) => {
      const head = first.toString("latin1");
      asked.push(head.slice(0, head.indexOf("\r\n\r\n")));
      const onward = net.connect(port, "127.0.0.1", () => {
        if (head.startsWith("CONNECT")) client.write("HTTP/1.1 200 Established\r\n\r\n");
        else onward.write(first);
        client.pipe(onward).pipe(client);
      });
      onward.on("error", () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxyPort = (server.address() as net.AddressInfo).port;
  return { asked, port: proxyPort, close: () => server.close() };
}

test("the address checked is the address dialled: a name that does not resolve arrives", async () => {
  const sink = await receive(() => 200);
  const url = `http://name.invalid:${sink.port}/`;
  const attempt = await sendTo(`- {url: "${url}", ${events}}`, { resolve: here });
  assert.equal(attempt.outcome, "delivered");
  assert.equal(sink.posts[0]?.headers.get("host"), `name.invalid:${sink.port}`);
  await sink.close();
});

test("a name that turns out to be forbidden is not dialled, and not tried again", async () => {
  const sink = await receive(() => 200);
  const url = `http://name.invalid:${sink.port}/`;
  const entry = `- {url: "${url}", ${events}, network: {private: deny}}`;
  const { outbox, lines } = outboxOf([targetOf(entry)], { resolve: here });
  await outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  assert.equal(outbox.recent().length, 1);
  assert.equal(outbox.recent()[0]?.outcome, "refused");
  assert.match(lines[0]!, /address "127\.0\.0\.1" is loopback, and network\.private is "deny"/);
  assert.equal(sink.connections(), 0);
  await outbox.close();
  await sink.close();
});

test("of several addresses the forbidden are passed over and a dead one does not stop the next", async () => {
  const sink = await receive(() => 200);
  const url = `http://name.invalid:${sink.port}/`;
  const resolve = at("169.254.169.254", "127.0.0.2", "127.0.0.1");
  const attempt = await sendTo(`- {url: "${url}", ${events}}`, { resolve });
  assert.equal(attempt.outcome, "delivered");
  await sink.close();
});

test("each new connection resolves anew: a name that moves to a forbidden address is refused", async () => {
  const sink = await receive((_, socket) => {
    socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  let asked = 0;
  const resolve = () => Promise.resolve([asked++ === 0 ? "127.0.0.1" : "169.254.169.254"]);
  const url = `http://name.invalid:${sink.port}/`;
  const { outbox } = outboxOf([targetOf(`- {url: "${url}", ${events}}`)], { resolve });
  for (let i = 0; i < 2; i++) {
    await outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  }
  assert.deepEqual(outbox.recent().map((a) => a.outcome), ["refused", "delivered"]);
  await outbox.close();
  await sink.close();
});

test("a name that does not resolve, and one that takes forever, are failures in time", async () => {
  const attempt = await sendTo(`- {url: "http://name.invalid/", ${events}}`);
  assert.match(attempt.error!, /does not resolve/);
  const slow = await sendTo(`- {url: "http://name.invalid/", ${events}, timeout: 1}`, {
    resolve: () => new Promise(() => {}),
  });
  assert.equal(slow.error, "timed out after 1s");
});

test("https with a private CA arrives, by name and by address, and connections are kept", async () => {
  const sink = await receive(() => 200, good);
  for (const host of ["hooks.test", "127.0.0.1"]) {
    const url = `https://${host}:${sink.port}/`;
    const { outbox } = outboxOf([
      targetOf(`- {url: "${url}", ${events}, ca_file: "${certificates.caFile}"}`),
    ], { resolve: here });
    for (let i = 0; i < 2; i++) {
      const ids = await outbox.tell(call("on_session_end"));
      assert.equal((await outbox.settled(ids, 5_000)).delivered, 1, outbox.recent()[0]?.error);
    }
    await outbox.close();
  }
  assert.deepEqual(sink.posts.map(({ connection }) => connection), [1, 1, 2, 2]);
  await sink.close();
});

test("a certificate for another name: two attempts by the rule, and no POST on the wire", async () => {
  const sink = await receive(() => 200, wrong);
  const url = `https://hooks.test:${sink.port}/`;
  const { outbox, lines } = outboxOf([
    targetOf(`- {url: "${url}", ${events}, ca_file: "${certificates.caFile}"}`),
  ], { resolve: here });
  await outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  assert.deepEqual([outbox.recent().length, sink.posts.length], [2, 0]);
  assert.match(lines[0]!, /the certificate is for another name \(2 attempts\)/);
  await outbox.close();
  await sink.close();
});

test("a CA that nobody trusts: refused, and ca_file is named as the remedy", async () => {
  const sink = await receive(() => 200, good);
  const url = `https://hooks.test:${sink.port}/`;
  const attempt = await sendTo(`- {url: "${url}", ${events}}`, { resolve: here });
  assert.match(attempt.error!, /CA is not trusted; name it in ca_file/);
  assert.equal(sink.posts.length, 0);
  await sink.close();
});

test("TLS that never answers ends at the timeout", async () => {
  const mute = net.createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const { port } = mute.address() as net.AddressInfo;
  const entry = `- {url: "https://hooks.test:${port}/", ${events}, timeout: 1}`;
  const attempt = await sendTo(entry, { resolve: here });
  assert.equal(attempt.error, "timed out after 1s");
  mute.close();
});

test("HTTPS_PROXY: a tunnel to the name, with TLS end to end", async () => {
  const sink = await receive(() => 200, good), proxy = await proxyTo(sink.port);
  const env = { HTTPS_PROXY: `http://me:pw@127.0.0.1:${proxy.port}` };
  const entry = `- {url: "https://hooks.test:4433/", ${events}, ca_file: "${certificates.caFile}"}`;
  const { outbox } = outboxOf([targetOf(entry)], { env, policy: once });
  for (let i = 0; i < 2; i++) {
    await outbox.settled(await outbox.tell(call("on_session_end")), 5_000);
  }
  assert.deepEqual(outbox.recent().map((a) => a.error ?? a.outcome), ["delivered", "delivered"]);
  assert.equal(proxy.asked.length, 1);
  assert.match(proxy.asked[0]!, /^CONNECT hooks\.test:4433 HTTP\/1\.1\r\n/);
  assert.match(proxy.asked[0]!, new RegExp(`Proxy-Authorization: Basic ${btoa("me:pw")}`));
  assert.equal(sink.posts[0]?.headers.has("proxy-authorization"), false);
  await outbox.close();
  proxy.close();
  await sink.close();
});

test("HTTPS_PROXY: a certificate for another name is refused through the tunnel too", async () => {
  const sink = await receive(() => 200, wrong), proxy = await proxyTo(sink.port);
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
  const entry = `- {url: "https://hooks.test/", ${events}, ca_file: "${certificates.caFile}"}`;
  const attempt = await sendTo(entry, { env });
  assert.match(attempt.error!, /certificate is for another name/);
  assert.equal(sink.posts.length, 0);
  proxy.close();
  await sink.close();
});

test("HTTP_PROXY: the absolute form; NO_PROXY goes around it", async () => {
  const sink = await receive(() => 200), proxy = await proxyTo(sink.port);
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
  const entry = `- {url: "http://hooks.test:${sink.port}/in?a=1", ${events}}`;
  assert.equal((await sendTo(entry, { env })).outcome, "delivered");
  assert.equal(
    sink.posts[0]?.requestLine,
    `POST http://hooks.test:${sink.port}/in?a=1 HTTP/1.1`,
  );
  const around = { ...env, NO_PROXY: "test" };
  assert.equal((await sendTo(entry, { env: around, resolve: here })).outcome, "delivered");
  assert.equal(proxy.asked.length, 1);
  assert.equal(sink.posts[1]?.requestLine, "POST /in?a=1 HTTP/1.1");
  proxy.close();
  await sink.close();
});

test("a proxy that says no is a failure that names it; one of another kind is never gone around", async () => {
  const no = await receive(() => {});
  const server = net.createServer((c) => c.end("HTTP/1.1 407 Auth\r\n\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  const env = { HTTPS_PROXY: `http://me:pw@127.0.0.1:${port}` };
  const attempt = await sendTo(`- {url: "https://hooks.test/", ${events}}`, { env });
  assert.equal(attempt.error, `the proxy "127.0.0.1:${port}" answered 407`);
  const socks = await sendTo(`- {url: "http://hooks.test:${no.port}/", ${events}}`, {
    env: { ALL_PROXY: "socks5://me:pw@x:1" },
    resolve: here,
  });
  assert.equal(socks.outcome, "refused");
  assert.match(socks.error!, /ALL_PROXY has scheme "socks5"/);
  assert.doesNotMatch(socks.error! + attempt.error!, /pw/);
  assert.equal(no.connections(), 0);
  server.close();
  await no.close();
});

test("a probe connects without sending, and reads the certificate's dates", async () => {
  const sink = await receive(() => 200, good);
  const target = targetOf(
    `- {url: "https://hooks.test:${sink.port}/", ${events}, ca_file: "${certificates.caFile}"}`,
  );
  const resolve = at("127.0.0.1", "169.254.169.254");
  const report = await probeTarget(target, { env: {}, now, resolve });
  assert.equal(report.reachable, true, report.error);
  assert.deepEqual(report.addresses, [
    { address: "127.0.0.1" },
    { address: "169.254.169.254", refused: "is a cloud metadata address" },
  ]);
  const { certificate } = report;
  const days = (certificate!.validTo.getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 29 && days < 31, String(days));
  assert.equal(certificate?.issuer, "Test CA");
  assert.match(certificate!.names, /DNS:hooks\.test/);
  assert.deepEqual([report.notes, sink.posts.length], [[], 0]);
  await sink.close();
});

test("a probe says what is wrong with a certificate, and shows it all the same", async () => {
  const soon = certificates.issue("DNS:other.test", 5);
  const sink = await receive(() => 200, soon);
  const target = targetOf(
    `- {url: "https://hooks.test:${sink.port}/", ${events}, ca_file: "${certificates.caFile}"}`,
  );
  const report = await probeTarget(target, { env: {}, now, resolve: here });
  assert.deepEqual([report.reachable, report.error], [
    false,
    "the certificate is for another name",
  ]);
  assert.equal(report.certificate?.names, "DNS:other.test");
  assert.match(report.notes[0]!, /^the certificate ends in 4 days, on \d{4}-\d\d-\d\d$/);
  await sink.close();
});

test("a probe tells of refused addresses, of a proxy, and of nobody listening", async () => {
  const refused = await probeTarget(
    targetOf(`- {url: "https://hooks.test/", ${events}, network: {private: deny}}`),
    { env: {}, now, resolve: here },
  );
  assert.equal(refused.reachable, false);
  assert.match(refused.addresses[0]!.refused!, /is loopback/);
  const sink = await receive(() => 200), proxy = await proxyTo(sink.port);
  const behind = await probeTarget(targetOf(`- {url: "http://hooks.test/", ${events}}`), {
    env: { HTTP_PROXY: `127.0.0.1:${proxy.port}` },
    now,
  });
  assert.deepEqual([behind.reachable, behind.proxy, behind.addresses], [
    true,
    `127.0.0.1:${proxy.port}`,
    [],
  ]);
  assert.match(behind.notes[0]!, /behind which addresses cannot be checked/);
  proxy.close();
  await sink.close();
  const closed = await probeTarget(
    targetOf(`- {url: "http://127.0.0.1:${sink.port}/", ${events}}`),
    {
      env: {},
      now,
    },
  );
  assert.equal(closed.error, "connection refused");
});
