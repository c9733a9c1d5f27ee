/** The door: one command line in, one exit code out. */
import { ConfigError } from "../config/load.ts";
import type { Context } from "../context.ts";
import { printable } from "../events/json.ts";
import { VERSION } from "../version.ts";
import { type Args, readArgs, UsageError } from "./args.ts";
import { contextOf } from "./context.ts";
import { fire } from "./fire.ts";
import { type Io, processIo } from "./io.ts";
import { ListenerLost } from "./listener_lost.ts";
import { endHooksOnSignals } from "./signals.ts";

type Command = (args: Args, io: Io, context: Context) => number | Promise<number>;

/** Each command's code is loaded when it is asked for; `fire` is always at hand. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  list: async () => (await import("./list.ts")).list,
  test: async () => (await import("./test.ts")).test,
  allow: async () => (await import("./approvals.ts")).allow,
  revoke: async () => (await import("./approvals.ts")).revoke,
  doctor: async () => (await import("./doctor.ts")).doctor,
  events: async () => (await import("./events.ts")).events,
  init: async () => (await import("./init.ts")).init,
  gateway: async () => (await import("./gateway.ts")).gateway,
  "prompt-sections": async () => (await import("./prompt_sections.ts")).promptSectionsCommand,
  serve: async () => (await import("./serve.ts")).serve,
  health: async () => (await import("./health.ts")).health,
  receive: async () => (await import("./receive.ts")).receive,
  verify: async () => (await import("./verify.ts")).verify,
  exec: async () => (await import("./exec.ts")).exec,
  config: async () => (await import("./config_check.ts")).configCommand,
  schema: async () => (await import("./schema.ts")).schema,
  deliveries: async () => (await import("./deliveries.ts")).deliveries,
  completions: async () => (await import("./completions.ts")).completions,
};

/** One-shot commands that run hooks or start hosts, beside `fire`. */
const RUN_HOOKS = ["test", "doctor", "list", "gateway", "prompt-sections"];

/** Prints a page: of a command, or of a topic, which comes first where it was asked for by `help`. */
async function help(args: Args, io: Io, name: string, topics = false): Promise<number> {
  const [{ OVERVIEW, PAGES }, { TOPICS }] = await Promise.all([
    import("./help.ts"),
    import("./topics.ts"),
  ]);
  const own = (pages: Readonly<Record<string, string>>) =>
    Object.hasOwn(pages, name) ? pages[name] : undefined;
  const topic = topics ? own(TOPICS) : undefined;
  const page = name === "" ? OVERVIEW : topic ?? own(PAGES);
  if (page === undefined) {
    const { nearest } = await import("../events/nearest.ts");
    const near = nearest(name, [...Object.keys(PAGES), ...Object.keys(TOPICS)]);
    const hint = near ? `: did you mean "${near}"?` : `; topics: ${Object.keys(TOPICS).join(", ")}`;
    throw new UsageError(`no help on "${printable(name)}"${hint}`);
  }
  io.out(page);
  if (topic !== undefined && own(PAGES) !== undefined) io.out(`\n${own(PAGES)}`);
  return args.words.length > 1 ? 64 : 0;
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const args = readArgs(argv);
  const { command, options } = args;
  if (options.version) return io.out(`hermes-hooks ${VERSION}\n`), 0;
  if (options.help) return await help(args, io, command);
  if (command === "help") return await help(args, io, args.words[0] ?? "", true);
  if (command === "") {
    await help(args, { ...io, out: io.err }, "");
    return 64;
  }
  // It knows nothing of a home: what it needs comes with what it is handed.
  if (command === "sender") return await (await import("./sender.ts")).sender(args, io);
  if (command === "host") return await (await import("./host.ts")).host();
  const context = contextOf(args, io);
  // rule 3.8; `fire` does so once it has read its payload: until then a signal just ends us
  if (RUN_HOOKS.includes(command)) endHooksOnSignals();
  if (command === "fire") return await fire(args, io, context);
  return await (await COMMANDS[command]!())(args, io, context);
}

/** Runs one command line; every failure is one clear line and an exit code, never a stack trace. */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`hermes-hooks: ${error.message}\ntry: hermes-hooks --help\n`);
      return 64;
    }
    if (error instanceof ConfigError || error instanceof ListenerLost) {
      io.err(`hermes-hooks: ${printable(error.message)}\n`);
      return 1;
    }
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    io.err(`hermes-hooks: internal error, please report it: ${printable(what)}\n`);
    return 1;
  }
}
