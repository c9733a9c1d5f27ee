import assert from "node:assert/strict";
import test from "node:test";
import { type Door, refusal, tokenDigest } from "../lib/server/guard.ts";

const unix: Door = { kind: "unix" };
const tcp = (host: string): Door => ({
  kind: "tcp",
  address: { host, port: 8645 },
  token: tokenDigest("a-token-of-some-length"),
});
const AUTHORIZED = { authorization: "Bearer a-token-of-some-length" };

function status(
  door: Door,
  headers: Record<string, string>,
  path = "/v1/hooks",
  allowed: string[] = [],
): number {
  const request = new Request("http://x" + path, { headers });
  // `Request` drops a Host of ours, but the listener's requests have one.
  const seen = { headers: new Map(Object.entries(headers)) } as unknown as Request;
  return refusal({ ...seen, url: request.url } as Request, path, door, allowed)?.status ?? 200;
}

test("an Origin header is refused on every door, even where no token is needed", () => {
  const page = { host: "localhost", origin: "http://localhost" };
  assert.equal(status(unix, page), 403);
  assert.equal(status(tcp("127.0.0.1"), { ...page, ...AUTHORIZED }), 403);
  assert.equal(status(tcp("127.0.0.1"), page, "/healthz"), 403);
});

test("a Host of somebody else's is refused, so that a rebound name reaches nothing", () => {
  for (const host of ["evil.example", "localhost.evil.example", "", "localhost/x", "a@localhost"]) {
    assert.equal(status(unix, { host }), 403, host);
    assert.equal(status(tcp("127.0.0.1"), { host, ...AUTHORIZED }), 403, host);
  }
  assert.equal(status(unix, {}), 403);
});

test("localhost, the listen address and allowed_hosts are taken, with or without a port", () => {
  for (const host of ["localhost", "LOCALHOST:8645", "localhost.", "127.0.0.1:8645", "127.0.0.1"]) {
    assert.equal(status(tcp("127.0.0.1"), { host, ...AUTHORIZED }), 200, host);
  }
  assert.equal(status(tcp("::1"), { host: "[::1]:8645", ...AUTHORIZED }), 200);
  const own = { host: "Hooks.example:443", ...AUTHORIZED };
  assert.equal(status(tcp("127.0.0.1"), own, "/v1/hooks", ["hooks.example"]), 200);
  assert.equal(status(unix, { host: "127.0.0.1" }), 403);
});

test("listening everywhere takes loopback addresses, and no other without being told", () => {
  assert.equal(status(tcp("0.0.0.0"), { host: "127.0.0.1:8645", ...AUTHORIZED }), 200);
  assert.equal(status(tcp("0.0.0.0"), { host: "192.168.1.5:8645", ...AUTHORIZED }), 403);
});

test("over TCP all but health and readiness needs the token", () => {
  const host = "localhost";
  const door = tcp("127.0.0.1");
  assert.equal(status(door, { host }, "/healthz"), 200);
  assert.equal(status(door, { host }, "/readyz"), 200);
  for (const path of ["/v1/hooks", "/metrics", "/openapi.json", "/healthz/", "/nowhere"]) {
    assert.equal(status(door, { host }, path), 401, path);
  }
  for (const authorization of ["Bearer wrong", "Bearer", "Basic a-token-of-some-length"]) {
    assert.equal(status(door, { host, authorization }), 401, authorization);
  }
  assert.equal(status(door, { host, authorization: "bearer a-token-of-some-length" }), 200);
  assert.equal(status(unix, { host }), 200);
});
