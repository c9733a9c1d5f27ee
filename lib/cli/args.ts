/** Words in: the command line parsed into one command with its options, or a usage error. */
import { parseArgs } from "node:util";
import { nearest } from "../events/names.ts";
import { printable } from "../events/json.ts";

/** The command line asks for something that does not exist: exit 64, nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Every option there is. */
export const OPTIONS = {
  home: { type: "string" },
  config: { type: "string" },
  "accept-hooks": { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
  debug: { type: "boolean" },
  "payload-file": { type: "string" },
  "on-approval": { type: "string" },
  flush: { type: "string" },
  "no-server": { type: "boolean" },
  "for-tool": { type: "string" },
  variant: { type: "string" },
  event: { type: "string", multiple: true },
  all: { type: "boolean" },
  listen: { type: "string" },
  "log-format": { type: "string" },
  "log-level": { type: "string" },
  "secret-env": { type: "string", multiple: true },
  exec: { type: "string" },
  signature: { type: "string" },
  id: { type: "string" },
  timestamp: { type: "string" },
  tolerance: { type: "string" },
  "session-info": { type: "string" },
  with: { type: "string", multiple: true },
  write: { type: "boolean" },
  list: { type: "boolean" },
  tool: { type: "string" },
  session: { type: "string" },
  "block-exit": { type: "string" },
  capture: { type: "boolean" },
  sarif: { type: "boolean" },
  target: { type: "string" },
  state: { type: "string", multiple: true },
  before: { type: "string" },
  after: { type: "string" },
  limit: { type: "string" },
} as const;

type OptionName = keyof typeof OPTIONS;
/** Those that every command takes. */
export const EVERYWHERE: readonly OptionName[] = [
  "home",
  "config",
  "accept-hooks",
  "json",
  "help",
  "version",
  "debug",
];

/** The commands, with the options each takes beside those taken everywhere. */
export const COMMANDS: Readonly<Record<string, readonly OptionName[]>> = {
  fire: ["payload-file", "on-approval", "flush", "no-server"],
  list: [],
  test: ["for-tool", "payload-file", "variant"],
  allow: ["event", "all"],
  revoke: [],
  doctor: [],
  events: ["variant"],
  "prompt-sections": ["session-info"],
  init: ["with", "write", "list"],
  gateway: ["payload-file"],
  serve: ["listen", "log-format", "log-level"],
  health: [],
  receive: ["listen", "secret-env", "exec"],
  verify: ["secret-env", "signature", "id", "timestamp", "tolerance"],
  exec: ["tool", "session", "block-exit", "on-approval", "capture", "event", "flush", "no-server"],
  config: ["sarif"],
  schema: [],
  completions: [],
  deliveries: ["target", "state", "event", "before", "after", "limit", "all", "flush"],
  help: [],
  // What fire leaves behind to send its deliveries; not for people.
  sender: [],
  // What a plugin in TypeScript or JavaScript runs in; not for people.
  host: [],
};

/** A parsed command line. */
export interface Args {
  /** Empty when only `--help` or `--version` was asked for, or nothing at all. */
  readonly command: string;
  /** The words after the command. */
  readonly words: readonly string[];
  /** What stands behind `--`, untouched; of `exec` only, for others these are words too. */
  readonly rest?: readonly string[];
  readonly options: { readonly [K in OptionName]?: OptionValue<(typeof OPTIONS)[K]> };
}

type OptionValue<O> = O extends { multiple: true } ? readonly string[]
  : O extends { type: "boolean" } ? boolean
  : string;

/** `--listen` may stand alone, which `node:util` knows of no option: it then has the empty value. */
function withListenValue(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, at) => {
    const next = argv[at + 1];
    const alone = word === "--listen" && (next === undefined || next.startsWith("-"));
    return alone && (end < 0 || at < end) ? "--listen=" : word;
  });
}

/** The hint `node:util` gives is about its own API; ours is about the program. */
function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: withListenValue(argv),
      options: OPTIONS,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const text = (error as Error).message;
    const name = /'(-[^' ]+)/.exec(text)?.[1] ?? "";
    if (!text.startsWith("Unknown option")) {
      throw new UsageError(printable(text.replace(/\.?\s.*$/s, (rest) => rest.split("\n")[0]!)));
    }
    const near = nearest(name.replace(/^-+/, ""), Object.keys(OPTIONS));
    throw new UsageError(
      `unknown option "${printable(name)}"${near ? `: did you mean "--${near}"?` : ""}`,
    );
  }
}

/**
 * Parses the words after the program's name. A leading `hooks` is accepted and dropped, so that an
 * alias `hermes` works.
 * @throws UsageError for an unknown command or option, or an option that the command does not take
 */
export function readArgs(argv: readonly string[]): Args {
  const end = argv.indexOf("--");
  const before = end < 0 ? argv : argv.slice(0, end);
  if (!before.includes("exec")) return readWords(argv);
  const args = readWords(before);
  if (args.command === "exec") return end < 0 ? args : { ...args, rest: argv.slice(end + 1) };
  return readWords(argv);
}

function readWords(argv: readonly string[]): Args {
  const { values, positionals } = parse(argv);
  const [first, ...rest] = positionals;
  const [command = "", ...words] = first === "hooks" ? rest : positionals;
  if (command === "") return { command, words, options: values };
  const own = Object.hasOwn(COMMANDS, command) ? COMMANDS[command]! : undefined;
  if (!own) {
    const near = nearest(command, Object.keys(COMMANDS));
    throw new UsageError(
      `unknown command "${printable(command)}"${near ? `: did you mean "${near}"?` : ""}`,
    );
  }
  for (const name of Object.keys(values) as OptionName[]) {
    if (!EVERYWHERE.includes(name) && !own.includes(name)) {
      throw new UsageError(`${command} takes no --${name}`);
    }
  }
  return { command, words, options: values };
}
