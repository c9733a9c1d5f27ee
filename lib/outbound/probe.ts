/** What `doctor` wants to know of a target: can it be reached, and with which certificate? */
import tls from "node:tls";
import { firstChars, printable } from "../events/json.ts";
import { checkHost, type Resolve, systemResolve } from "./address.ts";
import { TimedOut } from "./connection.ts";
import { dial, type Route } from "./dial.ts";
import { failureText } from "./failure.ts";
import { proxyFor } from "./proxy.ts";
import type { Target } from "./target.ts";

/** A certificate as the other side showed it. */
export interface ProbedCertificate {
  /** Common names, fit to be printed; empty when there is none. */
  readonly subject: string;
  readonly issuer: string;
  /** The names it is for, such as `DNS:hooks.example.com`. */
  readonly names: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** What was found. Every text is fit to be printed. */
export interface ProbeReport {
  /** Did it connect, TLS and all, in the way a delivery would? */
  readonly reachable: boolean;
  /** Why not. */
  readonly error?: string;
  /** Addresses of the host; `refused` says why one is not dialled. Empty behind a proxy. */
  readonly addresses: readonly { readonly address: string; readonly refused?: string }[];
  /** `host:port` of the proxy in between. */
  readonly proxy?: string;
  readonly certificate?: ProbedCertificate;
  /** Milliseconds to connect, TLS included. */
  readonly ms: number;
  /** Things worth saying that are no failure: what the guard cannot see, a certificate near its end. */
  readonly notes: readonly string[];
}

/** Where a probe is made from. */
export interface ProbeOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly now: () => Date;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Milliseconds at most. Default: the target's own timeout. */
  readonly timeoutMs?: number;
}

/** Days before a certificate's end from which on it is worth a word. */
const SOON_DAYS = 21;

/** Resolves the host and opens a connection, TLS and all, without sending. Never throws. */
export async function probeTarget(target: Target, options: ProbeOptions): Promise<ProbeReport> {
  const { env, now, resolve = systemResolve } = options;
  const { endpoint: { url }, ca } = target.secrets();
  const route: Route = { url, env, network: target.options.network, resolve, ca };
  const notes: string[] = [];
  const began = performance.now();
  const seconds = (options.timeoutMs ?? target.options.timeout * 1000) / 1000;
  const proxy = proxyOf(route);
  if (proxy) {
    notes.push(`goes through the proxy "${proxy}", behind which addresses cannot be checked`);
  }
  const addresses = proxy ? [] : await addressesOf(route);
  const { certificate, error } = await connect(route, seconds);
  const ms = performance.now() - began;
  // What is wrong with a certificate is best said beside the certificate.
  const seen = certificate ??
    (error && url.protocol === "https:" ? await looked(route, seconds) : undefined);
  if (seen) notes.push(...datesOf(seen, now()));
  const reachable = error === undefined;
  return { reachable, error, addresses, proxy, certificate: seen, ms, notes };
}

function proxyOf({ url, env }: Route): string | undefined {
  try {
    return proxyFor(url, env)?.shown;
  } catch {
    return undefined; // the connection fails with the same, and says so
  }
}

async function addressesOf({ url, network, resolve }: Route): Promise<ProbeReport["addresses"]> {
  try {
    const { allowed, refused } = await checkHost(url.hostname, network, resolve);
    return [
      ...allowed.map((address) => ({ address })),
      ...refused.map(({ address, reason }) => ({ address, refused: reason })),
    ];
  } catch {
    return []; // the connection fails with the same, and says so
  }
}

async function connect(
  route: Route,
  seconds: number,
): Promise<{ certificate?: ProbedCertificate; error?: string }> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new TimedOut()), seconds * 1000);
  try {
    const { socket } = await dial(route, late.signal);
    const certificate = socket instanceof tls.TLSSocket ? certificateOf(socket) : undefined;
    socket.destroy();
    return { certificate };
  } catch (error) {
    return { error: failureText(error, seconds) };
  } finally {
    clearTimeout(timer);
  }
}

async function looked(route: Route, seconds: number): Promise<ProbedCertificate | undefined> {
  return (await connect({ ...route, anyCertificate: true }, seconds)).certificate;
}

function certificateOf(socket: tls.TLSSocket): ProbedCertificate | undefined {
  const found = socket.getPeerCertificate();
  if (!found?.valid_to) return undefined;
  const text = (value: unknown) =>
    typeof value === "string" ? printable(firstChars(value, 300)) : "";
  return {
    subject: text(found.subject?.CN),
    issuer: text(found.issuer?.CN ?? found.issuer?.O),
    names: text(found.subjectaltname),
    validFrom: new Date(found.valid_from),
    validTo: new Date(found.valid_to),
  };
}

function datesOf({ validFrom, validTo }: ProbedCertificate, now: Date): string[] {
  const day = (date: Date) => date.toISOString().slice(0, 10);
  if (validFrom > now) return [`the certificate is valid only from ${day(validFrom)}`];
  const days = Math.floor((validTo.getTime() - now.getTime()) / 86_400_000);
  if (days < 0) return [`the certificate ended on ${day(validTo)}`];
  return days <= SOON_DAYS ? [`the certificate ends in ${days} days, on ${day(validTo)}`] : [];
}
