/** One connection to a target, and the few that are kept for its next deliveries. */
import type { Buffer } from "node:buffer";
import type net from "node:net";
import { AnswerReader, MAX_ANSWER } from "./answer.ts";
import { dial, type Route } from "./dial.ts";
import type { Proxy } from "./proxy.ts";

/** What is known of an answer: its body is thrown away. */
export interface Answer {
  readonly status: number;
  readonly location?: string;
  /** `Retry-After` as it came, at most 64 characters. */
  readonly retryAfter?: string;
}

/** The time of an attempt ran out. */
export class TimedOut extends Error {
  constructor() {
    super("timed out");
    this.name = "TimedOut";
  }
}

/** Milliseconds to wait for the rest of an answer whose status is known already. */
const REST_MS = 1_000;
/** Milliseconds an idle connection is kept: under the 5 s at which many servers close theirs. */
const IDLE_MS = 4_000;
/** Kept connections that fail in a row before no more are kept: this server closes them unsaid. */
const STALE_LIMIT = 2;

/** Carries one request at a time. Nothing is ever sent twice: what failed is the caller's to try again. */
export class Connection {
  /** Requests it has carried. */
  used = 0;
  readonly forward: Proxy | undefined;
  readonly #socket: net.Socket;
  readonly #onGone: () => void;
  #reader: AnswerReader | undefined;
  #settle: ((error?: unknown) => void) | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #idleMs = IDLE_MS;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #failure: unknown;
  #gone = false;

  constructor(socket: net.Socket, forward: Proxy | undefined, onGone: (c: Connection) => void) {
    this.#socket = socket;
    this.forward = forward;
    this.#onGone = () => onGone(this);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
    socket.resume();
    // It may have failed since it was opened, when nobody listened yet.
    if (socket.destroyed) this.#gone = true;
  }

  /** May it carry another request? */
  get usable(): boolean {
    return !this.#gone;
  }

  /**
   * Sends one request and reads its answer, at most {@link MAX_ANSWER} bytes of it. Once the status
   * is known it counts, whatever becomes of the rest. Rejects when the connection fails before.
   * @param ms what is left of the attempt's time
   */
  exchange(request: readonly Uint8Array[], ms: number): Promise<Answer> {
    const reader = new AnswerReader();
    this.#reader = reader;
    this.used++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.destroy(new TimedOut()), ms);
      this.#settle = (error) => {
        clearTimeout(timer);
        clearTimeout(this.#rest);
        this.#settle = this.#reader = this.#rest = undefined;
        const { status, location, retryAfter } = reader;
        if (status === 0) reject(error);
        else resolve({ status, location, retryAfter });
      };
      if (this.#gone) return this.#settle(this.#failure);
      if (request.length > 1) this.#socket.cork();
      for (const part of request) this.#socket.write(part);
      if (request.length > 1) this.#socket.uncork();
    });
  }

  /** Keeps it for a while; `onGone` is called when it can no longer be used. */
  rest(): void {
    this.#idleTimer = setTimeout(() => this.destroy(), this.#idleMs);
    this.#idleTimer.unref();
    this.#socket.unref();
  }

  /** Takes it out of {@link rest}. */
  wake(): void {
    clearTimeout(this.#idleTimer);
    this.#socket.ref();
  }

  /** Closes it; a request under way rejects with `error` unless its status is known. */
  destroy(error?: unknown): void {
    this.#end(error);
  }

  #onData(chunk: Buffer): void {
    const reader = this.#reader;
    // Nobody asked: whatever comes now would be taken for the next request's answer.
    if (!reader) return this.#end();
    try {
      if (reader.push(chunk)) return this.#whole(reader);
    } catch (error) {
      return this.#end(error);
    }
    if (reader.read > MAX_ANSWER) return this.#end();
    if (reader.status !== 0) this.#rest ??= setTimeout(() => this.#end(), REST_MS);
  }

  #whole(reader: AnswerReader): void {
    // An answer that came before the request was out leaves the rest of it on the way.
    const reusable = reader.reusable && this.#socket.writableLength === 0;
    if (!reusable) return this.#end();
    const { keepAlive } = reader;
    // A second less than the other side, so that it does not close just as we send.
    this.#idleMs = keepAlive ? Math.min(IDLE_MS, (keepAlive - 1) * 1000) : IDLE_MS;
    if (this.#idleMs <= 0) return this.#end();
    this.#settle?.();
  }

  #end(error?: unknown): void {
    if (!this.#gone) {
      this.#gone = true;
      this.#failure = error;
      clearTimeout(this.#idleTimer);
      this.#socket.destroy();
      this.#onGone();
    }
    this.#settle?.(error ?? Object.assign(new Error("closed"), { code: "ECONNRESET" }));
  }
}

/** The connections of one target. */
export class Pool {
  readonly #route: Route;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #dialling = new Set<AbortController>();
  #closed = false;
  #stale = 0;

  constructor(route: Route) {
    this.#route = route;
  }

  /**
   * An idle connection, else a new one.
   * @param fresh never an idle one
   * @param ms what is left of the attempt's time
   */
  take(fresh: boolean, ms: number): Connection | Promise<Connection> {
    const idle = fresh ? undefined : this.#idle.pop();
    if (!idle) return this.#dial(ms);
    idle.wake();
    return idle;
  }

  async #dial(ms: number): Promise<Connection> {
    const late = new AbortController();
    this.#dialling.add(late);
    const timer = setTimeout(() => late.abort(new TimedOut()), ms);
    try {
      const { socket, forward } = await dial(this.#route, late.signal);
      const connection = new Connection(socket, forward, (gone) => this.#forget(gone));
      this.#open.add(connection);
      return connection;
    } finally {
      clearTimeout(timer);
      this.#dialling.delete(late);
    }
  }

  /** Gives a connection back after an exchange that went well. */
  give(connection: Connection): void {
    if (connection.used > 1) this.#stale = 0;
    if (!connection.usable) return;
    if (this.#closed || this.#stale >= STALE_LIMIT) return connection.destroy();
    connection.rest();
    this.#idle.push(connection);
  }

  /** Takes note that a connection which had carried requests before failed with this one. */
  noteStale(): void {
    this.#stale++;
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Closes idle connections now, and those in use when their request has ended. */
  retire(): void {
    this.#closed = true;
    for (const connection of [...this.#idle]) connection.destroy();
  }

  /** Closes every connection, those in use too. */
  close(): void {
    this.#closed = true;
    for (const late of this.#dialling) late.abort(new Error("closed"));
    for (const connection of [...this.#open]) connection.destroy(new Error("closed"));
  }
}
