/** Reading a request's body: whole, bounded in size and in time. */
import { errorAnswer } from "./answer.ts";

/** What a request's body may weigh, in bytes. */
export const MAX_BODY = 16 * 1024 * 1024;
/**
 * How much of a body that is too large is still taken in and thrown away, in bytes: a sender that
 * is cut off in the middle of writing often never sees the answer.
 */
const MOST_THROWN_AWAY = 64 * 1024 * 1024;

/** The body as text (UTF-8 with replacement), or the refusal to send. */
export type BodyRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly answer: Response };

const refused = (code: "payload_too_large" | "body_timeout" | "bad_request", message: string) => {
  // What is left of the body will not be read: the connection cannot be used again.
  const answer = errorAnswer(code, message, { headers: { connection: "close" } });
  return { ok: false, answer } as const;
};
const tooLarge = () => refused("payload_too_large", "the body is over 16 MiB");
const cutOff = () => refused("bad_request", "the body was cut off");

/** Reads it all within `timeoutMs`. */
export async function readBody(request: Request, timeoutMs: number): Promise<BodyRead> {
  if (request.body === null) return { ok: true, text: "" };
  const length = request.headers.get("content-length");
  const small = length !== null && Number(length) <= MAX_BODY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    if (!small) return await new Counted(request.body).read(late, timeoutMs);
    return await Promise.race([whole(request), late]) ?? tooLate(timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

const tooLate = (timeoutMs: number) =>
  refused("body_timeout", `the body did not come within ${timeoutMs / 1000} s`);

async function whole(request: Request): Promise<BodyRead> {
  try {
    return { ok: true, text: await request.text() };
  } catch {
    return cutOff();
  }
}

/** A body of a length unknown, or too great: counted as it comes. */
class Counted {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #size = 0;
  #text = "";

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  async read(late: Promise<undefined>, timeoutMs: number): Promise<BodyRead> {
    const read = await Promise.race([this.#all(), late]);
    if (read?.ok !== true) this.#reader.cancel().catch(() => {});
    return read ?? (this.#size > MAX_BODY ? tooLarge() : tooLate(timeoutMs));
  }

  async #all(): Promise<BodyRead> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#size += value.length;
        if (this.#size > MOST_THROWN_AWAY) break;
        if (this.#size > MAX_BODY) this.#text = "";
        else this.#text += this.#decoder.decode(value, { stream: true });
      }
    } catch {
      return cutOff();
    }
    if (this.#size > MAX_BODY) return tooLarge();
    return { ok: true, text: this.#text + this.#decoder.decode() };
  }
}
