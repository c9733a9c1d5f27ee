/** The host's end of the private pipe, and its end when the process that started it is gone. */
import { Buffer } from "node:buffer";
import { createReadStream, fstatSync, writeSync } from "node:fs";
import process from "node:process";
import { keepDescriptors } from "./spawn_detached.ts";
import { HOST_PIPE } from "./spawn_host.ts";

/** The pipe as the host sees it. */
export interface HostPipe {
  send(text: string): void;
  /** Tells of bytes as they come, and once of the end. */
  listen(received: (bytes: Uint8Array) => void, ended: () => void): void;
}

/** Opens it; undefined when we were not started as a host. */
export async function openHostPipe(): Promise<HostPipe | undefined> {
  // What the hook starts must not keep the pipe.
  keepDescriptors();
  try {
    if ("Deno" in globalThis) return await openInDeno();
    return fstatSync(HOST_PIPE).isSocket() ? openInBun() : undefined;
  } catch {
    return undefined;
  }
}

async function openInDeno(): Promise<HostPipe> {
  const { Socket } = await import("node:net");
  const socket = new Socket({ fd: HOST_PIPE, readable: true, writable: true });
  return {
    send: (text) => void socket.write(text),
    listen(received, ended) {
      socket.on("data", received);
      socket.on("error", () => {});
      socket.on("close", ended);
    },
  };
}

/** Bun's `net.Socket` does not take a descriptor. */
function openInBun(): HostPipe {
  return {
    send: (text) => writeWhole(Buffer.from(text)),
    listen(received, ended) {
      const stream = createReadStream("", { fd: HOST_PIPE });
      stream.on("data", (bytes) => received(bytes as Uint8Array));
      stream.on("error", ended);
      stream.on("end", ended);
    },
  };
}

function writeWhole(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(HOST_PIPE, bytes, at, bytes.length - at);
    } catch (error) {
      // Nobody is there to read it any more: the end of the pipe follows.
      if ((error as { code?: string }).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

const PR_SET_PDEATHSIG = 1, SIGKILL = 9;
type Dlopen = (library: string, symbols: Record<string, unknown>) => {
  symbols: { prctl(option: number, value: number | bigint): number };
};

/**
 * Asks the system to kill us with the process that started us: the end of the pipe says nothing to
 * a hook in an endless loop. Where it cannot be asked, only the pipe tells.
 */
export function endWithStarter(): void {
  if (process.platform !== "linux") return;
  try {
    const { Deno: deno } = globalThis as unknown as { Deno?: { dlopen: Dlopen } };
    if (deno) {
      const prctl = { parameters: ["i32", "u64"], result: "i32" };
      deno.dlopen("libc.so.6", { prctl }).symbols.prctl(PR_SET_PDEATHSIG, BigInt(SIGKILL));
      return;
    }
    const ffi = process.getBuiltinModule("bun:ffi" as "node:fs") as unknown as { dlopen: Dlopen };
    const prctl = { args: ["i32", "u64"], returns: "i32" };
    ffi.dlopen("libc.so.6", { prctl }).symbols.prctl(PR_SET_PDEATHSIG, SIGKILL);
  } catch {
    // Without the permission or the library there is nothing to be done about it.
  }
}
