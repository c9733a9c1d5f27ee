/** Signatures and the keys they are made with: HMAC-SHA256, compared in constant time. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";

/** More signatures than this in one request are refused, so that nobody makes us compare all day. */
const MOST = 16;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Signatures read from a header, or what is wrong with it. */
export type Signatures = readonly Uint8Array[] | string;

/**
 * `sha256=<hex>`, in either case; several may be parted by commas or spaces.
 * @returns the 32 bytes of each, or what is wrong, to follow the header's name
 */
export function readHexSignatures(values: readonly string[]): Signatures {
  const words = values.flatMap((value) => value.split(/[\s,]+/)).filter((word) => word !== "");
  return read(words, "sha256=<64 hex digits>", (word) => {
    const hex = /^sha256=([0-9a-f]{64})$/i.exec(word)?.[1];
    return hex === undefined ? undefined : Buffer.from(hex, "hex");
  });
}

/**
 * `v1,<base64>`, several parted by spaces; other versions (`v1a,…`) are passed over.
 * @returns the 32 bytes of each, or what is wrong, to follow the header's name
 */
export function readStandardSignatures(values: readonly string[]): Signatures {
  // A list that came as two headers is joined with ", " by what stands in between.
  const words = values.flatMap((value) => value.split(/,?\s+/)).filter((word) => word !== "");
  const known = words.filter((word) => !/^v(?!1,)[0-9a-z]+,/.test(word));
  return read(known, "v1,<base64 of 32 bytes>", (word) => {
    const text = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(word)?.[1];
    return text === undefined ? undefined : Buffer.from(text, "base64");
  });
}

function read(
  words: readonly string[],
  form: string,
  one: (word: string) => Uint8Array | undefined,
): Signatures {
  if (words.length === 0) return `holds no signature; expected ${form}`;
  if (words.length > MOST) return `holds more than ${MOST} signatures`;
  const read = words.map(one).filter((bytes) => bytes !== undefined);
  return read.length === words.length ? read : `is malformed; expected ${form}`;
}

/** HMAC-SHA256 over the parts, one after another. */
export function hmac(
  key: string | Uint8Array,
  parts: readonly (string | Uint8Array)[],
): Uint8Array {
  const hash = createHmac("sha256", key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Is any of the given signatures one of the expected? Every pair is compared, whatever matches. */
export function anyEqual(
  given: readonly Uint8Array[],
  expected: readonly Uint8Array[],
): boolean {
  let found = false;
  for (const one of given) {
    for (const other of expected) {
      if (one.length === other.length && timingSafeEqual(one, other)) found = true;
    }
  }
  return found;
}

/**
 * The key a secret stands for in Standard Webhooks: base64 after `whsec_`, else the text's own
 * bytes.
 * @returns undefined when what follows `whsec_` is empty or no base64
 */
export function standardKey(secret: string): Uint8Array | undefined {
  if (!secret.startsWith("whsec_")) return Buffer.from(secret, "utf8");
  const text = secret.slice("whsec_".length);
  return text !== "" && BASE64.test(text) ? Buffer.from(text, "base64") : undefined;
}
