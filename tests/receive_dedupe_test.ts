import assert from "node:assert/strict";
import test from "node:test";
import { SeenDeliveries } from "../lib/receive/dedupe.ts";
import { isLoopback, isLoopbackHost, readAddress, urlOf } from "../lib/receive/address.ts";

test("a name is known once it was added, and any of several is enough", () => {
  const seen = new SeenDeliveries();
  seen.add(["a", "b"], 0);
  assert.deepEqual([seen.has(["x", "b"]), seen.has(["x"]), seen.has([])], [true, false, false]);
});

test("the latest 10,000 are kept however old they are, and older ones go after ten minutes", () => {
  const seen = new SeenDeliveries();
  for (let n = 0; n < 12_000; n++) seen.add([`n${n}`], n);
  assert.equal(seen.size, 12_000);
  seen.add(["next"], 601_000);
  assert.equal(seen.size, 11_000);
  assert.deepEqual([seen.has(["n1000"]), seen.has(["n1001"])], [false, true]);
  seen.add(["last"], 10_000_000);
  assert.equal(seen.size, 10_000);
});

test("a flood within the window is bounded, and the oldest go first", () => {
  const seen = new SeenDeliveries({ least: 2, most: 4, windowMs: 1000 });
  for (const name of ["a", "b", "c", "d", "e"]) seen.add([name], 0);
  assert.deepEqual([seen.size, seen.has(["a"]), seen.has(["b"])], [4, false, true]);
});

test("a repetition is remembered anew", () => {
  const seen = new SeenDeliveries({ least: 2, windowMs: 10 });
  seen.add(["a"], 0);
  seen.add(["b"], 0);
  seen.add(["a"], 50);
  seen.add(["c"], 50);
  assert.deepEqual([seen.has(["a"]), seen.has(["b"])], [true, false]);
});

test("a listen address may leave host, port or both out", () => {
  const cases: [string, string | undefined][] = [
    ["", "http://127.0.0.1:8646/"],
    ["0.0.0.0:80", "http://0.0.0.0:80/"],
    ["localhost:0", "http://localhost:0/"],
    [":99", "http://127.0.0.1:99/"],
    ["99", "http://127.0.0.1:99/"],
    ["example.org", "http://example.org:8646/"],
    ["[::1]:5", "http://[::1]:5/"],
    ["[::]", "http://[::]:8646/"],
    ["::1", undefined],
    ["a:b", undefined],
    ["a:", undefined],
    ["a:65536", undefined],
    ["a b:1", undefined],
    ["http://a:1", undefined],
    ["[nine]:1", undefined],
  ];
  for (const [text, url] of cases) {
    const address = readAddress(text);
    assert.equal(address && urlOf(address), url, text);
  }
});

test("only what can be nothing but this machine is loopback", () => {
  for (const host of ["127.0.0.1", "127.255.0.9", "LOCALHOST", "::1", "0:0:0:0:0:0:0:1"]) {
    assert.equal(isLoopback(host), true, host);
  }
  for (const host of ["0.0.0.0", "::", "127.1", "127.0.0.1.example.org", "1270.0.0.1", "::2", ""]) {
    assert.equal(isLoopback(host), false, host);
  }
  for (const host of ["localhost", "localhost:8646", "127.0.0.1:1", "[::1]:9", "[::1]"]) {
    assert.equal(isLoopbackHost(host), true, host);
  }
  for (
    const host of [undefined, "", "evil.example:8646", "localhost.evil.example", "::1", "a@[::1]"]
  ) {
    assert.equal(isLoopbackHost(host), false, host);
  }
});
