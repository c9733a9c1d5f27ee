/** A receiver that remembers which sessions it was told of, and how often. */
import { Buffer } from "node:buffer";
import http from "node:http";

/** What came of what was accepted. */
export interface Tally {
  readonly accepted: number;
  readonly arrived: number;
  /** Accepted, and never arrived: must be none. */
  readonly lost: readonly string[];
  /** Posts beyond the first of a session. */
  readonly duplicates: number;
}

/** The receiver. */
export interface Receiver {
  readonly port: number;
  /** How often each session came. */
  readonly seen: ReadonlyMap<string, number>;
  /** Sums up what was accepted against what came. */
  tally(accepted: Iterable<string>): Tally;
  close(): void;
}

/** Starts one; it answers 200, after `delayMs`. */
export async function startReceiver(delayMs = 0): Promise<Receiver> {
  const seen = new Map<string, number>();
  const server = http.createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { session_id: session } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      seen.set(session, (seen.get(session) ?? 0) + 1);
      setTimeout(() => response.end("ok"), delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    seen,
    tally(accepted) {
      const list = [...accepted];
      const lost = list.filter((session) => !seen.has(session));
      const duplicates = [...seen.values()].reduce((sum, times) => sum + times - 1, 0);
      return { accepted: list.length, arrived: seen.size, lost, duplicates };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
