/** A receiver on loopback that does what a script says, and remembers every POST it got. */
import { Buffer } from "node:buffer";
import net from "node:net";
import tls from "node:tls";

/** One POST as it came over the wire. */
export interface Post {
  readonly requestLine: string;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Which connection it came on, from 1. */
  readonly connection: number;
  /** `performance.now()` when it was whole. */
  readonly at: number;
}

/** What to do with a post: a status to answer with, or anything by hand. */
export type Script = (post: Post, socket: net.Socket, count: number) => number | void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly posts: Post[];
  /** Connections that were opened. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export const answerText = (status: number, headers = "") =>
  `HTTP/1.1 ${status} X\r\n${headers}Content-Length: 2\r\n\r\nok`;

/** Starts one; `certificate` makes it https. */
export function receive(
  script: Script,
  certificate?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const posts: Post[] = [];
  const open = new Set<net.Socket>();
  let connections = 0;
  const onConnection = (socket: net.Socket) => {
    const connection = ++connections;
    let data = Buffer.alloc(0);
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      data = Buffer.concat([data, chunk]);
      for (;;) {
        const end = data.indexOf("\r\n\r\n");
        if (end < 0) return;
        const [requestLine = "", ...lines] = data.toString("latin1", 0, end).split("\r\n");
        const headers = new Map(lines.map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }));
        const from = end + 4, to = from + Number(headers.get("content-length") ?? 0);
        if (data.length < to) return;
        const body = Buffer.from(data.subarray(from, to));
        data = data.subarray(to);
        const post = { requestLine, headers, body, connection, at: performance.now() };
        posts.push(post);
        const status = script(post, socket, posts.length);
        if (typeof status === "number") socket.write(answerText(status));
      }
    });
  };
  const server = certificate
    ? tls.createServer({ ...certificate }, onConnection)
    : net.createServer(onConnection);
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      const url = `${certificate ? "https" : "http"}://127.0.0.1:${port}/hook`;
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed());
          for (const socket of open) socket.destroy();
        });
      resolve({ url, port, posts, connections: () => connections, close });
    });
  });
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const receiver = await receive(() => 200);
  await receiver.close();
  return receiver.port;
}

/** Waits until `is` says yes, at most `ms`. */
export async function until(is: () => boolean, ms = 5_000): Promise<void> {
  for (const end = performance.now() + ms; !is();) {
    if (performance.now() > end) throw new Error("it did not come to pass in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
