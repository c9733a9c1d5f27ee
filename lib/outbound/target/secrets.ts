/** Which secrets a target signs with: never sent unsigned by accident (rule 10.1). */
import type { ConfigNode } from "../../config/node.ts";
import { standardKey } from "../sign.ts";
import { type Entry, given, kindOf, textOf } from "./entry.ts";

/** Reads `secret_env`, else `secrets`, else `secret`; undefined when they disable the target. */
export function readSecrets(
  entry: Entry,
  env: Readonly<Record<string, string>>,
  standard: boolean,
): readonly string[] | undefined {
  const read = fromEnvironment(entry, env) ?? fromList(entry) ?? fromString(entry) ??
    { secrets: [], key: "secret" };
  if (!read.secrets) return undefined;
  if (standard && read.secrets.length === 0) {
    entry.warn("format", `"standard" signs, but there is no secret; sent unsigned`);
  }
  const bad = standard ? read.secrets.findIndex((secret) => !standardKey(secret)) : -1;
  if (bad < 0) return read.secrets;
  const which = read.secrets.length > 1 ? ` number ${bad + 1}` : "";
  entry.fail(read.key, `secret${which} begins with "whsec_" but is no base64 after it`);
  return undefined;
}

interface Read {
  /** Undefined: reported, and the target is off. */
  readonly secrets: readonly string[] | undefined;
  readonly key: string;
}

/** `secret_env`: one name, several separated by spaces, or a list of names. */
function fromEnvironment(
  entry: Entry,
  env: Readonly<Record<string, string>>,
): Read | undefined {
  const node = given(entry.map, "secret_env");
  if (node === undefined) return undefined;
  const key = "secret_env";
  const names = namesOf(node);
  if (!names) {
    entry.fail(key, "names no variable, expected the name of one that holds the secret");
    return { secrets: undefined, key };
  }
  const missing = names.filter((name) => !env[name]);
  if (missing.length === 0) return { secrets: names.map((name) => env[name] as string), key };
  const state = env[missing[0] as string] === "" ? "is empty" : "is not set";
  const which = missing.map((name) => `"${name}"`).join(", ");
  entry.fail(key, missing.length > 1 ? `${which} are not set` : `${which} ${state}`);
  return { secrets: undefined, key };
}

function namesOf(node: ConfigNode): string[] | undefined {
  const items = node.kind === "list" ? node.items : [node];
  const texts = items.map(textOf);
  if (texts.length === 0 || texts.includes(undefined)) return undefined;
  const names = texts.flatMap((text) => (text as string).split(/\s+/));
  // A variable's name, not a secret put there by mistake, which the message would then show.
  return names.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) ? names : undefined;
}

function fromList(entry: Entry): Read | undefined {
  const node = given(entry.map, "secrets");
  if (node === undefined) return undefined;
  const key = "secrets";
  const items = node.kind === "list" ? node.items : [];
  const secrets = items.map(secretOf);
  const bad = secrets.findIndex((secret) => typeof secret !== "string");
  if (items.length === 0) {
    entry.fail(key, "expected a list of strings, the newest secret first");
  } else if (bad >= 0) {
    entry.fail(`${key}[${bad}]`, complaint(secrets[bad], items[bad] as ConfigNode));
  } else return { secrets: secrets as string[], key };
  return { secrets: undefined, key };
}

function fromString(entry: Entry): Read | undefined {
  const node = given(entry.map, "secret");
  if (node === undefined) return undefined;
  const secret = secretOf(node);
  if (typeof secret === "string") return { secrets: [secret], key: "secret" };
  entry.fail("secret", complaint(secret, node));
  return { secrets: undefined, key: "secret" };
}

/** The secret, or the variable that was to give it, or undefined. */
function secretOf(node: ConfigNode): string | { readonly unset: string } | undefined {
  const value = node.kind === "scalar" ? node.value : undefined;
  if (typeof value !== "string" || value === "") return undefined;
  // rule 1.2b leaves an unset name as it stands: signing with that text would be no secret at all.
  const unset = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/.exec(value)?.[1];
  return unset === undefined ? value : { unset };
}

function complaint(secret: ReturnType<typeof secretOf>, node: ConfigNode): string {
  if (typeof secret === "object") return `"${secret.unset}" is not set`;
  return `is ${kindOf(node)}, expected a non-empty string in quotes`;
}
