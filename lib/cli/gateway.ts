/** `gateway emit EVENT`: one gateway event fired by hand, in hosts of its own. */
import type { Context } from "../context.ts";
import { readRegistry } from "../dispatch/registry.ts";
import { printable, stringAt, writeJson } from "../events/json.ts";
import type { Fields } from "../events/outcome.ts";
import { readFields } from "../events/payload.ts";
import { problemText } from "../events/problem.ts";
import { sampleFields } from "../events/sample.ts";
import { findGatewayFolders } from "../sources/gateway/folder.ts";
import { GatewayHooks, gatewaySetup } from "../sources/gateway/gateway_hooks.ts";
import { gatewayRow, unknownEvent } from "../sources/gateway/subscription.ts";
import { type Args, UsageError } from "./args.ts";
import { gatewayHosts } from "./gateway_hosts.ts";
import type { Io } from "./io.ts";
import { line } from "./style.ts";

type FieldsOrFailure = { readonly fields: Fields } | { readonly failed: string };

/** From the file, else stdin; from a terminal, or with nothing on stdin, the sample. */
async function contextFrom(args: Args, io: Io, event: string): Promise<FieldsOrFailure> {
  const { "payload-file": file } = args.options;
  if (file === undefined && io.stdinTty) return { fields: sampleFields(event) };
  const input = file === undefined ? await io.readStdin() : await io.readFile(file);
  if (!input.ok) return { failed: input.reason };
  if (file === undefined && input.text.trim() === "") return { fields: sampleFields(event) };
  const read = readFields(input.text, event);
  if (read.ok) return { fields: read.fields };
  if (read.exit === 64) throw new UsageError(read.message);
  return { failed: `${file ?? "stdin"}: ${read.message}` };
}

/** Runs it: exit 2 for a command that is denied, else 0; 1 when the context cannot be read. */
export async function gateway(args: Args, io: Io, context: Context): Promise<number> {
  const [verb, event, ...more] = args.words;
  if (verb !== "emit" || event === undefined || more.length > 0) {
    throw new UsageError("gateway takes: emit EVENT");
  }
  if (!gatewayRow(event)) throw new UsageError(unknownEvent(event));
  const given = await contextFrom(args, io, event);
  if ("failed" in given) {
    io.err(`hermes-hooks: ${line(given.failed)}\n`);
    return 1;
  }
  const registry = await readRegistry(context);
  const { hooks, problems } = await findGatewayFolders(context.home);
  for (const problem of problems) context.log("warning", problemText(problem));
  const makeHost = await gatewayHosts(context);
  const live = new GatewayHooks(makeHost, context.log);
  try {
    live.update(gatewaySetup(registry, hooks));
    const verdict = await live.emit(event, given.fields);
    const printed = io.out(writeJson(verdict, { printable: true }) + "\n");
    const denied = stringAt(verdict, "decision") === "deny";
    // As a block of fire: whoever reads only stderr sees why.
    if (denied) io.err(printable(stringAt(verdict, "message") ?? "denied", true) + "\n");
    return denied ? 2 : printed ? 0 : 1;
  } finally {
    await live.close();
  }
}
