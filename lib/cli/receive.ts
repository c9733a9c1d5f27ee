/** `receive`: takes signed deliveries in, prints them, and wakes another program with them. */
import process from "node:process";
import { expandTilde } from "../config/home.ts";
import type { Context } from "../context.ts";
import { printable } from "../events/json.ts";
import {
  DEFAULT_ADDRESS,
  isLoopback,
  type ListenAddress,
  readAddress,
  urlOf,
} from "../receive/address.ts";
import { CommandQueue } from "../receive/command_queue.ts";
import { deliveryLine } from "../receive/line.ts";
import { Reception } from "../receive/reception.ts";
import { type Receiver, startReceiver } from "../receive/server.ts";
import { prepareCommand } from "../sources/shell/program.ts";
import { killAllNow } from "../sources/shell/run/running.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { readSecrets } from "./secrets.ts";

/** How long a command may still run once we are told to stop, in ms. */
const STOP_MS = 10_000;
/** How long senders may take to read their answers then, in ms. */
const ANSWERED_MS = 1000;

function listenAddress(args: Args): ListenAddress {
  const { listen = "", exec, "secret-env": secretEnv = [] } = args.options;
  const address = readAddress(listen);
  if (!address) {
    throw new UsageError(`--listen takes HOST:PORT, not "${printable(listen)}"`);
  }
  if (secretEnv.length > 0) return address;
  if (exec !== undefined) {
    throw new UsageError("--exec needs --secret-env NAME: anybody could run the command without");
  }
  if (!isLoopback(address.host)) {
    const host = printable(address.host);
    throw new UsageError(
      `without --secret-env NAME only loopback is listened on, not "${host}"; leave --listen out for ${DEFAULT_ADDRESS.host}:${DEFAULT_ADDRESS.port}`,
    );
  }
  return address;
}

/** What the command gets: everything but the secrets that deliveries are checked with. */
function commandEnv(args: Args, context: Context): Record<string, string> {
  const env: Record<string, string> = { ...context.env, HERMES_HOME: context.home };
  for (const name of args.options["secret-env"] ?? []) delete env[name];
  // Another event's, if we were started by a hook.
  delete env["HERMES_HOOK_EVENT"];
  delete env["HERMES_DELIVERY_ID"];
  return env;
}

/**
 * The queue for `--exec`; why the command cannot be started, when that is known beforehand.
 * @throws UsageError for a command that cannot be split into words
 */
function commandQueue(args: Args, context: Context): CommandQueue | string | undefined {
  const command = args.options.exec?.trim();
  if (command === undefined) return undefined;
  const env = commandEnv(args, context);
  const folder = context.startFolder;
  const tilde = (word: string) => expandTilde(word, context.env);
  const place = { env, startFolder: folder, cwd: folder, expandTilde: tilde };
  const program = prepareCommand(command, place);
  if (!program.ok && program.code === "cannot be parsed") {
    throw new UsageError(`--exec ${program.reason}`);
  }
  if (!program.ok) return `--exec: ${program.reason}`;
  return new CommandQueue({ command, env, folder, expandTilde: tilde, log: context.log });
}

/** Settles at the first TERM or INT; a second one ends everything at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const [name, number] of [["SIGINT", 2], ["SIGTERM", 15]] as const) {
      process.on(name, () => {
        if (stopping) {
          killAllNow();
          process.exit(128 + number);
        }
        stopping = true;
        resolve();
      });
    }
  });
}

function listenFailure(error: unknown, address: ListenAddress): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const url = urlOf(address);
  if (code === "EADDRINUSE") return `${url} is in use by another program; give another --listen`;
  if (code === "EACCES") return `${url} may not be listened on by this user; take a port over 1023`;
  return `${url} cannot be listened on: ${code}`;
}

function announce(io: Io, { address }: Receiver, checked: boolean): void {
  const how = checked ? "signatures are checked" : "NOTHING IS CHECKED, there is no --secret-env";
  io.err(`hermes-hooks: receiving on ${urlOf(address)}, ${how}\n`);
  if (isLoopback(address.host)) return;
  io.err(
    "hermes-hooks: warning: reachable from other machines over plain HTTP: whoever is in between can read deliveries; put TLS in front\n",
  );
}

/** Runs until TERM or INT: exit 0; 1 when it cannot start. */
export async function receive(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) throw new UsageError("receive takes no words, only options");
  const address = listenAddress(args);
  const read = readSecrets(args, context);
  if (!read.ok) return failed(io, read.reason);
  const queue = commandQueue(args, context);
  if (typeof queue === "string") return failed(io, queue);
  const { secrets } = read;
  const reception = new Reception({
    secrets,
    now: context.now,
    accept: (delivery, body) => {
      if (queue && !queue.offer(delivery, body)) return false;
      io.out(deliveryLine(delivery, body, context.now()));
      return true;
    },
  });
  const stopped = stopSignal();
  let receiver: Receiver;
  try {
    receiver = await startReceiver({
      ...address,
      loopbackOnly: secrets.length === 0,
      take: (headers, body) => reception.take(headers, body),
    });
  } catch (error) {
    return failed(io, listenFailure(error, address));
  }
  announce(io, receiver, secrets.length > 0);
  await stopped;
  const [lost = 0] = await Promise.all([queue?.stop(STOP_MS), receiver.stop(ANSWERED_MS)]);
  if (lost > 0) {
    context.log("warning", `--exec was not run to its end on ${lost} accepted deliveries`);
  }
  return 0;
}

function failed(io: Io, message: string): number {
  io.err(`hermes-hooks: ${printable(message)}\n`);
  return 1;
}
