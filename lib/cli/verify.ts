/** `verify`: is the signature of the body on stdin right? For scripts. */
import type { Context } from "../context.ts";
import { printable } from "../events/json.ts";
import { TOLERANCE_S, verifyDelivery } from "../receive/verification.ts";
import { type Args, UsageError } from "./args.ts";
import type { Io } from "./io.ts";
import { readSecrets } from "./secrets.ts";

/** The headers that the options stand for. */
function headersOf(args: Args): Record<string, string> {
  const { signature, id, timestamp } = args.options;
  if (!signature?.trim()) throw new UsageError("verify needs --signature S");
  if (/^\s*sha256=/i.test(signature)) {
    if (id === undefined && timestamp === undefined) return { "X-Hub-Signature-256": signature };
    throw new UsageError(
      "--id and --timestamp go with a v1 signature; sha256 signs the body alone",
    );
  }
  if (!/^\s*v[0-9a-z]+,/.test(signature)) {
    throw new UsageError("--signature takes sha256=<hex> or v1,<base64>");
  }
  if (id === undefined || timestamp === undefined) {
    throw new UsageError(
      "a v1 signature needs --id and --timestamp: they are signed with the body",
    );
  }
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}

/** `--tolerance SECONDS`; 0 takes any age. */
function toleranceOf(args: Args): number {
  const text = args.options.tolerance ?? String(TOLERANCE_S);
  if (!/^[0-9]{1,9}$/.test(text)) {
    throw new UsageError(`--tolerance takes whole seconds, not "${printable(text)}"`);
  }
  return Number(text) || Infinity;
}

/** Exit 0 when it is right, 1 with one line why when not. */
export async function verify(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) {
    throw new UsageError("verify reads the body from stdin, not from words");
  }
  if (!args.options["secret-env"]?.length) throw new UsageError("verify needs --secret-env NAME");
  const headers = headersOf(args);
  const toleranceS = toleranceOf(args);
  const read = readSecrets(args, context);
  if (!read.ok) return failed(io, read.reason);
  if (io.stdinTty) {
    throw new UsageError("verify reads the body from stdin, and stdin is a terminal: pipe it in");
  }
  const input = await io.readStdinBytes();
  if (!input.ok) return failed(io, input.reason);
  const { secrets } = read;
  const answer = verifyDelivery({
    headers,
    body: input.bytes,
    secrets,
    now: context.now(),
    toleranceS,
  });
  return answer.ok ? 0 : failed(io, `not valid: ${named(answer.reason)}`);
}

/** What the caller knows as an option is not called by the header we stood it under. */
function named(reason: string): string {
  return reason
    .replace(/X-Hub-Signature-256|webhook-signature/, "--signature")
    .replace("webhook-timestamp", "--timestamp")
    .replace("webhook-id", "--id");
}

function failed(io: Io, message: string): number {
  io.err(`hermes-hooks: ${printable(message)}\n`);
  return 1;
}
