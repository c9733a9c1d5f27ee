/**
 * Is a delivery what somebody who holds the secret sent, and sent just now? Pure: headers, bytes,
 * secrets and a clock in, an answer out. No reason ever holds a secret or a right signature.
 */
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import type { Json } from "../events/json.ts";
import {
  bodyJson,
  type Delivery,
  label,
  nameOf,
  type OwnFields,
  ownFields,
  quoted,
  type Scheme,
  typeOf,
} from "./delivery.ts";
import { type HeaderSource, type HeaderValues, only, readHeaders } from "./headers.ts";
import {
  anyEqual,
  hmac,
  readHexSignatures,
  readStandardSignatures,
  type Signatures,
  standardKey,
} from "./signature.ts";

/** How far a signed time may be from ours, in seconds, either way. */
export const TOLERANCE_S = 300;

/** What {@link verifyDelivery} looks at. */
export interface VerifyRequest {
  readonly headers: HeaderSource;
  /** The body exactly as it came. */
  readonly body: Uint8Array;
  /** Any of them may have signed; empty ones never count. */
  readonly secrets: readonly string[];
  readonly now: Date;
  /** Default {@link TOLERANCE_S}; `Infinity` takes any age. */
  readonly toleranceS?: number;
}

/** A delivery whose signature is right, and whose time is when it has one. */
export interface Verified extends Delivery {
  readonly ok: true;
  readonly scheme: Scheme;
}

/** A delivery that is not to be acted on. */
export interface Refused {
  readonly ok: false;
  /** One line; lower case, no full stop. */
  readonly reason: string;
}

interface Checked extends Omit<VerifyRequest, "headers"> {
  readonly headers: HeaderValues;
  /** Read once a signature is right, not before. */
  readonly json: () => Json | undefined;
}

// What an id may be: a "." would make the signed text of Standard Webhooks ambiguous, and a brace or
// quote could make a JSON body that was signed under another scheme read as an id.
const ID = /^[A-Za-z0-9_:-]{1,256}$/;
const STANDARD_TEXT = /^[A-Za-z0-9_:-]{1,256}\.[0-9]{1,12}\./;

/**
 * Checks a delivery under every scheme that it carries a signature of:
 * - `hermes`: `X-Hermes-Signature-256: sha256=<hex>` over the body; id, event and time come from the
 *   signed body, and headers that say otherwise refuse it
 * - `standard`: Standard Webhooks, HMAC-SHA256 over `id.timestamp.body`
 * - `github`: `X-Hub-Signature-256: sha256=<hex>` over the body; no time is signed
 *
 * A signature of the first two that is there must be right, both when both are; GitHub's, which
 * vouches for no time, counts only when neither is there.
 * @returns the delivery, or why it is refused; never throws
 */
export function verifyDelivery(request: VerifyRequest): Verified | Refused {
  const secrets = request.secrets.filter((secret) => secret !== "");
  if (secrets.length === 0) return refuse("there is no secret to check it with");
  let read: { json: Json | undefined } | undefined;
  const json = () => (read ??= { json: bodyJson(request.body) }).json;
  const checked: Checked = { ...request, headers: readHeaders(request.headers), secrets, json };
  const { headers } = checked;
  const hermes = headers.has("x-hermes-signature-256") ? checkHermes(checked) : undefined;
  if (hermes?.ok === false) return hermes;
  const standard = headers.has("webhook-signature") ? checkStandard(checked) : undefined;
  if (standard?.ok === false) return standard;
  if (hermes && standard) {
    return { ...hermes, knownAs: [...new Set([...hermes.knownAs, ...standard.knownAs])] };
  }
  return hermes ?? standard ?? checkGithub(checked);
}

function refuse(reason: string): Refused {
  return { ok: false, reason };
}

function checkHermes(checked: Checked): Verified | Refused {
  const wrong = bodySignatureProblem(checked, "X-Hermes-Signature-256");
  if (wrong !== undefined) return refuse(wrong);
  const own = ownFields(checked.json());
  if (!own) {
    return refuse(
      'the body lacks a "hook_event_name", "delivery_id" and "timestamp" that can be read',
    );
  }
  return ownDelivery(checked, "hermes", own);
}

/** A body of ours, by whatever header it was signed: it says itself who it is and when it was sent. */
function ownDelivery(checked: Checked, scheme: Scheme, own: OwnFields): Verified | Refused {
  const wrong = disagreement(checked.headers, own) ?? staleness(checked, own.timestamp);
  if (wrong !== undefined) return refuse(wrong);
  const knownAs = [nameOf("hermes", own.deliveryId)];
  return { ok: true, scheme, ...own, knownAs, json: checked.json() };
}

