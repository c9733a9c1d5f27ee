/** `completions SHELL`: a completion script, made from the tables of commands and options. */
import type { Context } from "../context.ts";
import { catalog } from "../events/catalog.ts";
import { printable } from "../events/json.ts";
import { readyHooks } from "../ready/ready.ts";
import { type Args, COMMANDS, EVERYWHERE, OPTIONS, UsageError } from "./args.ts";
import { OVERVIEW } from "./help.ts";
import type { Io } from "./io.ts";
import { TOPICS } from "./topics.ts";

/** Started by ourselves, not by people. */
const HIDDEN = ["sender", "host"];

/** What stands behind a word: a list, or what the shell itself knows. */
type Words = readonly string[] | "file" | "folder" | "command";

/** Everything a completion script is made from. */
export interface CompletionTable {
  /** By command: its options without the dashes, and what its first word may be. */
  readonly commands: Readonly<
    Record<string, { readonly about: string; readonly options: readonly string[]; words?: Words }>
  >;
  /** By option: what its value may be; absent: it takes none. */
  readonly values: Readonly<Record<string, Words>>;
}

/** The first line of each command in the overview. */
function aboutOf(command: string): string {
  const lines = OVERVIEW.split("\n").filter((line) => line.startsWith(`  ${command} `));
  return lines[0]?.replace(/^ {2}\S.*? {2,}/, "").trim() ?? "";
}

/** The table of this version. */
export function completionTable(): CompletionTable {
  const events = catalog().filter(({ kind }) => kind !== "gateway").map(({ name }) => name);
  // `command:<name>` is a row and no name: shells would take it for a redirection.
  const gateway = catalog().filter(({ kind }) => kind === "gateway").map(({ name }) => name)
    .filter((name) => !name.includes("<"));
  const words: Readonly<Record<string, Words>> = {
    fire: events,
    test: events,
    events: [...events, ...gateway],
    gateway: ["emit"],
    config: ["check"],
    schema: ["config", "plugin", "hook", "payload"],
    deliveries: ["status", "list", "show", "redeliver", "purge", "enable", "flush"],
    completions: ["bash", "zsh", "fish"],
    help: [
      ...Object.keys(COMMANDS).filter((name) => !HIDDEN.includes(name)),
      ...Object.keys(TOPICS),
    ],
  };
  const known: Readonly<Record<string, Words>> = {
    home: "folder",
    config: "file",
    "payload-file": "file",
    event: events,
    "on-approval": ["block", "ask"],
    "log-format": ["auto", "text", "json"],
    "log-level": ["debug", "info", "warning", "error"],
    state: ["waiting", "retrying", "sending", "dead"],
    with: readyHooks().map(({ name }) => name),
  };
  const commands = Object.entries(COMMANDS).filter(([name]) => !HIDDEN.includes(name)).map((
    [name, own],
  ) => [name, { about: aboutOf(name), options: [...EVERYWHERE, ...own], words: words[name] }]);
  const values = Object.entries(OPTIONS).filter(([, { type }]) => type === "string")
    .map(([name]) => [name, known[name] ?? []]);
  return { commands: Object.fromEntries(commands), values: Object.fromEntries(values) };
}

const dashed = (options: readonly string[]) => options.map((name) => `--${name}`);

function bashWords(words: Words | undefined): string {
  if (words === "file") return 'compgen -f -- "$word"';
  if (words === "folder") return 'compgen -d -- "$word"';
  if (words === "command") return 'compgen -c -- "$word"';
  return `compgen -W '${(words ?? []).join(" ")}' -- "$word"`;
}

