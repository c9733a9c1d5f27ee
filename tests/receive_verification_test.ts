import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { Webhook } from "standardwebhooks";
import { hmac, standardKey } from "../lib/receive/signature.ts";
import { type HeaderSource, rawPairs } from "../lib/receive/headers.ts";
import { verifyDelivery } from "../lib/receive/verification.ts";

const SECRET = "Gehöft & Söhne";
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
// HMAC-SHA256 of BODY under SECRET, as the hmac module of Python computes it.
const PYTHON_HEX = "sha256=7169909673cc8195b410d1da397b90f14aa809ca12ffc5ba9a951aa3aa331de4";
const ID = "0123456789abcdef0123456789abcdef";
const NOW = new Date("2026-07-22T14:00:00Z");
const BODY =
  '{"hook_event_name": "on_session_end", "tool_name": null, "session_id": "s", "cwd": "/", "extra": {"big": 12345678901234567890, "x": 1.0}, "delivery_id": "0123456789abcdef0123456789abcdef", "timestamp": "2026-07-22T14:00:00Z", "attempt": 1}';

const bytes = (text: string) => new TextEncoder().encode(text);
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const hex = (body: string | Uint8Array, secret = SECRET) =>
  `sha256=${Buffer.from(hmac(secret, [body])).toString("hex")}`;

interface Given {
  body?: string | Uint8Array;
  secrets?: string[];
  now?: Date;
  toleranceS?: number;
}

function check(headers: HeaderSource, given: Given = {}) {
  const { body = BODY, secrets = [SECRET], now = NOW, toleranceS } = given;
  return verifyDelivery({
    headers,
    body: typeof body === "string" ? bytes(body) : body,
    secrets,
    now,
    toleranceS,
  });
}

function reason(headers: HeaderSource, given: Given = {}): string {
  const answer = check(headers, given);
  assert.equal(answer.ok, false);
  return answer.ok ? "" : answer.reason;
}

/** Headers of Standard Webhooks, made without the code under test's own reading. */
function standard(body: string, secret = WHSEC, at = NOW, id = "msg_1") {
  const time = String(Math.floor(at.getTime() / 1000));
  const signature = Buffer.from(hmac(standardKey(secret)!, [`${id}.${time}.${body}`]));
  return {
    "webhook-id": id,
    "webhook-timestamp": time,
    "webhook-signature": `v1,${signature.toString("base64")}`,
  };
}

test("our own signature made by Python's hmac is accepted, with id, event and time from the body", () => {
  const answer = check({ "X-Hermes-Signature-256": PYTHON_HEX });
  assert.ok(answer.ok);
  const { scheme, deliveryId, event, timestamp } = answer;
  assert.deepEqual([scheme, deliveryId, event, timestamp], ["hermes", ID, "on_session_end", NOW]);
});

test("the published vectors of HMAC-SHA256 and of GitHub come out", () => {
  const rfc4231 = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  assert.equal(hex("what do ya want for nothing?", "Jefe"), `sha256=${rfc4231}`);
  const github = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const given = { body: "Hello, World!", secrets: ["It's a Secret to Everybody"] };
  assert.equal(check({ "X-Hub-Signature-256": github }, given).ok, true);
  assert.equal(
    check({ "X-Hub-Signature-256": github }, { ...given, body: "Hello, World" }).ok,
    false,
  );
});

test("the published vector of Standard Webhooks is accepted at its time", () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const given = { body: '{"test": 2432232314}', secrets: [WHSEC], now: new Date(1614265330000) };
  const answer = check(headers, given);
  assert.ok(answer.ok);
  assert.deepEqual([answer.scheme, answer.deliveryId], ["standard", headers["webhook-id"]]);
});