function disagreement(headers: HeaderValues, own: OwnFields): string | undefined {
  for (
    const [name, key, signed] of [
      ["X-Hermes-Delivery", "delivery_id", own.deliveryId],
      ["X-Hermes-Event", "hook_event_name", own.event],
    ] as const
  ) {
    if (!headers.has(name.toLowerCase())) continue;
    if (only(headers, name) !== signed) return `${name} is not the "${key}" of the signed body`;
  }
  return undefined;
}

function checkStandard(checked: Checked): Verified | Refused {
  const { headers, body } = checked;
  const id = only(headers, "webhook-id");
  if (id === undefined) return refuse("webhook-id is missing, empty or there twice");
  if (!ID.test(id)) {
    return refuse(`webhook-id ${quoted(id)} is malformed; expected letters, digits, "_", "-", ":"`);
  }
  const time = only(headers, "webhook-timestamp");
  if (time === undefined) return refuse("webhook-timestamp is missing, empty or there twice");
  if (!/^[0-9]{1,12}$/.test(time)) {
    return refuse(`webhook-timestamp ${quoted(time)} is malformed; expected seconds since 1970`);
  }
  const given = readStandardSignatures(headers.get("webhook-signature") ?? []);
  const keys = checked.secrets.map(standardKey).filter((key) => key !== undefined);
  const expected = keys.map((key) => hmac(key, [`${id}.${time}.`, body]));
  const timestamp = new Date(Number(time) * 1000);
  const wrong = signatureProblem("webhook-signature", given, expected) ??
    staleness(checked, timestamp);
  if (wrong !== undefined) return refuse(wrong);
  const json = checked.json();
  const own = ownFields(json);
  return {
    ok: true,
    scheme: "standard",
    event: own?.event ?? typeOf(json),
    deliveryId: id,
    timestamp,
    // Signed in two ways, it may come again with either signature taken off.
    knownAs: [nameOf("standard", id), ...(own ? [nameOf("hermes", own.deliveryId)] : [])],
    json,
  };
}

function checkGithub(checked: Checked): Verified | Refused {
  const { headers, body } = checked;
  if (!headers.has("x-hub-signature-256")) return refuse(unsigned(headers));
  const wrong = bodySignatureProblem(checked, "X-Hub-Signature-256");
  if (wrong !== undefined) return refuse(wrong);
  // The same computation serves other schemes. What was signed under one of those must not come in
  // here, where no time is asked for, under another header's name.
  if (STANDARD_TEXT.test(Buffer.from(body.subarray(0, 300)).toString("latin1"))) {
    return refuse("the body is what Standard Webhooks signs, not what GitHub does");
  }
  const json = checked.json();
  const own = ownFields(json);
  if (own) return ownDelivery(checked, "github", own);
  const deliveryId = label(headers, "X-GitHub-Delivery");
  if (headers.has("x-github-delivery") && deliveryId === undefined) {
    return refuse("X-GitHub-Delivery is malformed");
  }
  // The id is not signed: whoever sends a body again may give it a new one.
  const digest = createHash("sha256").update(body).digest("hex");
  const ids = deliveryId === undefined ? [] : [nameOf("github", deliveryId)];
  return {
    ok: true,
    scheme: "github",
    event: label(headers, "X-GitHub-Event"),
    deliveryId,
    knownAs: [...ids, nameOf("github", `body ${digest}`)],
    json,
  };
}

function unsigned(headers: HeaderValues): string {
  return headers.has("x-hub-signature")
    ? "X-Hub-Signature is SHA-1 and not accepted; have the sender sign with SHA-256"
    : "it is not signed: no X-Hermes-Signature-256, webhook-signature or X-Hub-Signature-256";
}

function bodySignatureProblem(checked: Checked, name: string): string | undefined {
  const given = readHexSignatures(checked.headers.get(name.toLowerCase()) ?? []);
  return signatureProblem(name, given, checked.secrets.map((key) => hmac(key, [checked.body])));
}

function signatureProblem(
  name: string,
  given: Signatures,
  expected: readonly Uint8Array[],
): string | undefined {
  if (typeof given === "string") return `${name} ${given}`;
  if (anyEqual(given, expected)) return undefined;
  return `${name} does not match: another secret, or the body was changed on the way`;
}

function staleness({ now, toleranceS = TOLERANCE_S }: Checked, at: Date): string | undefined {
  const age = (now.getTime() - at.getTime()) / 1000;
  if (Math.abs(age) <= toleranceS) return undefined;
  const seconds = Math.ceil(Math.abs(age));
  return age > 0
    ? `it is stale: signed ${seconds} s ago, ${toleranceS} s are allowed`
    : `it is signed ${seconds} s ahead of this clock, ${toleranceS} s are allowed`;
}
