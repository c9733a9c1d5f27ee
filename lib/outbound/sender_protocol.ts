/**
 * What a sender and those who hand parcels to it say to each other, over its unix socket:
 *
 *   sender  `hermes-sender 1`          I take one parcel from you; nothing is sent before this
 *   client  the parcel
 *   sender  `{"taken": 2, "dropped": 0}`
 *   sender  `{"undelivered": [["<id>", "failed"]]}`   only when the parcel says to wait
 *
 * A sender that is about to end greets nobody any more, so who was not greeted has handed over
 * nothing and may go another way. Over a pipe the parcel is stdin, and the last line goes to stdout.
 */
import { connect, type Socket } from "node:net";

/** The sender's first line. */
export const GREETING = "hermes-sender 1";

/** What became of a parcel at the door. */
export interface Taken {
  readonly taken: number;
  /** Not taken: the queue is full. */
  readonly dropped: number;
}

/** What was not delivered in the time given: an id, and `failed`, `dropped` or `pending`. */
export interface Flushed {
  readonly undelivered: readonly (readonly [string, string])[];
}

/** The first line of a stream; undefined when it ends before there is one. */
export async function firstLine(stream: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  return undefined;
}

/** What came of {@link giveToSender}. */
export type Given =
  /** There is none, or it takes nothing more: nothing was handed over. */
  | { readonly kind: "nobody" }
  /** It was handed over, at least in part, and no answer came. */
  | { readonly kind: "lost" }
  | {
    readonly kind: "taken";
    readonly answer: Taken;
    /** The second line; undefined when none comes. */
    readonly flushed: Promise<Flushed | undefined>;
  };

/** How long a sender gets to greet, and to say that it has taken a parcel, in ms. */
export interface Patience {
  readonly greetMs: number;
  readonly answerMs: number;
}

/**
 * Hands a parcel to the sender at a socket. Never rejects.
 * @param flushMs how long it is then waited for; 0: the connection is closed after the first line
 */
export async function giveToSender(
  socket: string,
  parcel: Uint8Array,
  flushMs: number,
  { greetMs, answerMs }: Patience,
): Promise<Given> {
  const connection = connect(socket);
  // Its end shows in the lines.
  connection.on("error", () => {});
  const lines = new Lines(connection);
  if (await lines.next(greetMs) !== GREETING) {
    connection.destroy();
    return { kind: "nobody" };
  }
  connection.write(parcel);
  const answer = parsed<Taken>(await lines.next(answerMs));
  if (!answer || flushMs === 0) connection.destroy();
  if (!answer) return { kind: "lost" };
  const flushed = flushMs === 0 ? Promise.resolve(undefined) : lines.next(flushMs + answerMs).then(
    (line) => {
      connection.destroy();
      return parsed<Flushed>(line);
    },
  );
  return { kind: "taken", answer, flushed };
}

/** One JSON line, or undefined when there was none. */
export function parsed<T>(line: string | undefined): T | undefined {
  if (line === undefined) return undefined;
  try {
    return JSON.parse(line) as T;
  } catch {
    return undefined;
  }
}

/** Lines as they come, each waited for with a limit of its own. */
class Lines {
  readonly #ready: string[] = [];
  #rest = "";
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(connection: Socket) {
    const decoder = new TextDecoder();
    connection.on("data", (bytes: Uint8Array) => {
      const lines = (this.#rest + decoder.decode(bytes, { stream: true })).split("\n");
      this.#rest = lines.pop()!;
      this.#ready.push(...lines);
      if (lines.length > 0) this.#wake?.();
    });
    connection.on("close", () => {
      this.#ended = true;
      this.#wake?.();
    });
  }

  /** The next line; undefined when the other side is gone or `ms` is over. */
  async next(ms: number): Promise<string | undefined> {
    if (this.#ready.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    return this.#ready.shift();
  }
}
