/**
 * `redact: true`: values that look like credentials, taken out before anything is queued, signed or
 * sent. It is a net with holes: what looks like nothing in particular passes through it.
 */
import type { Json, JsonObject } from "../events/json.ts";
import { isObject, JsonNumber } from "../events/json.ts";
import { TELEMETRY_KEY } from "../events/payload.ts";

/** What stands where a value was. */
export const REDACTED = "[redacted]";
/** The key of `extra` that says how many values were taken out; absent when none was. */
export const REDACTED_KEY = "redacted_values";

const SECRET_WORDS = new Set([
  "apikey",
  "auth",
  "authorization",
  "bearer",
  "cookie",
  "cookies",
  "credential",
  "credentials",
  "passphrase",
  "passwd",
  "password",
  "passwords",
  "pwd",
  "secret",
  "secrets",
  "token",
]);
/** Written as one word: `PGPASSWORD`, `accesstoken`, `password2`. */
const SECRET_ENDS =
  /(?:password|passwd|passphrase|secret|token|(?:api|access|secret|private|auth)key)[0-9]*$/;
/** What makes a `key` a secret one, by the word before it: `rule_key` is none. */
const KEY_KINDS = new Set([
  "access",
  "account",
  "api",
  "auth",
  "client",
  "encryption",
  "private",
  "secret",
  "service",
  "signing",
  "ssh",
]);

/** Is a key named like a secret: `apiKey`, `DB_PASSWORD`, `x-auth-token`; not `max_tokens`? */
export function isSecretName(name: string): boolean {
  if (name.length > 100) return false;
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z0-9]+/);
  return words.some((word, i) =>
    SECRET_WORDS.has(word) || SECRET_ENDS.test(word) ||
    (word === "key" && KEY_KINDS.has(words[i - 1] ?? ""))
  );
}

/** Tokens known by their shape, whole. */
const SHAPES = new RegExp(
  [
    "\\bsk-[A-Za-z0-9_-]{16,}",
    "\\b[spr]k_(?:live|test)_[A-Za-z0-9]{10,}",
    "\\bgh[pousr]_[A-Za-z0-9]{20,}",
    "\\bgithub_pat_[A-Za-z0-9_]{20,}",
    "\\bglpat-[A-Za-z0-9_-]{15,}",
    "\\bxox[a-z]-[A-Za-z0-9-]{10,}",
    "\\bxapp-[A-Za-z0-9-]{10,}",
    "\\bA(?:KIA|SIA)[0-9A-Z]{16}\\b",
    "\\bAIza[0-9A-Za-z_-]{35}",
    "\\bya29\\.[0-9A-Za-z_-]{20,}",
    "\\bnpm_[A-Za-z0-9]{30,}",
    "\\bpypi-[A-Za-z0-9_-]{20,}",
    "\\bhf_[A-Za-z0-9]{20,}",
    "\\bdop_v1_[a-f0-9]{30,}",
    "(?<![A-Za-z0-9_-])SG\\.[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}",
    "\\bwhsec_[A-Za-z0-9+/=]{16,}",
    "\\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    "(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}",
  ].join("|"),
  "g",
);
/** What follows a telling word: the word stays, what it announces goes. */
const ANNOUNCED: readonly RegExp[] = [
  /\b((?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token|digest)\s{1,4})?)([^\s"'\\,;]{4,})/gi,
  /\b(bearer\s{1,4})([A-Za-z0-9._~+/=-]{12,})/gi,
  /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"']{0,100}:)([^\s/@"']{1,200})(?=@)/gi,
  /(https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/)([A-Za-z0-9/_-]{10,})/gi,
  /(https:\/\/(?:\w{1,20}\.)?discord(?:app)?\.com\/api\/webhooks\/)([A-Za-z0-9/_-]{10,})/gi,
];
/** `NAME=value` and `"name": "value"`, also escaped inside a string; the name decides. */
const ASSIGNED =
  /(?<![A-Za-z0-9_-])(([A-Za-z][A-Za-z0-9_-]{1,60})(?:\\?["'])?\s{0,4}[=:]\s{0,4}(?:\\?["'])?)([^\s"'\\,;&|)}\]]{3,})/g;