test("what the published standardwebhooks library signs is accepted, with whsec_ and raw secrets", () => {
  for (const [secret, raw] of [[WHSEC, false], ["just some words", true]] as const) {
    const hook = raw ? new Webhook(secret, { format: "raw" }) : new Webhook(secret);
    const body = '{"type": "käse.gegessen", "n": 1.0}';
    const headers = {
      "webhook-id": "msg_2",
      "webhook-timestamp": String(NOW.getTime() / 1000),
      "webhook-signature": hook.sign("msg_2", NOW, body),
    };
    const answer = check(headers, { body, secrets: ["another", secret] });
    assert.ok(answer.ok);
    assert.equal(answer.event, "käse.gegessen");
  }
});

test("no byte of a body can be changed, dropped or added under any scheme", () => {
  const signed = [
    { "X-Hermes-Signature-256": hex(BODY) },
    { "X-Hub-Signature-256": hex(BODY) },
    standard(BODY, SECRET),
  ];
  const whole = bytes(BODY);
  for (const headers of signed) {
    assert.equal(check(headers).ok, true);
    for (let at = 0; at < whole.length; at++) {
      const changed = whole.slice();
      changed[at]! ^= 1;
      assert.match(reason(headers, { body: changed }), /does not match/);
    }
    assert.match(reason(headers, { body: whole.subarray(1) }), /does not match/);
    assert.match(reason(headers, { body: whole.subarray(0, -1) }), /does not match/);
    assert.match(reason(headers, { body: BODY + "\n" }), /does not match/);
    assert.match(reason(headers, { body: "" }), /does not match/);
  }
});

test("no digit of a signature, an id or a signed time can be changed", () => {
  const good = hex(BODY);
  for (let at = "sha256=".length; at < good.length; at++) {
    const digit = good[at] === "0" ? "1" : "0";
    const bad = good.slice(0, at) + digit + good.slice(at + 1);
    assert.match(reason({ "X-Hermes-Signature-256": bad }), /does not match/);
  }
  const headers = standard(BODY, SECRET);
  const time = String(Number(headers["webhook-timestamp"]) + 1);
  assert.match(reason({ ...headers, "webhook-id": "msg_2" }), /does not match/);
  assert.match(reason({ ...headers, "webhook-timestamp": time }), /does not match/);
  assert.match(reason({ ...headers, "webhook-timestamp": `0${time}` }), /does not match/);
});

test("bytes that are not UTF-8 are checked as they are", () => {
  const body = new Uint8Array([0xff, 0xfe, 0x00, 0xc3]);
  const headers = { "X-Hub-Signature-256": hex(body) };
  assert.equal(check(headers, { body }).ok, true);
  // A decoded copy would be the same for both.
  assert.equal(check(headers, { body: new Uint8Array([0xff, 0xff, 0x00, 0xc3]) }).ok, false);
});

test("header names and hex digits count in any case, and headers come in any form", () => {
  const value = hex(BODY);
  const upper = value.toUpperCase();
  assert.equal(check({ "x-hermes-SIGNATURE-256": upper }).ok, true);
  assert.equal(check(new Headers({ "X-Hermes-Signature-256": ` ${value} ` })).ok, true);
  assert.equal(check([["X-HERMES-SIGNATURE-256", value]]).ok, true);
  assert.equal(check({ "x-hermes-signature-256": [value] }).ok, true);
  assert.equal(check(rawPairs(["Host", "a", "X-Hermes-Signature-256", value])).ok, true);
});

test("of a list of signatures one right one is enough, in one header or in two", () => {
  const [good, old] = [hex(BODY), hex(BODY, "the old one")];
  for (const list of [`${old}, ${good}`, `${old},${good}`, `${old} ${good}`]) {
    assert.equal(check({ "X-Hermes-Signature-256": list }).ok, true, list);
  }
  assert.equal(check({ "X-Hermes-Signature-256": [old, good] }).ok, true);
  const [a, b] = [standard(BODY, WHSEC), standard(BODY, SECRET)];
  const [old2, good2] = [a["webhook-signature"], b["webhook-signature"]];
  for (
    const list of [`${old2} ${good2}`, `v1a,cHVibGlj ${good2}`, `${old2}, ${good2}`, [old2, good2]]
  ) {
    assert.equal(check({ ...b, "webhook-signature": list }).ok, true, String(list));
  }
});

