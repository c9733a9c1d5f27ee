/**
 * The address guard: which addresses a delivery may be dialled at. Names are resolved here and only
 * the addresses that were checked are dialled, so a name cannot point elsewhere in between.
 */
import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";

/** What a target says of private ranges: RFC 1918, unique local, loopback and 100.64/10. */
export interface AddressPolicy {
  readonly private: "allow" | "deny";
}

/** All addresses of a host name. Rejects as `node:dns` does when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** What a name came to. */
export interface CheckedAddresses {
  /** May be dialled, in the resolver's order. */
  readonly allowed: readonly string[];
  readonly refused: readonly { readonly address: string; readonly reason: string }[];
}

/** Nothing of a host may be dialled; `message` says which address and why. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressRefused";
  }
}

const PRIVATE = new Set(["private", "uniqueLocal", "loopback", "carrierGradeNat"]);

/** Cloud metadata that hides inside ranges which are allowed, or look public. */
const METADATA = new Set([
  "169.254.169.254",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
]);

const RANGE_WORDS: Readonly<Record<string, string>> = {
  linkLocal: "link-local",
  unspecified: "unspecified",
  multicast: "multicast",
  broadcast: "broadcast",
  uniqueLocal: "unique local",
  carrierGradeNat: "shared (100.64/10)",
  deprecatedSiteLocal: "site-local",
};

type Address = ReturnType<typeof ipaddr.parse>;

/** The IPv4 address that an IPv6 one stands for: mapped, or behind NAT64's well-known prefix. */
function unwrapped(address: Address): Address {
  if (address.kind() !== "ipv6") return address;
  const bytes = address.toByteArray();
  const leading = (count: number, prefix: readonly number[]) =>
    bytes.slice(0, count).every((byte, i) => byte === (prefix[i] ?? 0));
  const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
  const nat64 = [0, 0x64, 0xff, 0x9b];
  if (leading(12, mapped) || leading(12, nat64)) return ipaddr.fromByteArray(bytes.slice(12));
  return address;
}

/** `::a.b.c.d`, long out of use, which is classed as unicast. */
function isCompatible(address: Address): boolean {
  return address.kind() === "ipv6" && address.toByteArray().slice(0, 12).every((byte) => !byte);
}

/**
 * Why an address may not be dialled, in few words; undefined when it may. Text that is no address
 * may not.
 */
export function addressRefusal(text: string, policy: AddressPolicy): string | undefined {
  if (!ipaddr.isValid(text)) return "is no IP address";
  const address = unwrapped(ipaddr.parse(text));
  if (METADATA.has(address.toString())) return "is a cloud metadata address";
  const range = address.range();
  if (PRIVATE.has(range)) {
    const word = RANGE_WORDS[range] ?? range;
    return policy.private === "allow" ? undefined : `is ${word}, and network.private is "deny"`;
  }
  if (range === "unicast" && !isCompatible(address)) return undefined;
  return `is ${RANGE_WORDS[range] ?? "reserved"}`;
}

/** The address a URL's host is, without brackets, or undefined when the host is a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(bare) && /[.:]/.test(bare) ? bare : undefined;
}

/** Is it this machine: 127/8, `::1`, `localhost` or a name under it? */
export function isLoopbackHost(hostname: string): boolean {
  const address = literalAddress(hostname);
  if (address) return unwrapped(ipaddr.parse(address)).range() === "loopback";
  return /(^|\.)localhost\.?$/i.test(hostname);
}

/** Asks the system, as every other program does. */
export const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

/** Resolves a URL's host and sorts what came by the guard. Rejects as `resolve` does. */
export async function checkHost(
  hostname: string,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<CheckedAddresses> {
  const literal = literalAddress(hostname);
  const addresses = literal === undefined ? await resolve(hostname) : [literal];
  const allowed: string[] = [];
  const refused: { address: string; reason: string }[] = [];
  for (const address of addresses) {
    const reason = addressRefusal(address, policy);
    if (reason === undefined) allowed.push(address);
    else refused.push({ address, reason });
  }
  return { allowed, refused };
}

/**
 * The addresses of a URL's host that may be dialled, at least one.
 * @throws AddressRefused when there is none
 */
export async function allowedAddresses(
  hostname: string,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<readonly string[]> {
  const { allowed, refused } = await checkHost(hostname, policy, resolve);
  if (allowed.length > 0) return allowed;
  const why = refused.map(({ address, reason }) => `address "${address}" ${reason}`).join("; ");
  throw new AddressRefused(why || "the name has no address");
}

/** Does an address lie in a range such as `10.0.0.0/8`? False when either cannot be read. */
export function inRange(text: string, range: string): boolean {
  try {
    const address = unwrapped(ipaddr.parse(text));
    const [base, bits] = ipaddr.parseCIDR(range);
    return address.kind() === base.kind() && address.match(base, bits);
  } catch {
    return false;
  }
}
