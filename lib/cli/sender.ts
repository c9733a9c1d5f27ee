/**
 * `sender FOLDER LOG`: what `fire` leaves behind to send its deliveries. Not for people: it is not
 * in the help, and without a parcel on stdin it ends at once.
 */
import path from "node:path";
import process from "node:process";
import { runSender } from "../outbound/sender.ts";
import { senderLog } from "../outbound/sender_log.ts";
import { placeIn } from "../outbound/sender_place.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";

/** Runs it to its end. */
export async function sender(args: Args, io: Io): Promise<number> {
  const [folder = "", logFile = "", ...more] = args.words;
  if (!path.isAbsolute(folder) || !path.isAbsolute(logFile) || more.length > 0) {
    throw new UsageError("sender is started by fire; it takes an absolute folder and a log file");
  }
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => stop.abort());
  }
  return await runSender({
    place: placeIn(folder),
    input: process.stdin,
    say: (line) => io.out(line + "\n"),
    log: senderLog(logFile, () => new Date()),
    now: () => new Date(),
    stop: stop.signal,
  });
}
