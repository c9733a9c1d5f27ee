/** The connections to a Redis: one that fails fast for who waits, others that never give up. */
import { Redis, type RedisOptions } from "ioredis";
import type { Context } from "../../context.ts";
import { NotAccepted } from "../engine.ts";
import type { RedisAddress } from "../../config/redis_url.ts";
import { isTurnedAway, redisFailure } from "./failure.ts";

/** Milliseconds within which whoever hands something in hears what came of it. */
export const ANSWER_MS = 3_000;
const CONNECT_MS = 2_000;
const MANY = 1_000_000;
/** An outage this long is not waited out any more: whoever comes is told at once. */
const PATIENCE_MS = 2_000;

/** All connections of one engine. */
export class RedisLink {
  readonly address: RedisAddress;
  readonly #log: Context["log"];
  readonly #clients = new Set<Redis>();
  readonly #onReady: (() => void)[] = [];
  #producer: Redis | undefined;
  #worker: Redis | undefined;
  #lastError: unknown;
  /** On the clock of `performance.now()`; undefined while the producer is connected. */
  #awaySince: number | undefined = performance.now();
  #told = false;
  #closed = false;

  constructor(address: RedisAddress, log: Context["log"]) {
    this.address = address;
    this.#log = log;
  }

  /** For questions that somebody waits for: fails at once while the connection is away. */
  get producer(): Redis {
    return this.#producer ??= this.#open({
      connectTimeout: CONNECT_MS,
      commandTimeout: ANSWER_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), 1_000),
    }, true);
  }

  /** For workers: waits for Redis as long as it takes. */
  get worker(): Redis {
    return this.#worker ??= this.#open({
      connectTimeout: 10_000,
      retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 10), 1_000),
    });
  }

  /** Calls back whenever the producer is connected anew: what was known of Redis may be gone. */
  onReady(callback: () => void): void {
    this.#onReady.push(callback);
  }

  /**
   * Resolves when the producer can be asked.
   * @throws NotAccepted when it cannot, for longer than 2 s by now
   */
  async ready(): Promise<Redis> {
    const client = this.producer;
    if (this.#closed) throw new NotAccepted("the queue is closed", "unavailable");
    if (client.status === "ready") return client;
    const away = performance.now() - (this.#awaySince ?? performance.now());
    const patience = Math.max(0, PATIENCE_MS - away);
    const isHopeless = this.#lastError !== undefined && isTurnedAway(this.#lastError);
    if (!isHopeless && patience > 0 && await becomesReady(client, patience)) return client;
    throw this.refusal(this.#lastError);
  }

  /** Is the producer without a connection now? */
  get isAway(): boolean {
    return this.#awaySince !== undefined;
  }

  /** Why something was not taken in. */
  refusal(error: unknown): NotAccepted {
    return new NotAccepted(redisFailure(this.address, error), "unavailable");
  }

  /**
   * Asks, with failures told in our words.
   * @throws NotAccepted
   */
  async asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw error instanceof NotAccepted ? error : this.refusal(error);
    }
  }

  /** Ends every connection at once; what is under way on them fails. */
  close(): void {
    this.#closed = true;
    for (const client of this.#clients) client.disconnect();
    this.#clients.clear();
  }

  #open(options: RedisOptions, isProducer = false): Redis {
    const { host, port, username, password, db, tls } = this.address;
    const client = new Redis({
      host,
      port,
      db,
      ...(username && { username }),
      ...(password && { password }),
      ...(tls && { tls: { servername: host } }),
      protocol: 2,
      // BullMQ asks for it: a command is never given up for the number of its tries.
      maxRetriesPerRequest: null,
      keepAlive: 10_000,
      disableClientInfo: true,
      ...options,
    });
    return this.#keep(client, isProducer);
  }

  #keep(client: Redis, isProducer = false): Redis {
    this.#clients.add(client);
    // Every queue listens on it.
    client.setMaxListeners(MANY);
    // Without a listener an 'error' would end the process.
    client.on("error", (error) => this.#lastError = error);
    client.on("end", () => this.#clients.delete(client));
    if (isProducer) {
      client.on("close", () => this.#away());
      client.on("ready", () => this.#back());
    }
    return this.#quiet(client);
  }

  /** BullMQ prints to the console what it thinks of a server's settings; `doctor` says that here. */
  #quiet(client: Redis): Redis {
    const info = client.info.bind(client) as (...args: unknown[]) => Promise<string>;
    const duplicate = client.duplicate.bind(client);
    return Object.assign(client, {
      info: async (...args: unknown[]) => {
        const text = await info(...args);
        return args.length > 0 ? text : text.replace(/^maxmemory_policy:.*$/m, "");
      },
      duplicate: (more?: Partial<RedisOptions>) => this.#keep(duplicate(more)),
    });
  }

  #away(): void {
    this.#awaySince ??= performance.now();
    if (this.#told || this.#closed) return;
    this.#told = true;
    const why = redisFailure(this.address, this.#lastError);
    this.#log("warning", `outbound queue: ${why}; trying again until it can`);
  }

  #back(): void {
    this.#awaySince = undefined;
    this.#lastError = undefined;
    if (this.#told) {
      this.#log("info", `outbound queue: redis at "${this.address.shown}" is reached again`);
    }
    this.#told = false;
    for (const callback of this.#onReady) callback();
  }
}

/** Does it connect within so many milliseconds, and is not turned away? */
function becomesReady(client: Redis, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (came: boolean) => {
      clearTimeout(timer);
      client.off("ready", onReady);
      client.off("error", onError);
      resolve(came);
    };
    const onReady = () => settle(true);
    const onError = (error: unknown) => isTurnedAway(error) && settle(false);
    const timer = setTimeout(settle, ms, false);
    client.on("ready", onReady);
    client.on("error", onError);
  });
}
