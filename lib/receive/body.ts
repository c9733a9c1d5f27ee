/** Reading a request's body within bounds. */
import type { IncomingMessage } from "node:http";
import { Buffer } from "node:buffer";

/** Bytes that all bodies being read hold together, so that many senders cannot fill the memory. */
export class BodyBudget {
  #held = 0;
  /** @param limit in bytes */
  constructor(readonly limit: number) {}

  /** Takes so many; false when there are not that many left. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.limit) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** The body, or why there is none; `gone`: the sender left, or its time ran out. */
export type Body = Uint8Array | "too large" | "busy" | "gone";

/** Reads a body of at most `limit` bytes; the bytes count against the budget while it is read. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  budget: BodyBudget,
): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const settle = (body: Body) => {
      budget.give(size);
      size = 0;
      request.off("data", take);
      resolve(body);
    };
    const take = (chunk: Uint8Array) => {
      if (size + chunk.length > limit) return settle("too large");
      if (!budget.take(chunk.length)) return settle("busy");
      size += chunk.length;
      chunks.push(chunk);
    };
    request.on("data", take);
    request.once("end", () => settle(Buffer.concat(chunks)));
    request.once("error", () => settle("gone"));
    request.once("close", () => settle("gone"));
  });
}
