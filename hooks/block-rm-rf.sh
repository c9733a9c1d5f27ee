#!/bin/sh
# block-rm-rf: refuses terminal commands that would delete a whole disk, home or system folder.
#
# Event:  pre_tool_call, matcher "terminal"
# Needs:  sh and awk, nothing else
# Config:
#   hooks:
#     pre_tool_call:
#       - matcher: terminal
#         command: ~/.hermes/agent-hooks/block-rm-rf.sh
#         timeout: 5
#         fail_closed: true
#
# Blocks rm with a recursive option, forced or not, in any spelling and order (-rf, -fr, -r -f, -Rv,
# --recursive --force, --recurs), of: / and /*; ~, $HOME, any user's home and what holds it; system
# folders such as /etc, /usr and /var, or all that is in one; the same written with .., //, {a,b},
# quotes, backslashes, $'\x72m', ${IFS} or a variable set in the same command; . and * after a cd to
# such a folder or when the session stands in one; $NAME/ and $NAME/* when nothing says that NAME is
# set (write ${NAME:?}/*). Blocks --no-preserve-root wherever rm has it. Looks through sudo, env,
# xargs, timeout, find -exec, ssh and the like, sh -c, eval, $( ), backquotes, subshells,
# here-documents and echo … | sh.
#
# Cannot see: what a script or another program does (./clean.sh, find -delete, python -c, dd, mkfs,
# git clean), functions and aliases, text that is decoded or downloaded first, links that lead to
# such a folder, variables set elsewhere. It is a net under an honest agent, not a sandbox.
#
# A payload that cannot be read blocks. The payload is data: no part of it is ever run.