test("any of several secrets may have signed, and an empty one never does", () => {
  const headers = { "X-Hub-Signature-256": hex("{}", "second") };
  assert.equal(check(headers, { body: "{}", secrets: ["first", "second"] }).ok, true);
  assert.match(reason(headers, { body: "{}", secrets: ["first"] }), /does not match/);
  const empty = { "X-Hub-Signature-256": hex("{}", "") };
  assert.match(reason(empty, { body: "{}", secrets: ["", "first"] }), /does not match/);
  assert.match(reason(empty, { body: "{}", secrets: [""] }), /no secret/);
  assert.match(reason(empty, { body: "{}", secrets: [] }), /no secret/);
});

test("a time up to five minutes off is taken either way, and one second more is not", () => {
  for (const headers of [{ "X-Hermes-Signature-256": hex(BODY) }, standard(BODY, SECRET)]) {
    for (const ok of [-300, -1, 0, 1, 300]) {
      assert.equal(check(headers, { now: later(ok) }).ok, true, String(ok));
    }
    assert.match(reason(headers, { now: later(301) }), /stale: signed 301 s ago/);
    assert.match(reason(headers, { now: later(-301) }), /signed 301 s ahead/);
    assert.match(reason(headers, { now: later(11), toleranceS: 10 }), /stale/);
    assert.equal(check(headers, { now: later(1e9), toleranceS: Infinity }).ok, true);
  }
});

test("only what is signed right is told that it is stale", () => {
  const headers = { "X-Hermes-Signature-256": hex(BODY, "wrong") };
  assert.match(reason(headers, { now: later(9999) }), /does not match/);
});

test("an old delivery of ours cannot come back under GitHub's header, which asks for no time", () => {
  const headers = { "X-Hub-Signature-256": hex(BODY), "X-GitHub-Delivery": "new-id" };
  assert.match(reason(headers, { now: later(301) }), /stale/);
  const fresh = check(headers);
  assert.ok(fresh.ok);
  assert.deepEqual([fresh.scheme, fresh.deliveryId], ["github", ID]);
  const own = check({ "X-Hermes-Signature-256": hex(BODY) });
  assert.ok(own.ok);
  assert.deepEqual(fresh.knownAs, own.knownAs);
});

test("what Standard Webhooks signed cannot come back under GitHub's header", () => {
  const { "webhook-id": id, "webhook-timestamp": time, ...rest } = standard("{}", SECRET);
  const signature = Buffer.from(rest["webhook-signature"].slice(3), "base64").toString("hex");
  const headers = { "X-Hub-Signature-256": `sha256=${signature}` };
  assert.match(reason(headers, { body: `${id}.${time}.{}` }), /what Standard Webhooks signs/);
});

test("a body signed by GitHub or by us cannot come back as an id of Standard Webhooks", () => {
  const body = `{"a.${NOW.getTime() / 1000}.b":1}`;
  const headers = {
    "webhook-id": '{"a',
    "webhook-timestamp": String(NOW.getTime() / 1000),
    "webhook-signature": `v1,${Buffer.from(hmac(SECRET, [body])).toString("base64")}`,
  };
  assert.match(reason(headers, { body: 'b":1}' }), /webhook-id .* is malformed/);
});

test("signed by us and for Standard Webhooks, both must be right", () => {
  const ours = { "X-Hermes-Signature-256": hex(BODY) };
  const theirs = standard(BODY, SECRET);
  const both = check({ ...ours, ...theirs });
  assert.ok(both.ok);
  assert.deepEqual([both.scheme, both.knownAs.length], ["hermes", 2]);
  const wrong = { "X-Hermes-Signature-256": hex(BODY, "wrong") };
  assert.match(reason({ ...wrong, ...theirs }), /X-Hermes-Signature-256 does not match/);
  const stale = standard(BODY, SECRET, later(-400));
  assert.match(reason({ ...ours, ...stale }), /stale/);
  const other = standard(BODY, "wrong");
  assert.match(reason({ ...ours, ...other }), /webhook-signature does not match/);
});

