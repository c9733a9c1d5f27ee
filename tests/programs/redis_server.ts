/** A Redis of one's own: on a free port of loopback, in a folder of its own, gone afterwards. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";

/** A server that runs until it is stopped; what it wrote outlives a stop, not a close. */
export interface RedisServer {
  /** `redis://127.0.0.1:PORT/0`, with the password in it when it has one. */
  readonly url: string;
  readonly port: number;
  /** Starts it again, on the same port and with what it wrote. */
  start(): Promise<void>;
  /** Ends it, by default as politely as a system does. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Lets it hang, or go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Ends it and removes what it wrote. */
  close(): Promise<void>;
}

/** What a {@link startRedis} is asked for. */
export interface RedisServerOptions {
  readonly password?: string;
  /** More of its options, such as `["--maxmemory", "3mb"]`. */
  readonly options?: readonly string[];
}

const PROGRAMS = ["redis-server", "valkey-server"];

/** The name of the program there is here; undefined: none. */
export function redisProgram(): string | undefined {
  return PROGRAMS.find((name) => spawnSync(name, ["--version"]).status === 0);
}

/** Why tests with a Redis are left out, or false: for `test`'s `skip`. */
export const NO_REDIS: string | false = redisProgram() === undefined
  ? "neither redis-server nor valkey-server is installed: see scripts/redis"
  : false;

/** Starts one; undefined where none is installed. */
export async function startRedis(
  { password, options = [] }: RedisServerOptions = {},
): Promise<RedisServer | undefined> {
  const program = redisProgram();
  if (program === undefined) return undefined;
  const folder = mkdtempSync(path.join(os.tmpdir(), "hermes-redis-"));
  const port = await freePort();
  const words = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  words.push("--appendonly", "yes", "--maxmemory-policy", "noeviction", "--loglevel", "warning");
  if (password) words.push("--requirepass", password);
  words.push(...options);
  let child: ChildProcess | undefined;
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    const ending = child;
    child = undefined;
    if (!ending) return;
    const over = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
    process.kill(ending.pid!, signal);
    // One that hangs hears the other signal only when it goes on.
    if (signal === "SIGTERM") process.kill(ending.pid!, "SIGCONT");
    await over;
  };
  const start = async () => {
    child = spawn(program, words, { stdio: "ignore" });
    for (let tries = 0; !await answers(port); tries++) {
      if (tries > 200) throw new Error("redis did not start");
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  await start();
  return {
    url: `redis://${password ? `:${encodeURIComponent(password)}@` : ""}127.0.0.1:${port}/0`,
    port,
    start,
    stop,
    // Not with child.kill: Deno's sends one signal only.
    signal: (signal) => void (child && process.kill(child.pid!, signal)),
    close: async () => {
      await stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  const server = net.createServer();
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    })
  );
}

/** Does it answer a PING, whatever it says? While it loads it says so, and is not ready. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on("error", () => end(false));
    socket.on("data", (data) => end(/^(?:\+PONG|-NOAUTH)/.test(String(data))));
    socket.setTimeout(500, () => end(false));
  });
}
