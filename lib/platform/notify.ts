/**
 * Telling a service manager how we are (`sd_notify`): one datagram to the Unix socket it named.
 * Neither runtime has Unix datagrams, so the C library sends it; where that cannot be reached
 * nothing is sent, as with a manager that does not ask.
 */
import process from "node:process";

interface Sockets {
  socket(domain: number, type: number, protocol: number): number;
  sendto(
    fd: number,
    bytes: Uint8Array,
    length: number,
    flags: number,
    address: Uint8Array,
    addressLength: number,
  ): number;
  close(fd: number): number;
}

const AF_UNIX = 1, SOCK_DGRAM = 2, SOCK_CLOEXEC = 0o2000000, MSG_NOSIGNAL = 0x4000;
/** What `sockaddr_un` has room for. */
const PATH_BYTES = 108;

/**
 * Sends one state, such as `READY=1` or `STOPPING=1`, several joined by newlines.
 * @param notifySocket the value of `NOTIFY_SOCKET`: a path, or `@name` for an abstract one
 * @returns whether it went out
 */
export function notifyManager(notifySocket: string | undefined, state: string): boolean {
  if (!notifySocket || !/^[/@]/.test(notifySocket) || process.platform !== "linux") return false;
  const address = addressOf(notifySocket);
  if (!address) return false;
  try {
    const libc = loadSockets();
    if (!libc) return false;
    const fd = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const bytes = new TextEncoder().encode(state);
    const sent = libc.sendto(fd, bytes, bytes.length, MSG_NOSIGNAL, address, address.length);
    libc.close(fd);
    return sent === bytes.length;
  } catch {
    return false;
  }
}

function addressOf(name: string): Uint8Array | undefined {
  const path = new TextEncoder().encode(name);
  if (path.length >= PATH_BYTES) return undefined;
  if (path[0] === 0x40) path[0] = 0; // "@": the abstract namespace
  const address = new Uint8Array(2 + path.length + (path[0] === 0 ? 0 : 1));
  new Uint16Array(address.buffer, 0, 1)[0] = AF_UNIX;
  address.set(path, 2);
  return address;
}

type Dlopen = (library: string, symbols: Record<string, unknown>) => { symbols: unknown };

// This one name always means the C library that is loaded already, on musl too.
const LIBRARY = "libc.so.6";

function loadSockets(): Sockets | undefined {
  const { Bun: bun, Deno: deno } = globalThis as { Bun?: unknown; Deno?: { dlopen?: Dlopen } };
  if (bun) return bunSockets();
  return deno?.dlopen ? denoSockets(deno.dlopen) : undefined;
}

function bunSockets(): Sockets {
  const ffi = process.getBuiltinModule("bun:ffi" as "node:fs") as unknown as { dlopen: Dlopen };
  return ffi.dlopen(LIBRARY, {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
    close: { args: ["i32"], returns: "i32" },
  }).symbols as Sockets;
}

function denoSockets(dlopen: Dlopen): Sockets {
  const raw = dlopen(LIBRARY, {
    socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
    sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
    close: { parameters: ["i32"], result: "i32" },
  }).symbols as Record<keyof Sockets, (...args: unknown[]) => number | bigint>;
  const sizes = BigInt;
  return {
    socket: (...args) => Number(raw.socket(...args)),
    sendto: (fd, bytes, length, ...rest) =>
      Number(raw.sendto(fd, bytes as unknown, sizes(length), ...rest)),
    close: (fd) => Number(raw.close(fd)),
  };
}
