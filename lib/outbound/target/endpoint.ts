/** A target's `url`: parsed, and shown without what is secret in it. */
import { Buffer } from "node:buffer";
import { firstChars, printable } from "../../events/json.ts";
import { isSecretName, REDACTED, redactText } from "../redact.ts";

/** Where deliveries are posted to. */
export interface Endpoint {
  /** Without user and password. */
  readonly url: URL;
  /** `Basic …`, when the URL carried a user or a password. */
  readonly authorization?: string;
}

/** Reads an http or https URL; undefined when it is none. Check `url.protocol` for others. */
export function readEndpoint(text: string): Endpoint | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { username, password } = url;
  url.hash = "";
  if (!username && !password) return { url };
  url.username = "";
  url.password = "";
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { url, authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone percent sign stands for itself
  }
}

/** A URL fit to be shown: no user, no password, no token in query or path. */
export function shownUrl(url: URL): string {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  bare.hash = "";
  for (const name of new Set(bare.searchParams.keys())) {
    if (isSecretName(name) || /^(?:key|sig|code|hash)$/i.test(name)) {
      bare.searchParams.set(name, REDACTED);
    }
  }
  const text = bare.href.replaceAll(encodeURIComponent(REDACTED), REDACTED);
  return shownText(redactText(text).text);
}

const HERE = "http://here.invalid";

/** Where a redirect leads, fit to be shown: it mostly repeats what is secret in our own URL. */
export function shownLocation(text: string): string {
  if (!URL.canParse(text, HERE)) return shownText(text);
  const url = new URL(text, HERE);
  return url.origin === HERE ? shownUrl(url).slice(HERE.length) : shownUrl(url);
}

/** Any text that was meant to be a URL, fit to be shown. */
export function shownText(text: string): string {
  const bare = text.replace(/^([^/?#]*\/\/)?[^/?#]*@/, "$1");
  return printable(firstChars(redactText(bare).text, 200));
}
