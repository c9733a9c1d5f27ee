import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { Webhook } from "standardwebhooks";
import { bodyOf, timestampOf } from "../lib/outbound/body.ts";
import { signatureHeaders, standardKey } from "../lib/outbound/sign.ts";

const body = Buffer.from('{"hook_event_name": "x", "extra": {"note": "żółć 🎉"}}');
const seconds = Math.floor(Date.now() / 1000);
const signed = { id: "0123456789abcdef0123456789abcdef", seconds, body };

test("our signature is what openssl makes of the exact bytes, and no secret gives no header", () => {
  const secret = "pässwörd ü";
  const [[name, value]] = signatureHeaders([secret], "hermes", signed) as [[string, string]];
  const openssl = spawnSync("openssl", ["dgst", "-sha256", "-hmac", secret], { input: body });
  assert.equal(name, "X-Hermes-Signature-256");
  assert.equal(value, `sha256=${openssl.stdout.toString().trim().split(" ").at(-1)}`);
  assert.deepEqual(signatureHeaders([], "standard", signed), []);
});

test("Standard Webhooks' own library accepts our headers, for base64 and for raw secrets", () => {
  const whsec = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;
  const headers = Object.fromEntries(signatureHeaders([whsec], "standard", signed));
  assert.deepEqual(new Webhook(whsec).verify(body.toString(), headers), JSON.parse(String(body)));
  const raw = Object.fromEntries(signatureHeaders(["plain text"], "standard", signed));
  assert.ok(new Webhook("plain text", { format: "raw" }).verify(body.toString(), raw));
  assert.throws(() => new Webhook(whsec).verify(`${body} `, headers));
});

test("with several secrets ours signs with the first and Standard Webhooks carries all", () => {
  const headers = Object.fromEntries(signatureHeaders(["new", "old"], "standard", signed));
  const [only] = signatureHeaders(["new"], "hermes", signed);
  assert.equal(headers["X-Hermes-Signature-256"], only?.[1]);
  assert.match(headers["webhook-signature"]!, /^v1,\S+ v1,\S+$/);
  for (const secret of ["new", "old"]) {
    assert.ok(new Webhook(secret, { format: "raw" }).verify(body.toString(), headers));
  }
});

test("a whsec_ secret that is no base64 is no key", () => {
  assert.equal(standardKey("whsec_not base64"), undefined);
  assert.equal(standardKey("whsec_"), undefined);
  assert.equal(standardKey("whsec_aGkaG"), undefined);
  assert.deepEqual(Buffer.from(standardKey("whsec_aGk=")!).toString(), "hi");
});

test("a body is the wire form with the delivery's keys behind it, in order", () => {
  const at = new Date("2026-07-22T14:00:00.987Z");
  const delivery = {
    id: signed.id,
    target: "t",
    event: "x",
    wire: '{"hook_event_name": "x", "extra": {"n": 1.0}}',
    occurredAt: "2026-07-22T13:59:59.000Z",
    attempts: 0,
  };
  assert.equal(
    Buffer.from(bodyOf(delivery, 2, at)).toString(),
    '{"hook_event_name": "x", "extra": {"n": 1.0}, ' +
      `"delivery_id": "${signed.id}", "timestamp": "2026-07-22T14:00:00Z", ` +
      '"occurred_at": "2026-07-22T13:59:59.000Z", "attempt": 2}',
  );
  assert.equal(timestampOf(at), "2026-07-22T14:00:00Z");
  JSON.parse(Buffer.from(bodyOf({ ...delivery, wire: "{}" }, 1, at)).toString());
});
