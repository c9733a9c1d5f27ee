/** What a completion script is made from: commands, options, and the words that each takes. */
import { catalog } from "../../events/catalog.ts";
import { readyHooks } from "../../ready/ready.ts";
import { COMMANDS, EVERYWHERE, OPTIONS } from "../args.ts";
import { OVERVIEW, PAGES } from "../help.ts";
import { TOPICS } from "../topics.ts";

/** What stands at a place of the line: one of a list, or what the shell itself knows. */
export type Words = readonly string[] | "file" | "folder" | "command";

/** One command: what help says of it, and what it takes. */
export interface CommandCompletion {
  readonly about: string;
  readonly options: readonly OptionCompletion[];
  /** What its first word may be; absent: it takes none that is known here. */
  readonly words?: Words;
  /** By its first word: what stands behind it; of a list one word, of files any number. */
  readonly then?: Readonly<Record<string, Words>>;
}

/** One option: its name without the dashes, and what help says of it. */
export interface OptionCompletion {
  readonly name: string;
  readonly about: string;
  /** What its value may be; absent: it takes none. */
  readonly value?: Words;
}

/** Everything a completion script is made from. */
export interface CompletionTable {
  readonly commands: ReadonlyMap<string, CommandCompletion>;
  /** The options that every command takes. */
  readonly everywhere: readonly OptionCompletion[];
}

/** Started by ourselves, not by people. */
const HIDDEN = ["sender", "host"];

/** The first line of a command in the overview. */
function aboutCommand(name: string): string {
  const line = OVERVIEW.split("\n").find((each) => each.startsWith(`  ${name} `)) ?? "";
  return line.replace(/^ {2}\S.*? {2,}/, "").trim();
}

/** The first clause of what a help page says of an option, over the lines that it takes. */
function aboutOption(name: string, page: string): string {
  const lines = page.split("\n");
  const first = lines.findIndex((line) => new RegExp(`^ {2}(--\\S.*, )?--${name}\\b`).test(line));
  if (first < 0) return "";
  const more = lines.slice(first + 1).findIndex((line) => !/^ {12}/.test(line));
  const text = lines.slice(first, first + 1 + Math.max(more, 0)).map((line) => line.trim());
  const [, said = ""] = /^--.*? {2,}(.*)$/.exec(text.join(" ")) ?? [];
  return said.replace(/[;.:](\s.*|$)/, "");
}

function names(...kinds: readonly string[]): string[] {
  // `command:<name>` is a row and no name: shells would take it for a redirection.
  return catalog().filter(({ kind, name }) => kinds.includes(kind) && !name.includes("<"))
    .map(({ name }) => name);
}

/** What the words of each command may be. */
function wordsOf(): Readonly<Record<string, Pick<CommandCompletion, "words" | "then">>> {
  const events = names("directive", "transform", "observe"), gateway = names("gateway");
  return {
    fire: { words: events },
    test: { words: events },
    events: { words: [...events, ...gateway] },
    gateway: { words: ["emit"], then: { emit: gateway } },
    config: { words: ["check"], then: { check: "file" } },
    schema: { words: ["config", "plugin", "hook", "payload"], then: { payload: events } },
    deliveries: {
      words: ["status", "list", "show", "redeliver", "purge", "enable", "flush"],
    },
    completions: { words: ["bash", "zsh", "fish"] },
    help: {
      words: [
        ...new Set([
          ...Object.keys(COMMANDS).filter((name) => !HIDDEN.includes(name)),
          ...Object.keys(TOPICS),
        ]),
      ],
    },
  };
}

/** What the values of options may be, as `NAME` or, for one command, `COMMAND NAME`. */
function valuesOf(): Readonly<Record<string, Words>> {
  return {
    home: "folder",
    config: "file",
    "payload-file": "file",
    event: names("directive", "transform", "observe"),
    // The others decide, and there is nothing left to decide at the end.
    "exec event": names("observe"),
    "receive exec": "command",
    "on-approval": ["block", "ask"],
    "log-format": ["auto", "text", "json"],
    "log-level": ["debug", "info", "warning", "error"],
    state: ["waiting", "retrying", "sending", "dead"],
    with: readyHooks().map(({ name }) => name),
  };
}

/** The table of this version. */
export function completionTable(): CompletionTable {
  const words = wordsOf(), values = valuesOf();
  const option = (name: string, page: string, command = ""): OptionCompletion => {
    const about = aboutOption(name, page) || aboutOption(name, OVERVIEW);
    if (OPTIONS[name as keyof typeof OPTIONS].type === "boolean") return { name, about };
    return { name, about, value: values[`${command} ${name}`] ?? values[name] ?? [] };
  };
  const everywhere = EVERYWHERE.map((name) => option(name, OVERVIEW));
  const commands = Object.entries(COMMANDS).filter(([name]) => !HIDDEN.includes(name)).map((
    [name, own],
  ): [string, CommandCompletion] => {
    const options = own.map((each) => option(each, PAGES[name] ?? "", name));
    return [name, { about: aboutCommand(name), options, ...words[name] }];
  });
  return { commands: new Map(commands), everywhere };
}

/** The options that take a value, of any command, in the order of the table. */
export function withValues({ commands, everywhere }: CompletionTable): string[] {
  const all = [...everywhere, ...[...commands.values()].flatMap(({ options }) => options)];
  return [...new Set(all.filter(({ value }) => value !== undefined).map(({ name }) => name))];
}

/**
 * The branches of a shell's `case` on a command and the option before the cursor, for options whose
 * values are known.
 * @param command what stands in front of the option in what is compared
 */
export function valueCases(
  command: string,
  options: readonly OptionCompletion[],
  offer: (words: Words) => string,
): string[] {
  return options.flatMap(({ name, value }) =>
    value === undefined || value.length === 0
      ? []
      : [`  '${command}--${name}') ${offer(value)}; return ;;`]
  );
}