deny() {
  printf '%s\n' "block-rm-rf: $1" >&2
  exit 2
}
command -v awk >/dev/null 2>&1 || deny 'awk was not found, so the command cannot be checked'
found=$(LC_ALL=C awk '
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
  # ---- what a shell would make of the command ----
  # While it is taken apart: \001 an unknown value, \002 one that may be empty, \003 \004 \005 the
  # braces and commas of {a,b}.
  function found(path, text) {
    if (path ~ /^\/tool_input\/command/) commands[++ncommands] = text
    if (path == "/cwd") session = text
    if (path == "/tool_input/workdir") workdir = text
  }
  # Judges a piece of shell text; what is wrong with it ends up in why.
  function judge(t, level,    n, i, j, c, d, w, has, skip, here, word, nw, prev, np, nl, k, shells) {
    if (level > 16) {
      why = "nested too deeply to be checked"
      return
    }
    n = length(t)
    nw = np = nl = has = 0
    skip = ""
    for (i = 1; i <= n + 1 && why == ""; i++) {
      c = i <= n ? substr(t, i, 1) : "\n"
      d = substr(t, i + 1, 1)
      if (c == "\\") {
        i++
        if (d == "\n") continue
        w = w d
        has = 1
      } else if (c == "\047") {
        j = index(substr(t, i + 1), "\047")
        if (!j) j = n - i + 1
        w = w substr(t, i + 1, j - 1)
        i += j
        has = 1
      } else if (c == "\"") {
        w = w quoted(t, i + 1, level)
        i = pos
        has = 1
      } else if (c == "$" || c == "`") {
        c = expand(t, i, level, 0)
        i = pos
        for (k = 1; k <= length(c); k++) {
          d = substr(c, k, 1)
          if (index(" \t\n", d)) {
            if (has) nw = push(word, nw, w, skip)
            if (has) skip = ""
            w = ""
            has = 0
          } else {
            w = w d
            has = 1
          }
        }
      } else if (c == "~" && !has) {
        for (j = i + 1; substr(t, j, 1) ~ /[-A-Za-z0-9._+]/; j++) ;
        w = user_home(substr(t, i + 1, j - i - 1))
        i = j - 1
        has = 1
      } else if (c == "#" && !has) {
        j = index(substr(t, i), "\n")
        i = j ? i + j - 2 : n
      } else if (index(" \t\r", c)) {
        if (has) {
          nw = push(word, nw, w, skip)
          skip = ""
        }
        w = ""
        has = 0
      } else if ((c == "<" || c == ">") && d == "(") {
        j = closing(t, i + 2)
        judge(substr(t, i + 2, j - i - 2), level + 1)
        i = j
        w = w "\001"
        has = 1
      } else if (c == "<" || c == ">" || (c == "&" && d == ">")) {
        if (has && w !~ /^[0-9]+$/) nw = push(word, nw, w, skip)
        w = ""
        has = 0
        skip = "drop"
        if (substr(t, i, 3) == "<<<") {
          skip = "string"
          i += 2
        } else if (substr(t, i, 2) == "<<") {
          # The word that ends a here-document is taken as it stands; its text comes after the line.
          skip = ""
          i += substr(t, i + 2, 1) == "-" ? 2 : 1
          k = ++nlate[level]
          late_tabs[level, k] = substr(t, i, 1) == "-"
          while (index(" \t", substr(t, i + 1, 1)) && i < n) i++
          for (j = i + 1; j <= n && !index(" \t\n;&|()<>", substr(t, j, 1)); j++) ;
          here = substr(t, i + 1, j - i - 1)
          late_plain[level, k] = here ~ /["\047\\]/
          gsub(/["\047\\]/, "", here)
          late_word[level, k] = here
          i = j - 1
        } else while (index("<>&|", substr(t, i + 1, 1)) && i < n) i++
      } else if (index("\n;&|()", c)) {
        if (has) nw = push(word, nw, w, skip)
        w = ""
        has = 0
        skip = ""
        for (k = 1; k <= nw; k++) if (is_shell(base(word[k]))) shells = 1
        if (nw > 0 && why == "") run(word, nw, level, prev, np)
        np = 0
        if (c == "|" && d != "|") {
          for (k = 1; k <= nw; k++) prev[k] = word[k]
          np = nw
        }
        if ((c == "|" && index("|&", d)) || (c == "&" && d == "&")) i++
        nw = 0
        if (c == "\n") {
          # The bodies of here-documents: text, unless a shell is to read it.
          for (nl = 1; nl <= nlate[level]; nl++) {
            d = ""
            for (j = i + 1; j <= n; j = k + 1) {
              k = index(substr(t, j), "\n")
              k = k ? j + k - 1 : n + 1
              here = substr(t, j, k - j)
              i = k
              if (late_tabs[level, nl]) sub(/^\t+/, "", here)
              if (here == late_word[level, nl]) break
              d = d here "\n"
            }
            if (shells) judge(d, level + 1)
            else if (!late_plain[level, nl]) quoted(d, 1, level, 1)
          }
          nlate[level] = 0
          shells = 0
        }
      } else if (c == "{" || c == "}" || c == ",") {
        w = w substr("\003\004\005", index("{,}", c), 1)
        has = 1
      } else {
        w = w c
        has = 1
      }
    }
  }
  # Adds a word to a command, {a,b} as the words it stands for; returns how many there are.
  function push(word, nw, w, skip,    open, shut, k, depth, c, from) {
    if (skip == "drop") return nw
    if (skip == "string") {
      here_string = w
      return nw
    }
    for (open = 1; open <= length(w) && nw < 200; open++) {
      if (substr(w, open, 1) != "\003") continue
      depth = from = 0
      for (shut = open; shut <= length(w); shut++) {
        c = substr(w, shut, 1)
        if (c == "\003") depth++
        if (c == "\005" && --depth == 0) break
        if (c == "\004" && depth == 1) from = 1
      }
      if (depth || !from) continue
      from = open + 1
      for (k = open + 1; k <= shut; k++) {
        c = substr(w, k, 1)
        if (c == "\003") depth++
        if (c == "\005" && k < shut) depth--
        if ((c != "\004" || depth) && k < shut) continue
        nw = push(word, nw, substr(w, 1, open - 1) substr(w, from, k - from) substr(w, shut + 1), "")
        from = k + 1
      }
      return nw
    }
    gsub(/\003/, "{", w)
    gsub(/\004/, ",", w)
    gsub(/\005/, "}", w)
    word[++nw] = w
    return nw
  }
  # Text in double quotes from i on; pos is then its closing quote. With body: to the end.
  function quoted(t, i, level, body,    out, c, d) {
    for (; i <= length(t); i++) {
      c = substr(t, i, 1)
      d = substr(t, i + 1, 1)
      if (c == "\"" && !body) break
      if (c == "\\" && d != "" && index("$`\"\\\n", d)) {
        if (d != "\n") out = out d
        i++
      } else if (c == "$" || c == "`") {
        out = out expand(t, i, level, 1)
        i = pos
      } else out = out c
    }
    pos = i
    return out
  }
  # The value of what starts at i with $ or a backquote; pos is then its last character.
  function expand(t, i, level, in_quotes,    c, d, j, depth, name, rest) {
    c = substr(t, i, 1)
    d = substr(t, i + 1, 1)
    pos = i + 1
    if (c == "`") {
      for (j = i + 1; j <= length(t) && substr(t, j, 1) != "`"; j++)
        if (substr(t, j, 1) == "\\") j++
      rest = substr(t, i + 1, j - i - 1)
      gsub(/\\[`\\$]/, "&", rest)
      judge(unslash(rest), level + 1)
      pos = j
      return "\001"
    }
    if (d == "(") {
      j = closing(t, i + 2)
      rest = substr(t, i + 2, j - i - 2)
      judge(rest, level + 1)
      pos = j
      return rest ~ /^[ \t]*(echo|printf)[ \t]+[^ \t;|&$`"\047]+[ \t]*$/ ? last_word(rest) : "\001"
    }
    if (d == "{") {
      depth = 0
      for (j = i + 1; j <= length(t); j++) {
        if (substr(t, j, 1) == "\\") j++
        else if (substr(t, j, 1) == "{") depth++
        else if (substr(t, j, 1) == "}" && --depth == 0) break
      }
      rest = substr(t, i + 2, j - i - 2)
      match(rest, /^([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*])/)
      name = RLENGTH > 0 ? substr(rest, 1, RLENGTH) : ""
      rest = substr(rest, length(name) + 1)
      c = name == "" ? "\001" : value(name)
      if (rest ~ /^:?[?]/ && c == "\002") c = "\001"
      if (rest != "" && level < 16) {
        d = rest
        sub(/^:?[-=+?]/, "", d)
        d = quoted(d, 1, level + 1, 1)
        gsub(/["\047]/, "", d)
        if (rest ~ /^:?[-=]/ && (c == "\002" || c == "")) c = d == "" ? "\002" : d
        if (rest ~ /^:?[+]/) c = d
      }
      pos = j
      return c
    }
    if (d == "\047" && !in_quotes) return ansi_c(t, i + 2)
    if (d == "\"" && !in_quotes) {
      pos = i
      return ""
    }
    if (d ~ /[A-Za-z_]/) {
      for (j = i + 2; substr(t, j, 1) ~ /[A-Za-z0-9_]/; j++) ;
      pos = j - 1
      return value(substr(t, i + 1, j - i - 1))
    }
    if (d ~ /[0-9@*]/) return value(d)
    if (d != "" && index("#?$!-", d)) return "\001"
    pos = i
    return "$"
  }
  function last_word(s) {
    sub(/[ \t]+$/, "", s)
    sub(/^.*[ \t]/, "", s)
    return s
  }
  function unslash(s,    out, k) {
    for (k = 1; k <= length(s); k++) {
      if (substr(s, k, 1) == "\\" && index("`\\$", substr(s, k + 1, 1))) k++
      out = out substr(s, k, 1)
    }
    return out
  }
  function value(name) {
    if (name in vars) return vars[name]
    if (name == "HOME") return home
    if (name == "IFS") return " "
    if (name == "PWD" && cwd != "") return cwd
    if (name == "USER" || name == "LOGNAME") return name in ENVIRON ? ENVIRON[name] : "\001"
    if (name ~ /^(PWD|OLDPWD|UID|EUID|PPID|RANDOM|SECONDS|LINENO|HOSTNAME|SHELL|PATH)$/) return "\001"
    if (name == "0") return "sh"
    if (name == "@" || name == "*") return args["all"]
    if (name ~ /^[0-9]+$/) return args[name]
    return "\002"
  }
  # $-quoted text: \x72 and the like; pos is then its closing quote.
  function ansi_c(t, i,    out, c, d, k) {
    for (; i <= length(t); i++) {
      c = substr(t, i, 1)
      if (c == "\047") break
      if (c != "\\") {
        out = out c
        continue
      }
      d = substr(t, ++i, 1)
      if (d == "x" || d == "u" || d == "U") {
        for (k = i + 1; k <= i + (d == "x" ? 2 : d == "u" ? 4 : 8); k++)
          if (substr(t, k, 1) !~ /[0-9A-Fa-f]/) break
        out = out utf8(hex(substr(t, i + 1, k - i - 1)))
        i = k - 1
      } else if (d ~ /[0-7]/) {
        c = 0
        for (k = i; k < i + 3 && substr(t, k, 1) ~ /[0-7]/; k++) c = c * 8 + substr(t, k, 1)
        out = out utf8(c % 256)
        i = k - 1
      } else if (index("abefnrtv", d)) out = out " "
      else out = out d
    }
    pos = i
    return out
  }
  # Where the bracket that was opened before i is closed.
  function closing(t, i,    c, depth, j) {
    depth = 1
    for (; i <= length(t); i++) {
      c = substr(t, i, 1)
      if (c == "\\") i++
      else if (c == "\047") {
        j = index(substr(t, i + 1), "\047")
        i = j ? i + j : length(t)
      } else if (c == "\"") {
        for (i++; i <= length(t) && substr(t, i, 1) != "\""; i++) {
          if (substr(t, i, 1) == "\\") i++
          else if (substr(t, i, 2) == "$(") i = closing(t, i + 2)
        }
      } else if (c == "(") depth++
      else if (c == ")" && --depth == 0) return i
    }
    return length(t) + 1
  }
  function user_home(user) {
    if (user == "") return home
    if (user == "+") return cwd == "" ? "\001" : cwd
    if (user == "-") return "\001"
    return user == "root" ? "/root" : "/home/" user
  }
  function base(s) {
    sub(/^.*\//, "", s)
    return tolower(s)
  }
  function is_shell(name) {
    return name ~ /^(sh|bash|dash|ash|zsh|ksh|mksh|rbash|fish|busybox|toybox|su|ssh|eval)$/
  }
  # One simple command: what it would run, through whatever it is wrapped in.
  function run(word, nw, level, prev, np,    k, m, name, text) {
    for (k = 1; k <= nw; k++) {
      if (word[k] ~ /^[A-Za-z_][A-Za-z0-9_]*[+]?=/) assign(word[k])
      else if (word[k] !~ /^(if|then|elif|else|do|while|until|!|[{}]|time|coproc|case|in|function)$/) break
    }
    if (k > nw) return
    name = base(word[k])
    if (name ~ /^(export|declare|typeset|local|readonly)$/) {
      for (m = k + 1; m <= nw; m++) if (word[m] ~ /^[A-Za-z_][A-Za-z0-9_]*=/) assign(word[m])
    } else if (name == "for" || name == "select") {
      # Each value in turn would be exact; the one that would be refused is enough.
      for (m = k + 3; m <= nw; m++) if (m == k + 3 || bad_target(word[m]) != "") vars[word[k + 1]] = word[m]
    } else if (name == "set") {
      set_args(word, word[k + 1] == "--" ? k + 2 : k + 1, nw)
    } else if (name == "cd" || name == "pushd") {
      for (m = k + 1; m <= nw && word[m] ~ /^-./; m++) ;
      cwd = m > nw ? home : word[m] ~ /^-$|[\001\002]/ ? "" : absolute(word[m])
    } else inner(word, k, nw, level, prev, np)
    here_string = ""
  }
  function assign(text,    name) {
    name = text
    sub(/[+]?=.*$/, "", name)
    sub(/^[^=]*=/, "", text)
    if (text ~ /^~(\/|$)/) text = home substr(text, 2)
    vars[name] = text
  }
  function set_args(word, from, nw,    k) {
    args["all"] = ""
    for (k = 1; k <= 9; k++) args[k] = ""
    for (k = from; k <= nw; k++) {
      args[k - from + 1] = word[k]
      args["all"] = args["all"] (k > from ? " " : "") word[k]
    }
  }
  # From word k on: rm itself, a shell with its text, or a program that starts another one.
  function inner(word, k, nw, level, prev, np,    name, m, text) {
    name = base(word[k])
    if (name == "rm") return remove(word, k + 1, nw)
    if (name == "eval") {
      for (m = k + 1; m <= nw; m++) text = text " " word[m]
      return judge(text, level + 1)
    }
    if (name ~ /^(sh|bash|dash|ash|zsh|ksh|mksh|rbash|fish)$/) {
      for (m = k + 1; m <= nw; m++) {
        if (word[m] !~ /^-[A-Za-z]*c/) continue
        for (m++; m <= nw && word[m] ~ /^[-+]./; m++) ;
        set_args(word, m + 2, nw)
        return judge(word[m], level + 1)
      }
      if (here_string != "") judge(here_string, level + 1)
      if (np > 1 && base(prev[1]) ~ /^(echo|printf)$/) {
        for (m = 2; m <= np; m++) text = text " " prev[m]
        gsub(/\\n/, "\n", text)
        judge(text, level + 1)
      }
      return
    }
    if (name !~ /^(sudo|doas|env|command|exec|builtin|nohup|nice|ionice|time|timeout|xargs|busybox|toybox|setsid|stdbuf|chroot|unshare|nsenter|su|runuser|ssh|find|parallel|watch|script|flock|trap|docker|podman|kubectl|noglob|chrt|taskset|caffeinate|systemd-run|firejail|proot|fakeroot)$/)
      return
    if (name ~ /^(xargs|parallel)$/ && np > 1 && base(prev[1]) ~ /^(echo|printf)$/)
      for (m = 2; m <= np; m++) word[++nw] = prev[m]
    for (m = k + 1; m <= nw && why == ""; m++) {
      name = base(word[m])
      if (word[m] ~ /[ \t\n]/) {
        text = word[m]
        sub(/^(-[A-Za-z]|--[a-z-]*=)/, "", text)
        judge(text, level + 1)
      } else if (name ~ /^(rm|eval|sh|bash|dash|ash|zsh|ksh|mksh|rbash|fish)$/) {
        return inner(word, m, nw, level, prev, np)
      }
    }
  }
  # rm with its words: options may stand anywhere before --.
  function remove(word, k, nw,    w, recursive, ended, n, target, m) {
    for (; k <= nw; k++) {
      w = word[k]
      if (ended || w !~ /^-./) target[++n] = w
      else if (w == "--") ended = 1
      else if (w ~ /^--/) {
        if (length(w) > 2 && index("--no-preserve-root", w) == 1) why = "rm --no-preserve-root"
        if (index("--recursive", w) == 1) recursive = 1
      } else if (w ~ /[rR\001\002]/) recursive = 1
      if (!ended && w ~ /^[\001\002]/) recursive = 1
    }
    if (!recursive) return
    for (m = 1; m <= n && why == ""; m++) why = bad_target(target[m])
  }
  # What is wrong with deleting it with all that is in it; empty: nothing known.
  function bad_target(path,    bare, what) {
    what = protected(path)
    if (what != "") return what
    bare = path
    gsub(/\002/, "", bare)
    if (bare == path || bare !~ /\//) return ""
    what = protected(bare)
    return what == "" ? "" : what ", should the variable in the path be empty: write ${NAME:?}"
  }
  function absolute(path,    n, part, k, m, kept, out) {
    if (path !~ /^\//) {
      if (path ~ /^[\001\002]/ || cwd == "") return ""
      path = cwd "/" path
    }
    n = split(path, part, "/")
    for (k = 1; k <= n; k++) {
      if (part[k] == "" || part[k] == ".") continue
      if (part[k] == "..") m -= m > 0
      else kept[++m] = part[k]
    }
    for (k = 1; k <= m; k++) out = out "/" kept[k]
    return out == "" ? "/" : out
  }
  function protected(path,    real, stars) {
    real = absolute(path)
    if (real == "") return ""
    # Everything in a folder is as good as the folder.
    while (real ~ /\/([*?[][^\/]*|[.][*?[][^\/]*)$/) sub(/\/[^\/]*$/, "", real)
    if (real == "" || real == "/" || real ~ /^\/[^\/]*[*?[][^\/]*$/) return "of the root folder"
    if (real == home || index(home, real "/") == 1 || real ~ /^\/(home|Users)\/[^\/\001\002]+$/ || real == "/root")
      return "of a home folder"
    if (real ~ /^\/(bin|boot|dev|etc|home|lib|lib32|lib64|mnt|opt|proc|run|sbin|srv|sys|usr|var|Applications|Library|System|Users|Volumes|private)$/)
      return "of a system folder"
    return ""
  }
  END {
    if (!json(join(input, NR, " "))) {
      print "unreadable"
      exit
    }
    home = ENVIRON["HOME"]
    sub(/\/+$/, "", home)
    if (home !~ /^\/./) home = "/root"
    for (k = 1; k <= ncommands && why == ""; k++) {
      gsub(/[\001-\005]/, "?", commands[k])
      cwd = session ~ /^\// ? session : ""
      if (workdir != "") cwd = absolute(workdir)
      judge(commands[k], 0)
    }
    print (why == "" ? "pass" : "block " (why ~ /^of / ? "recursive delete " : "") why)
  }
') || deny 'the command could not be checked'
case $found in
  pass) printf '{}\n' ;;
  unreadable) deny 'the payload is not a JSON object' ;;
  'block '*) printf '{"action": "block", "message": "blocked by block-rm-rf: %s"}\n' "${found#block }" ;;
  *) deny 'the command could not be checked' ;;
esac