test("with either signature taken off, a delivery signed twice is known again", () => {
  const ours = { "X-Hermes-Signature-256": hex(BODY) };
  const theirs = standard(BODY, SECRET);
  const [both, one, other] = [check({ ...ours, ...theirs }), check(ours), check(theirs)];
  assert.ok(both.ok && one.ok && other.ok);
  assert.ok(one.knownAs.some((name) => both.knownAs.includes(name)));
  assert.ok(other.knownAs.some((name) => both.knownAs.includes(name)));
  assert.ok(other.knownAs.some((name) => one.knownAs.includes(name)));
});

test("GitHub's signature neither saves nor spoils a delivery that is signed with a time", () => {
  const ours = { "X-Hermes-Signature-256": hex(BODY) };
  assert.equal(check({ ...ours, "X-Hub-Signature-256": hex(BODY, "wrong") }).ok, true);
  const wrong = { "X-Hermes-Signature-256": hex(BODY, "wrong") };
  assert.match(reason({ ...wrong, "X-Hub-Signature-256": hex(BODY) }), /does not match/);
});

test("GitHub's id and event come from its headers, and its body is remembered besides", () => {
  const body = '{"action":"opened"}';
  const headers = { "X-Hub-Signature-256": hex(body) };
  const named = (id: string) => ({ ...headers, "X-GitHub-Delivery": id, "X-GitHub-Event": "push" });
  const [one, two] = [check(named("a-1"), { body }), check(named("a-2"), { body })];
  assert.ok(one.ok && two.ok);
  assert.deepEqual([one.scheme, one.event, one.deliveryId], ["github", "push", "a-1"]);
  assert.equal(one.timestamp, undefined);
  // The id is not signed: whoever repeats the body may give it another.
  assert.ok(one.knownAs.some((name) => two.knownAs.includes(name)));
  assert.match(reason(named("a\nb"), { body }), /X-GitHub-Delivery is malformed/);
});

test("headers that disagree with the signed body refuse it", () => {
  const ours = { "X-Hermes-Signature-256": hex(BODY) };
  assert.equal(
    check({ ...ours, "X-Hermes-Delivery": ID, "X-Hermes-Event": "on_session_end" }).ok,
    true,
  );
  assert.match(reason({ ...ours, "X-Hermes-Delivery": "other" }), /X-Hermes-Delivery is not the/);
  assert.match(reason({ ...ours, "X-Hermes-Delivery": [ID, ID] }), /X-Hermes-Delivery is not the/);
  assert.match(reason({ ...ours, "X-Hermes-Event": "other" }), /X-Hermes-Event is not the/);
});

test("a body of ours without id, event or a readable time is refused", () => {
  for (
    const body of [
      "{}",
      "",
      "[]",
      "null",
      "\u0000",
      BODY.replace("delivery_id", "delivery"),
      BODY.replace("2026-07-22T14:00:00Z", "yesterday"),
      BODY.replace("2026-07-22T14:00:00Z", "2026-07-22T14:00:00"),
      BODY.replace("2026-07-22T14:00:00Z", "2026-13-22T14:00:00Z"),
      BODY.replace('"2026-07-22T14:00:00Z"', "1784728800"),
    ]
  ) {
    assert.match(reason({ "X-Hermes-Signature-256": hex(body) }, { body }), /the body lacks/, body);
  }
});

test("malformed signature headers are refused with what was expected", () => {
  const good = hex(BODY).slice("sha256=".length);
  for (
    const value of [
      good,
      `sha1=${good}`,
      `sha256=${good}0`,
      `sha256=${good.slice(1)}`,
      `sha256 = ${good}`,
      `sha256=${"g".repeat(64)}`,
      `sha256=${good};`,
      `sha256=${good} sha256=`,
      "sha256=",
      "",
      "\u0000",
      "ſha256=" + good,
    ]
  ) {
    assert.match(reason({ "X-Hermes-Signature-256": value }), /expected sha256=<64 hex/, value);
    assert.match(reason({ "X-Hub-Signature-256": value }), /expected sha256=<64 hex/, value);
  }
  const many = Array.from({ length: 17 }, () => hex(BODY)).join(" ");
  assert.match(reason({ "X-Hermes-Signature-256": many }), /more than 16/);
});

