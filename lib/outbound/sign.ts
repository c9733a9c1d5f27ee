/** Signatures over the exact bytes of a body: ours (rule 10.2), and Standard Webhooks beside it. */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** How a target wants to be told: `standard` adds the Standard Webhooks headers to ours. */
export type Format = "hermes" | "standard";

/** What of one attempt is signed. */
export interface Signed {
  readonly id: string;
  /** Unix time of the attempt, in seconds. */
  readonly seconds: number;
  readonly body: Uint8Array;
}

const WHSEC = "whsec_";
/** As the receiving side reads it, which refuses a secret that is cut off in the middle. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * The key that Standard Webhooks makes of a secret: base64 behind `whsec_`, else its bytes. Undefined
 * when what follows `whsec_` is no base64.
 */
export function standardKey(secret: string): Uint8Array | undefined {
  if (!secret.startsWith(WHSEC)) return Buffer.from(secret, "utf8");
  const text = secret.slice(WHSEC.length);
  return text !== "" && BASE64.test(text) ? Buffer.from(text, "base64") : undefined;
}

/**
 * The headers that sign an attempt, in order; none without a secret. Ours is made with the first
 * secret, which is the newest: a receiver takes the new one beside the old before the sender does.
 * Standard Webhooks carries one signature a secret, so there either side may change first.
 */
export function signatureHeaders(
  secrets: readonly string[],
  format: Format,
  signed: Signed,
): readonly (readonly [string, string])[] {
  const first = secrets[0];
  if (first === undefined) return [];
  const hex = createHmac("sha256", first).update(signed.body).digest("hex");
  const headers: [string, string][] = [["X-Hermes-Signature-256", `sha256=${hex}`]];
  if (format === "standard") headers.push(...standardHeaders(secrets, signed));
  return headers;
}

function standardHeaders(secrets: readonly string[], signed: Signed): [string, string][] {
  const { id, seconds, body } = signed;
  const signatures = secrets.flatMap((secret) => {
    const key = standardKey(secret);
    if (!key) return [];
    const mac = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body);
    return [`v1,${mac.digest("base64")}`];
  });
  return [
    ["webhook-id", id],
    ["webhook-timestamp", String(seconds)],
    ["webhook-signature", signatures.join(" ")],
  ];
}
