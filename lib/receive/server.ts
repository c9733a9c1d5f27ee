/** The receiver's HTTP: who may ask at all, what is read, how it is answered. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { writeJson } from "../events/json.ts";
import { isLoopbackHost, type ListenAddress } from "./address.ts";
import { BodyBudget, readBody } from "./body.ts";
import { only, rawPairs, readHeaders } from "./headers.ts";
import { type Answer, refusal } from "./reception.ts";

/** How to listen. */
export interface ReceiverOptions extends ListenAddress {
  /** Decides about a request whose body is read. */
  readonly take: (headers: [string, string][], body: Uint8Array) => Answer;
  /** Ask for a `Host` that names this machine: where no secret tells senders apart. */
  readonly loopbackOnly: boolean;
  /** For one body, in bytes. Default 16 MiB. */
  readonly bodyLimit?: number;
  /** For all bodies being read, in bytes. Default 256 MiB. */
  readonly bodiesLimit?: number;
  /** From a request's first byte to the last of its body, in ms. Default 30,000. */
  readonly deadlineMs?: number;
}

/** A receiver that listens. */
export interface Receiver {
  /** Where it does, with the port it got. */
  readonly address: ListenAddress;
  /**
   * Takes nothing more: requests under way are answered 503. Settles when the last connection is
   * closed; after `graceMs` those that are left are ended.
   */
  stop(graceMs: number): Promise<void>;
}

const DRAIN_MS = 1000;

/**
 * Starts to listen.
 * @returns rejects with the system's error (`EADDRINUSE`, …) when it cannot
 */
export function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { deadlineMs = 30_000 } = options;
  const door = new Door(options);
  const server = createServer(
    { connectionsCheckingInterval: Math.min(1000, deadlineMs) },
    (request, response) => void door.answer(request, response),
  );
  server.requestTimeout = deadlineMs;
  server.headersTimeout = Math.min(10_000, deadlineMs);
  const host = options.host.toLowerCase() === "localhost" ? "127.0.0.1" : options.host;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, host, () => resolve(receiverOf(server, door)));
  });
}

function receiverOf(server: Server, door: Door): Receiver {
  const { address: host, port } = server.address() as AddressInfo;
  return {
    address: { host, port },
    stop(graceMs) {
      door.stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const closeIdle = () => server.closeIdleConnections();
      closeIdle();
      // A connection whose answer is still on its way becomes idle only afterwards.
      const sweep = setInterval(closeIdle, 20);
      const end = setTimeout(() => server.closeAllConnections(), graceMs);
      return closed.finally(() => (clearInterval(sweep), clearTimeout(end)));
    },
  };
}

class Door {
  stopping = false;
  readonly #options: ReceiverOptions;
  readonly #limit: number;
  readonly #budget: BodyBudget;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#limit = options.bodyLimit ?? 16 * 1024 * 1024;
    this.#budget = new BodyBudget(options.bodiesLimit ?? 256 * 1024 * 1024);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A sender that goes away while it is answered is no concern of ours.
    request.on("error", () => {});
    response.on("error", () => {});
    const answer = this.#refuse(request) ?? await this.#receive(request);
    if (answer) send(request, response, answer);
  }

  /** What can be refused before a byte of the body is read. */
  #refuse(request: IncomingMessage): Answer | undefined {
    if (this.stopping) return STOPPING;
    if (request.method !== "POST") return refusal(405, "only POST is answered here");
    const headers = readHeaders(rawPairs(request.rawHeaders));
    if (headers.has("origin")) return refusal(403, "requests from web pages are refused");
    if (this.#options.loopbackOnly && !isLoopbackHost(only(headers, "host"))) {
      return refusal(403, "without a secret only requests to localhost are taken");
    }
    const length = Number(request.headers["content-length"] ?? 0);
    return length > this.#limit ? this.#tooLarge() : undefined;
  }

  async #receive(request: IncomingMessage): Promise<Answer | undefined> {
    const body = await readBody(request, this.#limit, this.#budget);
    if (body === "gone") return undefined;
    if (body === "too large") return this.#tooLarge();
    if (body === "busy") return refusal(503, "too much is being received, try again");
    if (this.stopping) return STOPPING;
    return this.#options.take(rawPairs(request.rawHeaders), body);
  }

  #tooLarge(): Answer {
    return refusal(413, `the body is over ${this.#limit} bytes`);
  }
}

const STOPPING = refusal(503, "the receiver is stopping, try again");

function send(request: IncomingMessage, response: ServerResponse, { status, json }: Answer): void {
  const text = writeJson(json, { printable: true }) + "\n";
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    ...(status === 405 ? { Allow: "POST" } : {}),
    ...(status === 503 ? { "Retry-After": "1" } : {}),
    ...(status === 503 && request.complete ? { Connection: "close" } : {}),
  });
  response.end(text);
  if (request.complete) return;
  // Closing on a sender that still writes would take the answer from it: read on for a moment.
  request.resume();
  const timer = setTimeout(() => request.destroy(), DRAIN_MS);
  request.once("close", () => clearTimeout(timer));
}
