/** What `exec` was asked to do. */
import { printable } from "../events/json.ts";
import { givenAsText } from "../platform/raw_arguments.ts";
import { type Args, UsageError } from "./args.ts";
import { eventRow, flushSeconds } from "./fire.ts";

/** rule 10.5 */
const FLUSH_S = 10;

/** The options, checked. */
export interface ExecOptions {
  /** The command. */
  readonly argv: readonly string[];
  /** 1 to 255. */
  readonly blockExit: number;
  /** A person may be asked. */
  readonly asks: boolean;
  readonly capture: boolean;
  /** To be fired at the end. */
  readonly events: readonly string[];
  readonly flushMs: number;
}

function readBlockExit(text: string | undefined): number {
  if (text === undefined) return 2;
  // 0 would let a caller go on as if the command had run.
  if (/^[1-9][0-9]{0,2}$/.test(text) && Number(text) <= 255) return Number(text);
  throw new UsageError(`--block-exit takes a number from 1 to 255, not "${printable(text)}"`);
}

/** @throws UsageError for what cannot be meant */
export async function readOptions(args: Args): Promise<ExecOptions> {
  const { rest, words, options } = args;
  if (options.json) throw new UsageError("exec takes no --json: stdout is the command's");
  if (rest === undefined || words.length > 0) {
    throw new UsageError("exec takes its command behind --: hermes-hooks exec -- COMMAND ARG…");
  }
  if (!rest[0]) throw new UsageError("exec has no command behind --");
  if (!givenAsText(rest)) {
    throw new UsageError("exec takes words that are UTF-8: no hook could see what others are");
  }
  // Every gate with a matcher would be passed by.
  if (options.tool?.trim() === "") throw new UsageError("--tool takes a tool's name, not nothing");
  const asking = options["on-approval"] ?? "ask";
  if (asking !== "ask" && asking !== "block") {
    throw new UsageError(`--on-approval takes "block" or "ask", not "${printable(asking)}"`);
  }
  for (const event of options.event ?? []) {
    const row = await eventRow(event, "fired");
    if (row.kind === "observe") continue;
    throw new UsageError(`--event takes an event that only observes, and "${event}" decides`);
  }
  return {
    argv: rest,
    blockExit: readBlockExit(options["block-exit"]),
    asks: asking === "ask",
    capture: options.capture ?? false,
    events: options.event ?? [],
    flushMs: flushSeconds(args, FLUSH_S) * 1000,
  };
}
