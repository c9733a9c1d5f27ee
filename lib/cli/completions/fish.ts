/** The completion script for fish. */
import { type CompletionTable, type OptionCompletion, withValues, type Words } from "./table.ts";

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** The arguments of `complete` that offer these words, for a value or for a word. */
function offer(words: Words): string {
  if (words === "file") return "-F";
  if (words === "folder") return "-a '(__fish_complete_directories)'";
  if (words === "command") return "-a '(__fish_complete_command)'";
  return words.length > 0 ? `-a ${quoted(words.join(" "))}` : "";
}

const line = (when: string, ...rest: readonly string[]) =>
  ["complete -c hermes-hooks", `-n ${quoted(when)}`, ...rest].filter(Boolean).join(" ");

function optionLine(when: string, { name, about, value }: OptionCompletion): string {
  const takes = value === undefined ? [] : [value === "file" ? "-r" : "-x", offer(value)];
  return line(when, `-l ${name}`, ...takes, `-d ${quoted(about)}`);
}

/** Prints the script. */
export function fishScript(table: CompletionTable): string {
  const { commands, everywhere } = table;
  const perCommand = [...commands].flatMap(([name, { options, words, then = {} }]) => [
    ...options.map((each) => optionLine(`__hermes_hooks_of ${name}`, each)),
    ...(words ? [line(`__hermes_hooks_at ${name}`, offer(words))] : []),
    ...Object.entries(then).map(([first, next]) =>
      line(`__hermes_hooks_${next === "file" ? "of" : "at"} ${name} ${first}`, offer(next))
    ),
  ]);
  return `# fish completion for hermes-hooks: hermes-hooks completions fish | source
# The command and its words before the cursor, without options and their values; behind "exec --" a
# "--" and nothing more.
function __hermes_hooks_seen
  set -l seen
  set -l value no
  for word in (commandline -opc)[2..-1]
    if test $value = yes
      set value no
      string match -q -- '-*' $word; or continue
    end
    switch $word
      case --
        if test "$seen[1]" = exec
          set -a seen --
          break
        end
      case ${withValues(table).map((name) => `--${name}`).join(" ")}
        set value yes
      case '-*'
      case hooks
        set -q seen[1]; and set -a seen $word
      case '*'
        set -a seen $word
    end
  end
  string join \\n -- $seen
end
# Exactly these words.
function __hermes_hooks_at
  set -l seen (__hermes_hooks_seen)
  test "$seen" = "$argv"
end
# These words and any more, but not behind "exec --".
function __hermes_hooks_of
  set -l seen (__hermes_hooks_seen)
  not contains -- -- $seen; and test "$seen[1..$(count $argv)]" = "$argv"
end
# What fish offers for the line behind "exec --".
function __hermes_hooks_rest
  set -l words (commandline -opc)
  set -e words[1..(contains -i -- -- $words)]
  complete -C "$(string join ' ' -- (string escape -- $words) (commandline -ct))"
end
complete -c hermes-hooks -f
${line("contains -- -- (__hermes_hooks_seen)", "-a '(__hermes_hooks_rest)'")}
${
    [...commands].map(([name, { about }]) =>
      line("__hermes_hooks_at", `-a ${name}`, `-d ${quoted(about)}`)
    ).join("\n")
  }
${everywhere.map((each) => optionLine("not contains -- -- (__hermes_hooks_seen)", each)).join("\n")}
${perCommand.join("\n")}
`;
}
