/** The sender's door: a unix socket at which running commands leave their parcels. */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { type Parcel, ParcelReader } from "./handover_parcel.ts";
import { type Flushed, GREETING, type Taken } from "./sender_protocol.ts";

/** What is done with a parcel. */
export interface Receipt {
  readonly answer: Taken;
  /** Set when the parcel said to wait. */
  readonly flushed?: Promise<Flushed>;
}

/** How long a greeted command gets for its whole parcel, in ms. */
const PARCEL_MS = 10_000;
/** How long commands that were greeted already get when the door closes, in ms. */
const CLOSE_MS = 2_000;

/** The open door. */
export class Intake {
  readonly #server: Server;
  readonly #path: string;
  readonly #take: (parcel: Parcel) => Promise<Receipt>;
  readonly #connections = new Set<Socket>();
  #closing = false;

  private constructor(path: string, take: (parcel: Parcel) => Promise<Receipt>) {
    this.#path = path;
    this.#take = take;
    this.#server = createServer((connection) => this.#greet(connection));
  }

  /**
   * Opens it. Only the holder of the lock may: what stands there is taken for left behind.
   * @throws Error with a `code` when the socket cannot be had
   */
  static async open(path: string, take: (parcel: Parcel) => Promise<Receipt>): Promise<Intake> {
    rmSync(path, { force: true });
    const intake = new Intake(path, take);
    await new Promise<void>((resolve, reject) => {
      intake.#server.once("error", reject);
      intake.#server.listen(path, resolve);
    });
    chmodSync(path, 0o600);
    return intake;
  }

  /** Commands at the door now. */
  get size(): number {
    return this.#connections.size;
  }

  /** Greets nobody any more; settles when those greeted already have left. The socket is gone then. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.#path, { force: true });
    const timer = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, CLOSE_MS);
    await closed;
    clearTimeout(timer);
  }

  #greet(connection: Socket): void {
    if (this.#closing) {
      connection.destroy();
      return;
    }
    const reader = new ParcelReader();
    let whole = false;
    const timer = setTimeout(() => connection.destroy(), PARCEL_MS);
    this.#connections.add(connection);
    connection.on("error", () => {});
    connection.on("close", () => {
      clearTimeout(timer);
      this.#connections.delete(connection);
    });
    connection.on("data", (bytes: Uint8Array) => {
      if (whole) return;
      try {
        const parcel = reader.push(bytes);
        if (!parcel) return;
        whole = true;
        clearTimeout(timer);
        void this.#answer(connection, parcel);
      } catch {
        connection.destroy();
      }
    });
    connection.write(`${GREETING}\n`);
  }

  async #answer(connection: Socket, parcel: Parcel): Promise<void> {
    try {
      const { answer, flushed } = await this.#take(parcel);
      connection.write(JSON.stringify(answer) + "\n");
      if (flushed) connection.write(JSON.stringify(await flushed) + "\n");
      connection.end();
    } catch {
      // Without an answer the command says that its deliveries may be lost.
      connection.destroy();
    }
  }
}