/** For bash; needs nothing of the bash-completion package. */
export function bashScript({ commands, values }: CompletionTable): string {
  const names = Object.keys(commands).join(" ");
  const byValue = Object.entries(values).map(([name, words]) =>
    `    --${name}) _hermes_hooks_give "$(${bashWords(words)})"; return ;;`
  );
  const byCommand = Object.entries(commands).map(([name, { options, words }]) =>
    `    ${name}) options='${dashed(options).join(" ")}'; words="$(${bashWords(words)})" ;;`
  );
  return `# bash completion for hermes-hooks: eval "$(hermes-hooks completions bash)"
_hermes_hooks_give() {
  local IFS=$'\\n'
  COMPREPLY=($1)
}
_hermes_hooks() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local at command='' position=0 options='' words=''
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
    --)
      if [[ $command == exec ]]; then
        if ((COMP_CWORD == at + 1)); then _hermes_hooks_give "$(compgen -c -- "$word")"
        else _hermes_hooks_give "$(compgen -f -- "$word")"; fi
        return
      fi ;;
    ${Object.keys(values).map((name) => `--${name}`).join(" | ")}) ((at++)) ;;
    -*) ;;
    hooks) [[ -n $command ]] && ((position++)) ;;
    *) if [[ -z $command ]]; then command=\${COMP_WORDS[at]}; else ((position++)); fi ;;
    esac
  done
  case $before in
${byValue.join("\n")}
  esac
  case $command in
${byCommand.join("\n")}
    *) options='${dashed(EVERYWHERE).join(" ")}'; words="$(compgen -W '${names}' -- "$word")" ;;
  esac
  if [[ $word == -* ]]; then _hermes_hooks_give "$(compgen -W "$options" -- "$word")"
  elif ((position == 0)); then _hermes_hooks_give "$words"; fi
}
complete -o filenames -F _hermes_hooks hermes-hooks
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** For zsh: as a file `_hermes-hooks` of `$fpath`, or evaluated. */
export function zshScript({ commands, values }: CompletionTable): string {
  const words = (given: Words | undefined) =>
    given === "file"
      ? "_files"
      : given === "folder"
      ? "_files -/"
      : given === "command"
      ? "_command_names -e"
      : `compadd -- ${(given ?? []).map(quoted).join(" ")}`;
  const about = Object.entries(commands).map(([name, each]) =>
    `    ${quoted(`${name}:${each.about.replaceAll(":", "\\:")}`)}`
  );
  const byValue = Object.entries(values).map(([name, given]) =>
    `    --${name}) ${words(given)}; return ;;`
  );
  const byCommand = Object.entries(commands).map(([name, { options, words: given }]) =>
    `    ${name}) if [[ $word == -* ]]; then compadd -- ${dashed(options).join(" ")}; ` +
    `elif (( place == 0 )); then ${words(given)}; fi ;;`
  );
  return `#compdef hermes-hooks
_hermes_hooks() {
  local word=\${words[CURRENT]} before=\${words[CURRENT-1]} command='' place=0 at
  local -a commands
  commands=(
${about.join("\n")}
  )
  for ((at = 2; at < CURRENT; at++)); do
    case \${words[at]} in
    --) if [[ $command == exec ]]; then
        if (( CURRENT == at + 1 )); then _command_names -e; else _files; fi
        return
      fi ;;
    ${Object.keys(values).map((name) => `--${name}`).join(" | ")}) ((at++)) ;;
    -*) ;;
    hooks) [[ -n $command ]] && ((place++)) ;;
    *) if [[ -z $command ]]; then command=\${words[at]}; else ((place++)); fi ;;
    esac
  done
  case $before in
${byValue.join("\n")}
  esac
  case $command in
${byCommand.join("\n")}
    *) if [[ $word == -* ]]; then compadd -- ${dashed(EVERYWHERE).join(" ")}
      else _describe command commands; fi ;;
  esac
}
if [[ $funcstack[1] == _hermes-hooks ]]; then _hermes_hooks; else compdef _hermes_hooks hermes-hooks; fi
`;
}

/** For fish. */
export function fishScript({ commands, values }: CompletionTable): string {
  const names = Object.keys(commands);
  const lines = [
    "# fish completion for hermes-hooks",
    "complete -c hermes-hooks -f",
    ...names.map((name) =>
      `complete -c hermes-hooks -n "not __fish_seen_subcommand_from ${
        names.join(" ")
      }" -a ${name} ` +
      `-d ${quoted(commands[name]!.about)}`
    ),
  ];
  const takes = (name: string) => {
    const words = values[name];
    if (words === undefined) return "";
    if (words === "file") return " -r -F";
    if (words === "folder") return ' -x -a "(__fish_complete_directories)"';
    return ` -x${words.length > 0 ? ` -a ${quoted((words as readonly string[]).join(" "))}` : ""}`;
  };
  for (const name of EVERYWHERE) lines.push(`complete -c hermes-hooks -l ${name}${takes(name)}`);
  for (const [name, { options, words }] of Object.entries(commands)) {
    const when = `-n "__fish_seen_subcommand_from ${name}"`;
    for (const option of options) {
      if (EVERYWHERE.some((each) => each === option)) continue;
      lines.push(`complete -c hermes-hooks ${when} -l ${option}${takes(option)}`);
    }
    if (Array.isArray(words)) {
      lines.push(`complete -c hermes-hooks ${when} -a ${quoted(words.join(" "))}`);
    }
  }
  lines.push(
    'complete -c hermes-hooks -n "__fish_seen_subcommand_from exec" -a "(__fish_complete_command)"',
  );
  return lines.join("\n") + "\n";
}

const SHELLS: Readonly<Record<string, (table: CompletionTable) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Prints it; exit 64 for a shell that is none of these. */
export function completions(args: Args, io: Io, _context: Context): number {
  const [shell = "", ...more] = args.words;
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell]! : undefined;
  if (!script || more.length > 0) {
    const what = shell ? `, not "${printable(shell)}"` : "";
    throw new UsageError(`completions takes bash, zsh or fish${what}`);
  }
  return io.out(script(completionTable())) ? 0 : 1;
}
