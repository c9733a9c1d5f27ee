/** The completion script for zsh: a file `_hermes-hooks` of `$fpath`, or evaluated. */
import {
  type CompletionTable,
  type OptionCompletion,
  valueCases,
  withValues,
  type Words,
} from "./table.ts";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The shell command that offers these words. */
function offer(words: Words): string {
  if (words === "file") return "_files";
  if (words === "folder") return "_files -/";
  if (words === "command") return "_command_names -e";
  return `compadd -- ${words.map(quoted).join(" ")}`;
}

/** Words with what they are, as `_describe` takes them. */
function described(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([word, about]) => quoted(`${word}:${about.replaceAll(":", "\\:")}`)).join(
    " ",
  );
}

/** Prints the script. */
export function zshScript(table: CompletionTable): string {
  const { commands, everywhere } = table;
  const listed = (options: readonly OptionCompletion[]) =>
    described(options.map(({ name, about }) => [`--${name}`, about]));
  const about = described([...commands].map(([name, each]) => [name, each.about]));
  const values = [...commands].flatMap(([name, { options }]) =>
    valueCases(`${name} `, options, offer)
  );
  const options = [...commands].filter(([, own]) => own.options.length > 0).map(([name, own]) =>
    `  ${name}) options+=(${listed(own.options)}) ;;`
  );
  const words = [...commands].flatMap(([name, { words, then = {} }]) => [
    ...(words ? [`  '${name}') ${offer(words)} ;;`] : []),
    ...Object.entries(then).map(([first, next]) =>
      `  '${name} ${first}'${next === "file" ? "*" : ""}) ${offer(next)} ;;`
    ),
  ]);
  return `#compdef hermes-hooks
_hermes_hooks() {
  local word=\${words[CURRENT]} before='' command='' seen='' at
  local -a commands options
  for ((at = 2; at < CURRENT; at++)); do
    case \${words[at]} in
    --) if [[ $command == exec ]]; then
        words=("\${(@)words[at+1,-1]}")
        (( CURRENT -= at ))
        if (( CURRENT == 1 )); then _command_names -e; else _normal; fi
        return
      fi ;;
    ${withValues(table).map((name) => `--${name}`).join(" | ")})
      if (( at + 1 == CURRENT )); then before=\${words[at]}
      elif [[ \${words[at+1]} != -* ]]; then ((at++)); fi ;;
    -*) ;;
    *) if [[ -n $command ]]; then seen+=" \${words[at]}"
      elif [[ \${words[at]} != hooks ]]; then command=\${words[at]}; fi ;;
    esac
  done
  if [[ $word == --*=* ]]; then
    before=\${word%%=*}
    compset -P '*='
  elif [[ $word == -* ]]; then before=''; fi
  case $before in
${valueCases("", everywhere, offer).join("\n")}
  esac
  case "$command $before" in
${values.join("\n")}
  esac
  [[ -n $before ]] && return
  if [[ $word == -* ]]; then
    options=(${listed(everywhere)})
    case $command in
${options.join("\n")}
    esac
    _describe -o option options
    return
  fi
  case $command$seen in
  '') commands=(${about})
    _describe command commands ;;
${words.join("\n")}
  esac
}
if [[ $funcstack[1] == _hermes-hooks ]]; then _hermes_hooks; else compdef _hermes_hooks hermes-hooks; fi
`;
}
