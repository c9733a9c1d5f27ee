/** `health`: does this home's listener take events? For container health checks and scripts. */
import process from "node:process";
import type { Context } from "../context.ts";
import { JsonNumber, printable, stringAt } from "../events/json.ts";
import { answerObject, askSocket } from "../server/client.ts";
import { socketPathOf } from "../platform/socket_path.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";

const TIMEOUT_MS = 3000;

/** Runs it: one line, and exit 0 when it is ready, 1 when it is not. */
export async function health(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) throw new UsageError("health takes no further words");
  const socket = socketPathOf(context.home, context.env, process.getuid?.());
  const answer = await askSocket(socket, { method: "GET", path: "/readyz", timeoutMs: TIMEOUT_MS });
  const said = answerObject(answer);
  if (args.options.json && answer.kind === "answer") io.out(answer.body);
  if (answer.kind === "answer" && answer.status === 200 && said) {
    const pid = said.get("pid");
    const who = `hermes-hooks ${stringAt(said, "version")}, pid ${
      pid instanceof JsonNumber ? pid.text : "?"
    }`;
    if (!args.options.json) io.out(`ready: ${printable(who)}, ${printable(socket)}\n`);
    return 0;
  }
  const status = said && stringAt(said, "status");
  const why = answer.kind === "answer"
    ? `the listener on ${socket} is ${status ?? `answering ${answer.status}`}`
    : answer.kind === "lost"
    ? `the listener on ${socket} does not answer: ${answer.reason}`
    : `no listener on ${socket} (${answer.reason}); start one with: hermes-hooks serve`;
  io.err(`hermes-hooks: not ready: ${printable(why)}\n`);
  return 1;
}
