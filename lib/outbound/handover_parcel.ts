/**
 * What a one-shot command hands to the sender: deliveries, and all it takes to send them. The
 * targets travel as they were read, secrets and all, so the sender needs neither the config nor the
 * environment of any command, and a delivery is signed with what was in force when it was fired.
 * A parcel goes over a pipe or a unix socket of our own, never into a file, argv or environment.
 */
import { Buffer } from "node:buffer";
import type { Delivery } from "./engine.ts";
import { Target, type TargetOptions } from "./target/shape.ts";

/** One parcel. */
export interface Parcel {
  /** Made already, each with its id. */
  readonly deliveries: readonly Delivery[];
  /** Those that the deliveries name by key. */
  readonly targets: readonly Target[];
  /** The proxy variables of the command that fired. */
  readonly proxies: Readonly<Record<string, string>>;
  /** How long the command waits for its deliveries, in ms; 0: it does not. */
  readonly flushMs: number;
  /** Set where deliveries are kept: the home whose file they are in already. */
  readonly kept?: KeptPlace;
}

/** Where a sender finds deliveries that are kept. */
export interface KeptPlace {
  readonly home: string;
  /** How long dead letters are kept, in ms. */
  readonly retainMs: number;
}

/** Names of the variables that say which proxy to use. */
const PROXY_NAMES = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/** The proxy variables of an environment, in both spellings. */
export function proxiesOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const names = PROXY_NAMES.flatMap((name) => [name, name.toLowerCase()]);
  return Object.fromEntries(
    names.flatMap((name) => env[name] === undefined ? [] : [[name, env[name]]]),
  );
}

/** A target as JSON; only ever inside a parcel. */
export interface SealedTarget {
  readonly options: TargetOptions;
  readonly url: string;
  readonly authorization?: string;
  readonly secrets: readonly string[];
  readonly headers: readonly (readonly [string, string])[];
  readonly ca?: string;
}

/** Takes a target apart. */
export function seal(target: Target): SealedTarget {
  const { endpoint, secrets, headers, ca } = target.secrets();
  const { url, authorization } = endpoint;
  return { options: target.options, url: url.href, authorization, secrets, headers, ca };
}

/** Puts it together again, without its matcher: what is in a parcel has been chosen already. */
export function unseal(sealed: SealedTarget): Target {
  const { options, url, authorization, secrets, headers, ca } = sealed;
  return new Target(options, {
    endpoint: { url: new URL(url), authorization },
    secrets,
    headers,
    ca,
  });
}

const HEAD_BYTES = 4;
/** More than a payload with everything around it can come to, in bytes. */
const MAX_BYTES = 512 * 1024 * 1024;

/** A parcel as bytes: their number (32 bits, big-endian), then JSON. */
export function writeParcel(parcel: Parcel): Uint8Array {
  const wires = [...new Set(parcel.deliveries.map(({ wire }) => wire))];
  const json = JSON.stringify({
    // Mostly all targets get the same text.
    deliveries: parcel.deliveries.map((each) => ({ ...each, wire: wires.indexOf(each.wire) })),
    wires,
    targets: parcel.targets.map(seal),
    proxies: parcel.proxies,
    flushMs: parcel.flushMs,
    kept: parcel.kept,
  });
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(json));
  bytes.writeUInt32BE(bytes.length - HEAD_BYTES);
  bytes.write(json, HEAD_BYTES);
  return bytes;
}

type ParcelJson = Omit<Parcel, "deliveries" | "targets"> & {
  readonly deliveries: readonly (Omit<Delivery, "wire"> & { readonly wire: number })[];
  readonly wires: readonly string[];
  readonly targets: readonly SealedTarget[];
};

function readJson(text: string): Parcel {
  const { deliveries, wires, targets, ...rest } = JSON.parse(text) as ParcelJson;
  return {
    deliveries: deliveries.map((each) => ({ ...each, wire: wires[each.wire]! })),
    targets: targets.map(unseal),
    ...rest,
  };
}

/** Puts a parcel together from the pieces it comes in. */
export class ParcelReader {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #wanted: number | undefined;

  /** Has nothing come yet? */
  get empty(): boolean {
    return this.#size === 0;
  }

  /**
   * The next piece; gives the parcel when it is whole.
   * @throws Error when what comes is no parcel
   */
  push(chunk: Uint8Array): Parcel | undefined {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#wanted === undefined && this.#size >= HEAD_BYTES) {
      this.#wanted = HEAD_BYTES + Buffer.concat(this.#chunks).readUInt32BE();
      if (this.#wanted > MAX_BYTES) throw new Error("what came is no parcel");
    }
    if (this.#wanted === undefined || this.#size < this.#wanted) return undefined;
    return readJson(Buffer.concat(this.#chunks).toString("utf8", HEAD_BYTES, this.#wanted));
  }
}

/**
 * The parcel of a stream; undefined when nothing comes.
 * @throws Error when it is cut off, or what comes is no parcel
 */
export async function readParcel(stream: AsyncIterable<Uint8Array>): Promise<Parcel | undefined> {
  const reader = new ParcelReader();
  for await (const chunk of stream) {
    const parcel = reader.push(chunk);
    if (parcel) return parcel;
  }
  if (reader.empty) return undefined;
  throw new Error("a parcel was cut off");
}