/** `--name value`; the name decides. */
const OPTION =
  /(?<![A-Za-z0-9_-])(--([A-Za-z][A-Za-z0-9_-]{1,60})\s{1,4}["']?)([^\s"'\\-][^\s"'\\]{2,})/g;
/** Values that give nothing away: a variable's name, a word for nothing, our own mark. */
const HARMLESS = /^(?:\$|\[redacted|(?:bearer|basic|token|null|none|true|false|undefined)$)/i;

/** What {@link redactText} returns. */
export interface RedactedText {
  readonly text: string;
  /** How many values were taken out. */
  readonly count: number;
}

/** Text without what looks like credentials in it. Takes time linear in the text. */
export function redactText(given: string): RedactedText {
  let count = 0;
  const gone = (head: string) => (count++, head + REDACTED);
  let text = withoutKeys(given, gone);
  for (const pattern of ANNOUNCED) {
    text = text.replace(
      pattern,
      (all, head: string, value: string) => HARMLESS.test(value) ? all : gone(head),
    );
  }
  text = text.replace(SHAPES, () => gone(""));
  for (const pattern of [ASSIGNED, OPTION]) {
    text = text.replace(
      pattern,
      (all, head: string, name: string, value: string) =>
        !isSecretName(name) || HARMLESS.test(value) ? all : gone(head),
    );
  }
  return { text, count };
}

const KEY_BEGINS = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/g;
const KEY_ENDS = /-----END [A-Z ]{0,30}PRIVATE KEY-----|$/g;

/** Without PEM private keys; one that is not closed goes to the end of the text. */
function withoutKeys(text: string, gone: (head: string) => string): string {
  if (!text.includes("PRIVATE KEY-----")) return text;
  let kept = "", from = 0;
  for (;;) {
    KEY_BEGINS.lastIndex = from;
    const begin = KEY_BEGINS.exec(text);
    if (!begin) return kept + text.slice(from);
    kept += gone(text.slice(from, begin.index));
    KEY_ENDS.lastIndex = KEY_BEGINS.lastIndex;
    KEY_ENDS.exec(text);
    from = KEY_ENDS.lastIndex || text.length;
  }
}

class Redactor {
  count = 0;

  value(value: Json, name?: string): Json {
    const secret = name !== undefined && isSecretName(name);
    if (value === null || typeof value === "boolean" || value === "") return value;
    if (secret) return this.#gone();
    if (typeof value === "string") return this.#text(value);
    if (value instanceof JsonNumber) return value;
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    return this.object(value);
  }

  object(object: JsonObject): JsonObject {
    return new Map([...object].map(([key, value]) => [key, this.value(value, key)]));
  }

  #gone(): string {
    this.count++;
    return REDACTED;
  }

  #text(value: string): string {
    const { text, count } = redactText(value);
    this.count += count;
    return text;
  }
}

/**
 * A wire form without what looks like credentials in its `tool_input` and `extra`; the rest is
 * untouched, and so is the form given. `extra` then says how many values were taken out.
 */
export function redactWire(wire: JsonObject): JsonObject {
  const redactor = new Redactor();
  const redacted: JsonObject = new Map(wire);
  for (const key of ["tool_input", "extra"]) {
    const value = wire.get(key);
    if (isObject(value)) redacted.set(key, redactor.object(value));
  }
  if (redactor.count === 0) return wire;
  const extra = redacted.get("extra");
  redacted.set("extra", marked(isObject(extra) ? extra : new Map(), redactor.count));
  return redacted;
}

/** The telemetry marker stays the last key of `extra` (rule 3.3). */
function marked(extra: JsonObject, count: number): JsonObject {
  const telemetry = extra.get(TELEMETRY_KEY);
  extra.delete(TELEMETRY_KEY);
  extra.set(REDACTED_KEY, new JsonNumber(String(count)));
  if (telemetry !== undefined) extra.set(TELEMETRY_KEY, telemetry);
  return extra;
}
