/** Opens the connection a target is sent to: checked addresses only, through a proxy, with TLS. */
import type { Buffer } from "node:buffer";
import net from "node:net";
import tls from "node:tls";
import { type AddressPolicy, allowedAddresses, literalAddress, type Resolve } from "./address.ts";
import { type Proxy, proxyFor } from "./proxy.ts";

/** Everything that decides where a connection goes. */
export interface Route {
  readonly url: URL;
  /** Where proxy variables are looked up. */
  readonly env: Readonly<Record<string, string>>;
  readonly network: AddressPolicy;
  readonly resolve: Resolve;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string;
  /** Accept any certificate: only to look at it, never to send. Default false. */
  readonly anyCertificate?: boolean;
}

/** A connection that is open, and how it got there. */
export interface Dialled {
  readonly socket: net.Socket;
  /** Set when requests on it must be in absolute form. */
  readonly forward?: Proxy;
}

/** Milliseconds after which the next address is tried beside the one that has not answered. */
const NEXT_ADDRESS_MS = 300;

/**
 * Connects, TLS and all. Nothing of a request is sent.
 * @param signal gives up; what was opened is closed
 * @throws AddressRefused, ProxyUnusable, the signal's reason, or what the system said
 */
export async function dial(route: Route, signal: AbortSignal): Promise<Dialled> {
  const { url, env, network, resolve } = route;
  const proxy = proxyFor(url, env);
  const secure = url.protocol === "https:";
  const port = Number(url.port) || (secure ? 443 : 80);
  // A literal is refused also where a proxy would dial it for us.
  if (!proxy || literalAddress(url.hostname)) {
    const addresses = await unlessAborted(allowedAddresses(url.hostname, network, resolve), signal);
    if (!proxy) {
      const socket = await connectAny(addresses, port, signal);
      return { socket: secure ? await withTls(socket, route, signal) : socket };
    }
  }
  const at = literalAddress(proxy.host) ? [proxy.host] : await unlessAborted(
    resolve(proxy.host),
    signal,
  );
  const socket = await connectAny(at, proxy.port, signal);
  if (!secure) return { socket, forward: proxy };
  await tunnel(socket, `${url.hostname}:${port}`, proxy, signal);
  return { socket: await withTls(socket, route, signal) };
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

/** Settles once, by whichever comes first; closes `socket` when it fails or is given up. */
function onSocket<T>(
  socket: net.Socket,
  signal: AbortSignal,
  start: (done: (value: T) => void, fail: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (action: () => void) => {
      stop();
      socket.off("error", fail).off("close", closed);
      signal.removeEventListener("abort", aborted);
      action();
    };
    const fail = (error: unknown) =>
      settle(() => {
        socket.destroy();
        reject(error);
      });
    const closed = () => fail(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
    const aborted = () => fail(signal.reason);
    const stop = start((value) => settle(() => resolve(value)), fail);
    socket.on("error", fail).on("close", closed);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
  });
}

/** Someone always listens: an error between two steps must not end the process. */
const heard = () => {};

function connectOne(address: string, port: number, signal: AbortSignal): Promise<net.Socket> {
  // An address, never a name: nothing is resolved behind the guard's back.
  const socket = net.connect({ host: address, port }).on("error", heard);
  return onSocket(socket, signal, (done) => {
    const connected = () => {
      socket.setNoDelay(true);
      done(socket);
    };
    socket.once("connect", connected);
    return () => socket.off("connect", connected);
  });
}

/** The first address that answers; the next one is tried when one fails or takes its time. */
function connectAny(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<net.Socket> {
  const [only] = addresses;
  if (only !== undefined && addresses.length === 1) return connectOne(only, port, signal);
  // Not AbortSignal.any: its signals pile up behind one that lives long.
  const all = new AbortController();
  const aborted = () => all.abort(signal.reason);
  signal.addEventListener("abort", aborted, { once: true });
  return new Promise((resolve, reject) => {
    let next = 0, open = 0, settled = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (action: () => void) => {
      clearTimeout(timer);
      if (!settled) action();
      settled = true;
      signal.removeEventListener("abort", aborted);
      all.abort(new Error("another address answered first"));
    };
    const start = () => {
      clearTimeout(timer);
      const address = addresses[next++];
      if (address === undefined || settled) return;
      open++;
      connectOne(address, port, all.signal).then(
        (socket) => settled ? socket.destroy() : settle(() => resolve(socket)),
        (error) => {
          open--;
          if (signal.aborted || (open === 0 && next >= addresses.length)) {
            settle(() => reject(error));
          } else start();
        },
      );
      if (next < addresses.length) timer = setTimeout(start, NEXT_ADDRESS_MS);
    };
    start();
  });
}

function withTls(socket: net.Socket, route: Route, signal: AbortSignal): Promise<net.Socket> {
  const { hostname } = route.url;
  const address = literalAddress(hostname);
  const secured = tls.connect({
    socket,
    ca: route.ca,
    // What the certificate must be for: the name in the URL, whatever address it had.
    ...(address ? { host: address } : { servername: hostname.replace(/\.$/, "") }),
    rejectUnauthorized: !route.anyCertificate,
    ALPNProtocols: ["http/1.1"],
  }).on("error", heard);
  return onSocket<net.Socket>(secured, signal, (done) => {
    const ready = () => done(secured);
    secured.once("secureConnect", ready);
    return () => secured.off("secureConnect", ready);
  }).catch((error) => {
    socket.destroy();
    throw error;
  });
}

const MAX_PROXY_HEAD = 16_384;

function tunnel(
  socket: net.Socket,
  to: string,
  proxy: Proxy,
  signal: AbortSignal,
): Promise<void> {
  const authorization = proxy.authorization
    ? `Proxy-Authorization: ${proxy.authorization}\r\n`
    : "";
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${authorization}\r\n`);
  return onSocket(socket, signal, (done, fail) => {
    let head = "";
    const onData = (chunk: Buffer) => {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0 && head.length < MAX_PROXY_HEAD) return;
      const status = /^HTTP\/1\.[01] ([0-9]{3})/.exec(head)?.[1];
      if (status?.startsWith("2") && end === head.length - 4) done(undefined);
      else fail(new Error(`the proxy "${proxy.shown}" answered ${status ?? "no HTTP"}`));
    };
    socket.on("data", onData);
    return () => socket.off("data", onData).pause();
  });
}
