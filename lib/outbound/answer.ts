/** Reads the answer to a POST off a connection: the status, and where the answer ends. */
import { Buffer } from "node:buffer";

/** Bytes of an answer that are read at most (rule 10.4). */
export const MAX_ANSWER = 65_536;

/** Characters of a `Retry-After`: a date has 29. */
const MAX_RETRY_AFTER = 64;
const LF = 0x0a, CR = 0x0d;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: |$)/;

/** What came back is not HTTP/1. */
export class NotHttp extends Error {
  constructor() {
    super("the answer is not HTTP/1");
    this.name = "NotHttp";
  }
}

/** Feeds on chunks until the answer is whole. The body is counted and thrown away. */
export class AnswerReader {
  /** 0 until the head is read. */
  status = 0;
  location: string | undefined;
  /** `Retry-After` as it came; one that is longer than any good one is left out. */
  retryAfter: string | undefined;
  /** Bytes read so far. */
  read = 0;
  /** Seconds the other side keeps an idle connection, when it says so. */
  keepAlive: number | undefined;
  /** May the connection carry another request once the answer is whole? */
  reusable = false;
  #head: Buffer | undefined;
  #body: Body | undefined;

  /**
   * Takes what came. True: the answer is whole.
   * @throws NotHttp
   */
  push(chunk: Buffer): boolean {
    this.read += chunk.length;
    if (this.#body) return this.#take(chunk);
    let data = this.#head ? Buffer.concat([this.#head, chunk]) : chunk;
    for (;;) {
      const head = headIn(data);
      if (!head) {
        this.#head = data;
        return false;
      }
      const rest = data.subarray(head.length);
      // 100 and 103 come before the answer.
      if (this.#readHead(head.toString("latin1"))) return this.#take(rest);
      data = rest;
    }
  }

  #take(chunk: Buffer): boolean {
    const left = (this.#body as Body).take(chunk);
    if (left === undefined) return false;
    // Bytes behind the end belong to no request of ours: this connection is out of step.
    if (left > 0) this.reusable = false;
    return true;
  }

  #readHead(text: string): boolean {
    const lines = text.split(/\r?\n/);
    const [, minor, status] = STATUS_LINE.exec(lines[0] as string) ?? [];
    if (status === undefined) throw new NotHttp();
    if (status.startsWith("1")) return false;
    const headers = new Map<string, string>();
    for (const line of lines.slice(1)) {
      const colon = line.indexOf(":");
      if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    this.status = Number(status);
    this.location = headers.get("location");
    const retryAfter = headers.get("retry-after");
    this.retryAfter = (retryAfter?.length ?? 0) > MAX_RETRY_AFTER ? undefined : retryAfter;
    this.keepAlive = Number(/timeout=(\d+)/.exec(headers.get("keep-alive") ?? "")?.[1] ?? NaN);
    this.#body = bodyOf(this.status, headers);
    this.reusable = minor === "1" && this.#body !== UNTIL_CLOSE &&
      !/\bclose\b/i.test(headers.get("connection") ?? "");
    return true;
  }
}

/** The head with its blank line, or undefined while it goes on. Small servers leave the CR out. */
function headIn(data: Buffer): Buffer | undefined {
  for (let at = data.indexOf(LF); at >= 0; at = data.indexOf(LF, at + 1)) {
    const next = data[at + 1] === CR ? at + 2 : at + 1;
    if (data[next] === LF) return data.subarray(0, next + 1);
  }
  return undefined;
}

interface Body {
  /** Bytes left behind the body's end, or undefined while it goes on. */
  take(chunk: Buffer): number | undefined;
}

const UNTIL_CLOSE: Body = { take: () => undefined };

function bodyOf(status: number, headers: ReadonlyMap<string, string>): Body {
  if (status === 204 || status === 304) return counted(0);
  const coding = headers.get("transfer-encoding");
  if (coding !== undefined) return coding.toLowerCase() === "chunked" ? chunked() : UNTIL_CLOSE;
  const length = headers.get("content-length");
  return length !== undefined && /^[0-9]{1,15}$/.test(length)
    ? counted(Number(length))
    : UNTIL_CLOSE;
}

function counted(length: number): Body {
  let left = length;
  return {
    take(chunk) {
      left -= chunk.length;
      return left <= 0 ? -left : undefined;
    },
  };
}

/** Chunks: a size line, that many bytes and a line end; behind size 0 lines until a blank one. */
function chunked(): Body {
  let line = "", skip = 0, last = false;
  return {
    take(chunk) {
      for (let at = 0; at < chunk.length;) {
        if (skip > 0) {
          const step = Math.min(skip, chunk.length - at);
          skip -= step;
          at += step;
          continue;
        }
        const byte = chunk[at++] as number;
        if (byte !== 0x0a) {
          line += String.fromCharCode(byte);
          continue;
        }
        const text = line.trim();
        line = "";
        if (last && text === "") return chunk.length - at;
        if (last) continue;
        const size = /^[0-9a-f]{1,12}/i.exec(text)?.[0];
        if (size === undefined) throw new NotHttp();
        last = Number.parseInt(size, 16) === 0;
        skip = last ? 0 : Number.parseInt(size, 16) + 2;
      }
      return undefined;
    },
  };
}
