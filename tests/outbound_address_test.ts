import assert from "node:assert/strict";
import test from "node:test";
import {
  addressRefusal,
  AddressRefused,
  allowedAddresses,
  inRange,
  isLoopbackHost,
  literalAddress,
} from "../lib/outbound/address.ts";
import { proxyFor } from "../lib/outbound/proxy.ts";

const allow = { private: "allow" } as const, deny = { private: "deny" } as const;

test("addresses that no webhook is at are refused whatever the target says", () => {
  const never = [
    "169.254.169.254",
    "169.254.1.1",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "::",
    "::7f00:1",
    "ff02::1",
    "fe80::1",
    "fec0::1",
    "2002:7f00:1::",
    "2001::1",
    "2001:db8::1",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "::ffff:0.0.0.0",
    "no address",
  ];
  assert.deepEqual(never.filter((address) => addressRefusal(address, allow) === undefined), []);
});

test("private ranges are allowed unless the target denies them, also when mapped into IPv6", () => {
  const ours = [
    "127.0.0.1",
    "::1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "fd00::1",
    "::ffff:10.0.0.1",
  ];
  assert.deepEqual(ours.filter((address) => addressRefusal(address, allow) !== undefined), []);
  assert.deepEqual(ours.filter((address) => addressRefusal(address, deny) === undefined), []);
});

test("public addresses pass, also behind NAT64's prefix", () => {
  for (const address of ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]) {
    assert.equal(addressRefusal(address, deny), undefined);
  }
});

test("every spelling of a literal is seen as the address it is", () => {
  const host = (url: string) => literalAddress(new URL(url).hostname);
  assert.equal(host("http://0x7f.1/"), "127.0.0.1");
  assert.equal(host("http://2130706433/"), "127.0.0.1");
  assert.equal(host("http://[::ffff:7f00:1]/"), "::ffff:7f00:1");
  assert.equal(host("http://hooks.example.com/"), undefined);
  assert.ok(isLoopbackHost("[::ffff:7f00:1]") && isLoopbackHost("a.localhost"));
  assert.ok(!isLoopbackHost("localhost.example.com"));
});

test("all addresses of a name are checked, and only allowed ones come back", async () => {
  const resolve = () => Promise.resolve(["169.254.169.254", "10.0.0.1", "1.1.1.1"]);
  assert.deepEqual(await allowedAddresses("a.test", allow, resolve), ["10.0.0.1", "1.1.1.1"]);
  assert.deepEqual(await allowedAddresses("a.test", deny, resolve), ["1.1.1.1"]);
  await assert.rejects(
    allowedAddresses("a.test", deny, () => Promise.resolve(["::1"])),
    (error) => error instanceof AddressRefused && /"::1" is loopback/.test(error.message),
  );
  await assert.rejects(
    allowedAddresses("a.test", allow, () => Promise.resolve([])),
    AddressRefused,
  );
});

test("a range takes its addresses and survives nonsense", () => {
  assert.equal(inRange("10.1.2.3", "10.0.0.0/8"), true);
  assert.equal(inRange("::ffff:10.1.2.3", "10.0.0.0/8"), true);
  assert.equal(inRange("11.1.2.3", "10.0.0.0/8"), false);
  assert.equal(inRange("::1", "10.0.0.0/8"), false);
  assert.equal(inRange("10.1.2.3", "10.0.0.0/99"), false);
});

test("a proxy is taken by scheme, lower case first, and never for this machine", () => {
  const shown = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.shown;
  const env = { HTTPS_PROXY: "http://u:p@px:3128", http_proxy: "low:1", HTTP_PROXY: "http://up:2" };
  assert.equal(shown("https://a.test/", env), "px:3128");
  assert.equal(shown("http://a.test/", env), "low:1");
  assert.equal(shown("https://localhost/", env), undefined);
  assert.equal(shown("http://127.0.0.1/", env), undefined);
  assert.equal(shown("https://a.test/", { ALL_PROXY: "http://all:9" }), "all:9");
  assert.equal(shown("https://a.test/", { HTTPS_PROXY: " " }), undefined);
  assert.throws(() => shown("https://a.test/", { https_proxy: "socks5://x:1" }), /socks5/);
});

test("NO_PROXY knows names with subdomains, ports, addresses, ranges and the star", () => {
  const exempt = (url: string, list: string) =>
    proxyFor(new URL(url), { ALL_PROXY: "http://p:1", NO_PROXY: list }) === undefined;
  const yes = [
    ["https://a.test/", "*"],
    ["https://a.test/", "b.test, a.test"],
    ["https://x.a.test/", "a.test"],
    ["https://x.a.test/", ".a.test"],
    ["https://x.a.test/", "*.a.test"],
    ["https://a.test/", "a.test:443"],
    ["https://10.1.1.1/", "10.0.0.0/8"],
    ["https://10.1.1.1/", "10.1.1.1"],
    ["https://[fd00::1]/", "fd00::/8"],
    ["https://[fd00::1]:8443/", "[fd00::1]:8443"],
  ] as const;
  const no = [
    ["https://a.test/", ""],
    ["https://ba.test/", "a.test"],
    ["https://a.test:8443/", "a.test:443"],
    ["https://11.1.1.1/", "10.0.0.0/8"],
    ["https://a.test/", "10.0.0.0/8"],
  ] as const;
  assert.deepEqual(yes.filter(([url, list]) => !exempt(url, list)), []);
  assert.deepEqual(no.filter(([url, list]) => exempt(url, list)), []);
});
