/** The completion script for bash, 3.2 and later; needs nothing of the bash-completion package. */
import {
  type CompletionTable,
  type OptionCompletion,
  valueCases,
  withValues,
  type Words,
} from "./table.ts";

/** The shell command that offers these words. */
function offer(words: Words): string {
  if (words === "file") return "_hermes_hooks_files -f";
  if (words === "folder") return "_hermes_hooks_files -d";
  if (words === "command") return '_hermes_hooks_give "$(compgen -c -- "$word")"';
  return `_hermes_hooks_give "$(compgen -W '${words.join(" ")}' -- "$word")"`;
}

/** Prints the script. */
export function bashScript(table: CompletionTable): string {
  const { commands, everywhere } = table;
  const dashed = (options: readonly OptionCompletion[]) =>
    [...everywhere, ...options].map(({ name }) => `--${name}`).join(" ");
  const values = [...commands].flatMap(([name, { options }]) =>
    valueCases(`${name} `, options, offer)
  );
  const options = [...commands].map(([name, own]) =>
    `  ${name}) ${offer(dashed(own.options).split(" "))} ;;`
  );
  const words = [...commands].flatMap(([name, { words, then = {} }]) => [
    ...(words ? [`  '${name}') ${offer(words)} ;;`] : []),
    ...Object.entries(then).map(([first, next]) =>
      `  '${name} ${first}'${next === "file" ? "*" : ""}) ${offer(next)} ;;`
    ),
  ]);
  return `# bash completion for hermes-hooks: eval "$(hermes-hooks completions bash)"
# Offers lines of $1, without what readline keeps of the word: it splits words at : and =.
_hermes_hooks_give() {
  local each
  while IFS= read -r each; do
    [[ -n $each ]] && COMPREPLY+=("\${each#"$kept"}")
  done <<<"$1"
}
_hermes_hooks_files() {
  compopt -o filenames 2>/dev/null
  _hermes_hooks_give "$(compgen "$1" -- "$word")"
}
# The words up to the cursor, put together again where readline split them.
_hermes_hooks_line() {
  local at each
  line=()
  for ((at = 0; at <= COMP_CWORD; at++)); do
    each=\${COMP_WORDS[at]}
    if ((at > 1)) && [[ -n $breaks && ($each == [$breaks]* || \${COMP_WORDS[at-1]} == *[$breaks]) ]]; then
      line[\${#line[@]}-1]+=$each
    else line+=("$each"); fi
  done
}
# What stands behind "exec --", from word $1 on.
_hermes_hooks_rest() {
  if (($1 + 1 == \${#line[@]})); then _hermes_hooks_give "$(compgen -c -- "$word")"
  elif declare -F _command_offset >/dev/null && [[ \${COMP_WORDS[$1-1]} == -- ]]; then _command_offset "$1"
  else _hermes_hooks_files -f; fi
}
_hermes_hooks() {
  local IFS=$' \\t\\n' breaks=\${COMP_WORDBREAKS//[^:=]/} line at word before='' kept='' command='' words=''
  COMPREPLY=()
  _hermes_hooks_line
  word=\${line[\${#line[@]}-1]}
  for ((at = 1; at < \${#line[@]} - 1; at++)); do
    case \${line[at]} in
    --) if [[ $command == exec ]]; then _hermes_hooks_rest $((at + 1)); return; fi ;;
    ${withValues(table).map((name) => `--${name}`).join(" | ")})
      if ((at + 1 == \${#line[@]} - 1)); then before=\${line[at]}
      elif [[ \${line[at+1]} != -* ]]; then ((at++)); fi ;;
    -*) ;;
    *) if [[ -n $command ]]; then words+=" \${line[at]}"
      elif [[ \${line[at]} != hooks ]]; then command=\${line[at]}; fi ;;
    esac
  done
  [[ -n $breaks ]] && kept=\${word%"\${word##*[$breaks]}"}
  if [[ $word == --*=* ]]; then
    before=\${word%%=*} word=\${word#*=}
    kept=\${kept#"$before="}
  elif [[ $word == -* ]]; then before=''; fi
  case $before in
${valueCases("", everywhere, offer).join("\n")}
  esac
  case "$command $before" in
${values.join("\n")}
  esac
  [[ -n $before ]] && return
  if [[ $word == -* ]]; then
    case $command in
${options.join("\n")}
  *) ${offer(dashed([]).split(" "))} ;;
    esac
    return
  fi
  case $command$words in
  '') ${offer([...commands.keys()])} ;;
${words.join("\n")}
  esac
}
complete -F _hermes_hooks hermes-hooks
`;
}
