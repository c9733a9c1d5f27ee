#!/bin/sh
# auto-format: formats a file that a tool has just written.
#
# Event:  post_tool_call, matcher "write_file|patch"
# Needs:  sh and awk; of the formatters whatever is on PATH, none is no error
# Config:
#   hooks:
#     post_tool_call:
#       - matcher: write_file|patch
#         command: ~/.hermes/agent-hooks/auto-format.sh
#         timeout: 30
#
# .py .pyi            black, else ruff format
# .go                 gofmt
# .js .jsx .mjs .cjs .ts .tsx .mts .cts .css .scss .less    prettier, else deno fmt
# Other files are left alone, and so are links, files that are not there, and files of a call that
# failed or was blocked. A path is taken from the arguments "path" or "file_path", and from the
# "*** Update File:" and "*** Add File:" lines of a patch; a relative one is below the session's
# folder. What a formatter prints is dropped, and a file that it cannot parse stays as it is.
#
# The agent does not learn of the change before it reads the file again.
# prettier runs with --no-config: a configuration of the project's is code, which an agent could
# write to be run outside of every gate. For projects you trust: AUTO_FORMAT_PROJECT_CONFIG=1.
#
# The payload is data: no part of it is ever run.

paths=$(LC_ALL=C awk '
  # ---- reading JSON in plain awk (the same lines in every hook here that needs them) ----
  # Calls found(PATH, TEXT) for each string, PATH being such as "/tool_input/command", and sets
  # FROM[KEY] and TO[KEY] (past the end) of each value at the top. False: no whole JSON object.
  function json(text,    n, seg, piece, i, j, m, c, len, at, state, depth, kind, key, path, word) {
    n = split(text, seg, "\"")
    state = "v"
    at = 1
    for (i = 1; i <= n; i++) {
      len = length(seg[i])
      for (j = 1; j <= len; j++) {
        c = substr(seg[i], j, 1)
        if (index(" \t\r\n", c)) continue
        if (state ~ /[vV]/ && depth == 1 && c !~ /[]]/) FROM[key[1]] = at + j - 1
        if ((c == "{" || c == "[") && state ~ /[vV]/) {
          if (depth == 0 && c != "{") return 0
          path[depth + 1] = depth == 0 ? "" : path[depth] "/" key[depth]
          kind[++depth] = c
          key[depth] = 0
          state = c == "{" ? "K" : "V"
        } else if ((c == "}" && kind[depth] == "{" && state ~ /[,K]/) || \
                   (c == "]" && kind[depth] == "[" && state ~ /[,V]/)) {
          kind[depth--] = ""
          state = ","
          if (depth == 1) TO[key[1]] = at + j
        } else if (c == "," && state == "," && depth > 0) {
          state = kind[depth] == "{" ? "k" : "v"
        } else if (c == ":" && state == ":") {
          state = "v"
        } else if (c ~ /[-0-9A-Za-z]/ && state ~ /[vV]/ && depth > 0) {
          for (word = c; substr(seg[i], j + 1, 1) ~ /[-+.0-9A-Za-z]/; j++)
            word = word substr(seg[i], j + 1, 1)
          if (word !~ /^(true|false|null|NaN|-?Infinity|-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)$/)
            return 0
          state = ","
          if (depth == 1) TO[key[1]] = at + j
        } else return 0
      }
      at += len + 1
      if (i == n) break
      if (depth == 0 || state !~ /[kKvV]/) return 0
      if (depth == 1 && state ~ /[vV]/) FROM[key[1]] = at - 1
      for (m = 1; ; m++) {
        if (++i > n) return 0
        at += length(seg[i]) + 1
        c = odd_end(seg[i])
        piece[m] = unescape(seg[i])
        if (!c) break
      }
      if (i == n) return 0
      word = join(piece, m, "")
      if (state ~ /[kK]/) {
        key[depth] = word
        state = ":"
      } else {
        found(path[depth] "/" key[depth], word)
        state = ","
        if (depth == 1) TO[key[1]] = at
      }
    }
    return depth == 0 && state == ","
  }
  # Does it end in an odd number of backslashes, so that the quote after it is part of the text?
  function odd_end(s,    k) {
    for (k = length(s); k > 0 && substr(s, k, 1) == "\\"; k--) ;
    return (length(s) - k) % 2
  }
  # The text that a JSON string stands for, in UTF-8; NUL, which no argument can hold, is left out.
  function unescape(s,    n, part, k, c, code, low) {
    if (!index(s, "\\")) return s
    n = split(s, part, /\\/)
    for (k = 2; k <= n; k++) {
      if (part[k] == "") {
        if (k == n) part[k] = "\""
        else part[k++] = "\\"
        continue
      }
      c = substr(part[k], 1, 1)
      if (c != "u") {
        if (index("bfnrt", c)) c = substr("\b\f\n\r\t", index("bfnrt", c), 1)
        part[k] = c substr(part[k], 2)
        continue
      }
      code = hex(substr(part[k], 2, 4))
      low = k < n && substr(part[k + 1], 1, 1) == "u" ? hex(substr(part[k + 1], 2, 4)) : 0
      if (code >= 55296 && code < 56320 && low >= 56320 && low < 57344 && length(part[k]) == 5) {
        part[k++] = ""
        code = 65536 + (code - 55296) * 1024 + low - 56320
      }
      part[k] = utf8(code) substr(part[k], 6)
    }
    return join(part, n, "")
  }
  function hex(s,    k, sum) {
    for (k = 1; k <= length(s); k++)
      sum = sum * 16 + index("123456789abcdef", tolower(substr(s, k, 1)))
    return sum
  }
  function utf8(code) {
    if (code == 0) return ""
    if (code < 128) return sprintf("%c", code)
    if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
    if (code < 65536)
      return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
    return sprintf("%c%c%c%c", 240 + int(code / 262144), 128 + int(code / 4096) % 64, \
                   128 + int(code / 64) % 64, 128 + code % 64)
  }
  # Joins a[1..n] pair by pair: appending one by one would take a large payload minutes.
  function join(a, n, between,    k, m) {
    for (; n > 1; n = m) {
      m = 0
      for (k = 1; k <= n; k += 2)
        a[++m] = k < n ? a[k] between a[k + 1] : a[k]
    }
    return n == 1 ? a[1] : ""
  }
  { input[NR] = $0 }
  # ---- end of reading JSON ----
  function found(path, text,    n, part, k) {
    if (path == "/extra/status" && text != "ok") failed = 1
    if (path == "/tool_input/path" || path == "/tool_input/file_path") add(text)
    if (path != "/tool_input/patch") return
    n = split(text, part, "\n")
    for (k = 1; k <= n; k++) {
      sub(/\r$/, "", part[k])
      if (sub(/^[*][*][*] (Update|Add) File: /, "", part[k])) add(part[k])
    }
  }
  function add(text) {
    if (text != "" && text !~ /[\001-\037]/) files[++nfiles] = text
  }
  END {
    if (!json(join(input, NR, " "))) exit 1
    for (k = 1; k <= nfiles && !failed; k++) print files[k]
  }
') || {
  printf '%s\n' 'auto-format: the payload is not a JSON object' >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }
quietly() { "$@" </dev/null >/dev/null 2>&1; }

format() {
  case $1 in
    *.py | *.pyi)
      if have black; then quietly black --quiet -- "$1"
      elif have ruff; then quietly ruff format --quiet -- "$1"; fi ;;
    *.go)
      if have gofmt; then quietly gofmt -w "$1"; fi ;;
    *.js | *.jsx | *.mjs | *.cjs | *.ts | *.tsx | *.mts | *.cts | *.css | *.scss | *.less)
      if have prettier; then
        if [ "${AUTO_FORMAT_PROJECT_CONFIG:-}" = 1 ]; then quietly prettier --write -- "$1"
        else quietly prettier --no-config --write -- "$1"; fi
      elif have deno; then quietly deno fmt --quiet -- "$1"; fi ;;
  esac
}

while IFS= read -r path; do
  case $path in
    '') continue ;;
    '~/'*) path=$HOME/${path#'~/'} ;;
    /*) ;;
    *) path=./$path ;;
  esac
  if [ -f "$path" ] && [ ! -L "$path" ]; then format "$path"; fi
done <<PATHS
$paths
PATHS
printf '{}\n'