test("malformed Standard Webhooks headers are refused and named", () => {
  const good = standard(BODY, SECRET);
  const cases: [Record<string, string | string[] | undefined>, RegExp][] = [
    [{ "webhook-id": undefined }, /^webhook-id is missing/],
    [{ "webhook-id": "" }, /^webhook-id is missing/],
    [{ "webhook-id": ["a", "b"] }, /^webhook-id is missing, empty or there twice/],
    [{ "webhook-id": "a.b" }, /^webhook-id "a.b" is malformed/],
    [{ "webhook-id": "a\u001b[2J" }, /^webhook-id "a\\x1b\[2J" is malformed/],
    [{ "webhook-id": "a".repeat(257) }, /^webhook-id "a+…" is malformed/],
    [{ "webhook-timestamp": undefined }, /^webhook-timestamp is missing/],
    [{ "webhook-timestamp": "now" }, /^webhook-timestamp "now" is malformed/],
    [{ "webhook-timestamp": "-1" }, /^webhook-timestamp "-1" is malformed/],
    [{ "webhook-timestamp": "1e9" }, /^webhook-timestamp "1e9" is malformed/],
    [{ "webhook-timestamp": "1784728800.5" }, /^webhook-timestamp .* is malformed/],
    [{ "webhook-signature": "" }, /^webhook-signature holds no signature/],
    [{ "webhook-signature": "v1a,AAAA v2,BBBB" }, /^webhook-signature holds no signature/],
    [
      { "webhook-signature": good["webhook-signature"].slice(3) },
      /^webhook-signature is malformed/,
    ],
    [{ "webhook-signature": "v1,AAAA" }, /^webhook-signature is malformed/],
    [{ "webhook-signature": good["webhook-signature"] + "=" }, /^webhook-signature is malformed/],
  ];
  for (const [change, expected] of cases) assert.match(reason({ ...good, ...change }), expected);
});

test("a delivery without a signature that counts is told so", () => {
  assert.match(reason({}), /it is not signed/);
  assert.match(reason({ "X-Hub-Signature": "sha1=abc" }), /SHA-1 and not accepted/);
  assert.match(reason({ "webhook-id": "a", "webhook-timestamp": "1" }), /it is not signed/);
});

test("a whsec_ secret that is no base64 matches nothing instead of being taken as text", () => {
  assert.equal(standardKey("whsec_%%%"), undefined);
  assert.equal(standardKey("whsec_"), undefined);
  assert.match(reason(standard(BODY, "anything"), { secrets: ["whsec_%%%"] }), /does not match/);
});

test("no reason holds a secret or the signature that would have been right", () => {
  const right = [hex(BODY).slice(7), standard(BODY, SECRET)["webhook-signature"].slice(3)];
  const tries: Record<string, string>[] = [
    {},
    { "X-Hermes-Signature-256": hex(BODY, "x") },
    { "X-Hub-Signature-256": "y" },
    standard(BODY, "x"),
    { ...standard(BODY, SECRET), "webhook-id": "z" },
  ];
  for (const headers of tries) {
    const text = reason(headers);
    for (const part of [SECRET, ...right]) assert.equal(text.includes(part), false, text);
  }
});

test("garbage in every header and body is refused and never throws", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const word = () => String.fromCharCode(...Array.from({ length: random(90) }, () => random(256)));
  for (let n = 0; n < 300; n++) {
    const headers = {
      ...(random(2) ? { "X-Hermes-Signature-256": word() } : {}),
      ...(random(2) ? { "X-Hub-Signature-256": word() } : {}),
      ...(random(2) ? { "webhook-signature": [word(), "v1," + word()] } : {}),
      "webhook-id": word(),
      "webhook-timestamp": word(),
    };
    assert.notEqual(reason(headers, { body: word() }), "");
  }
});
