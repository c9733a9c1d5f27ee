/**
 * The far end of the benchmarks: a process of its own on loopback, so that its work is none of the
 * measured program's. Bun only, as it answers most cheaply.
 *
 *   bun scripts/bench_sink.ts DELAY_MS
 */
import { spawn } from "node:child_process";
import process from "node:process";

declare const Bun: {
  serve(options: {
    port: number;
    hostname: string;
    idleTimeout: number;
    fetch(request: Request): Promise<Response>;
  }): { port: number };
};

/** Runs the body with the port of a server that answers every POST after `delayMs`, and ends it. */
export async function withSink<T>(
  delayMs: number,
  body: (port: number) => Promise<T>,
): Promise<T> {
  const child = spawn(process.execPath, [import.meta.filename!, String(delayMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve) =>
    child.stdout.once("data", (text) => resolve(Number(text)))
  );
  try {
    return await body(port);
  } finally {
    child.kill();
  }
}

function serve(delayMs: number): void {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      await request.arrayBuffer();
      if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs));
      return new Response("ok");
    },
  });
  console.log(server.port);
}

if (import.meta.main) serve(Number(process.argv[2]));
