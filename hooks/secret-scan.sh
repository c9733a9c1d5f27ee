#!/bin/sh
# secret-scan: refuses tool calls whose arguments hold what looks like a secret.
#
# Event:  pre_tool_call, matcher "terminal|write_file|patch" (any tool will do)
# Needs:  sh and awk, nothing else
# Config:
#   hooks:
#     pre_tool_call:
#       - matcher: terminal|write_file|patch
#         command: ~/.hermes/agent-hooks/secret-scan.sh
#         timeout: 10
#         fail_closed: true
#
# Knows by their shape: AWS keys, GitHub, GitLab, Slack (also webhook addresses), OpenAI and
# Anthropic style sk- keys, Stripe, Google, npm, PyPI, Hugging Face, SendGrid, DigitalOcean and
# Telegram bot tokens, whsec_ secrets, JSON Web Tokens and the first line of private keys (PEM,
# OpenSSH, PGP, PuTTY). Looks at every string of the arguments at any depth. Names the kind of
# secret and never prints the secret itself, nor any part of it.
#
# Cannot see: passwords and keys without a shape of their own, anything encoded (base64, hex), cut
# in pieces, or read from a file or variable by the command. A text about keys that shows one in
# full is refused too, examples from a vendor's manual included.
#
# A payload that cannot be read blocks. The payload is data: no part of it is ever run.

deny() {
  printf '%s\n' "secret-scan: $1" >&2
  exit 2
}
command -v awk >/dev/null 2>&1 || deny 'awk was not found, so the arguments cannot be checked'
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
  function found(path, text) {
    if (path ~ /^\/tool_input\// || path == "/extra/args") texts[++ntexts] = text
  }
  # Looks for what starts with a prefix, at the start of a word, and goes on in these characters.
  # `prefix` is a pattern that stands for itself; `most`, if any: a longer run is something else.
  function token(text, prefix, characters, least, most, what,    n, part, k, body) {
    n = split(text, part, prefix)
    for (k = 2; k <= n; k++) {
      if (part[k - 1] ~ /[A-Za-z0-9_]$/) continue
      body = start_of(part, k, n, prefix)
      if (match(body, "^" characters "+") && RLENGTH >= least && (!most || RLENGTH <= most)) {
        seen(what)
        return
      }
    }
  }
  function start_of(part, k, n, prefix) {
    if (k == n || length(part[k]) >= 400) return substr(part[k], 1, 400)
    return part[k] prefix substr(part[k + 1], 1, 400)
  }
  function seen(what) {
    if (!(what in known)) list = list (list == "" ? "" : ", ") what
    known[what] = 1
  }
  function scan(text,    n, part, k, body) {
    token(text, "AKIA", "[A-Z0-9]", 16, 16, "an AWS access key id")
    token(text, "ASIA", "[A-Z0-9]", 16, 16, "an AWS access key id")
    token(text, "gh[pousr]_", "[A-Za-z0-9]", 36, 0, "a GitHub token")
    token(text, "github_pat_", "[A-Za-z0-9_]", 22, 0, "a GitHub token")
    token(text, "glpat-", "[A-Za-z0-9_-]", 20, 0, "a GitLab token")
    token(text, "xox[abeprs]-", "[A-Za-z0-9-]", 10, 0, "a Slack token")
    token(text, "xapp-", "[A-Za-z0-9-]", 10, 0, "a Slack token")
    token(text, "hooks[.]slack[.]com/services/", "[A-Za-z0-9/]", 30, 0, "a Slack webhook address")
    token(text, "sk-", "[A-Za-z0-9]", 20, 0, "an API key (sk-)")
    token(text, "sk-proj-", "[A-Za-z0-9_-]", 16, 0, "an API key (sk-)")
    token(text, "sk-ant-", "[A-Za-z0-9_-]", 16, 0, "an API key (sk-)")
    token(text, "sk-or-", "[A-Za-z0-9_-]", 16, 0, "an API key (sk-)")
    token(text, "sk-svcacct-", "[A-Za-z0-9_-]", 16, 0, "an API key (sk-)")
    token(text, "sk_live_", "[A-Za-z0-9]", 16, 0, "a Stripe key")
    token(text, "rk_live_", "[A-Za-z0-9]", 16, 0, "a Stripe key")
    token(text, "whsec_", "[A-Za-z0-9+/=]", 24, 0, "a webhook secret")
    token(text, "AIza", "[A-Za-z0-9_-]", 35, 0, "a Google API key")
    token(text, "GOCSPX-", "[A-Za-z0-9_-]", 20, 0, "a Google client secret")
    token(text, "npm_", "[A-Za-z0-9]", 36, 0, "an npm token")
    token(text, "pypi-AgEI", "[A-Za-z0-9_-]", 40, 0, "a PyPI token")
    token(text, "hf_", "[A-Za-z0-9]", 30, 0, "a Hugging Face token")
    token(text, "SG[.]", "[A-Za-z0-9._-]", 50, 0, "a SendGrid key")
    token(text, "do[opr]_v1_", "[a-f0-9]", 64, 0, "a DigitalOcean token")
    token(text, "PuTTY-User-Key-File-", "[0-9:]", 2, 0, "a private key")
    n = split(text, part, ":AA")
    for (k = 2; k <= n; k++)
      if (substr(part[k - 1], length(part[k - 1]) - 7) ~ /^[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]$/ && \
          match(start_of(part, k, n, ":AA"), /^[A-Za-z0-9_-]+/) && RLENGTH >= 33) seen("a Telegram bot token")
    n = split(text, part, "eyJ")
    for (k = 2; k <= n; k++) {
      # The second part begins with the same three letters, so it opens the next piece.
      body = part[k]
      if (k < n && body ~ /^[A-Za-z0-9_-]+[.]$/ && length(body) > 8 && \
          match(substr(part[k + 1], 1, 20000), /^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+/) && RLENGTH > 16)
        seen("a JSON Web Token")
    }
    n = split(text, part, "PRIVATE KEY")
    for (k = 2; k <= n; k++) {
      body = part[k - 1]
      if (length(body) > 60) body = substr(body, length(body) - 60)
      if (body ~ /-----BEGIN [A-Z0-9 ]*$/ && part[k] ~ /^( BLOCK)?-----/) seen("a private key")
    }
    n = split(tolower(text), part, "secret_?access_?key")
    for (k = 2; k <= n; k++)
      if (match(part[k], /^["\047 \t]*[:=][=>"\047 \t]*[a-z0-9\/+]+/) && \
          match(substr(part[k], 1, RLENGTH), /[a-z0-9\/+]+$/) && RLENGTH == 40) seen("an AWS secret key")
  }
  END {
    if (!json(join(input, NR, " "))) print "unreadable"
    else {
      for (k = 1; k <= ntexts; k++) scan(texts[k])
      print (list == "" ? "pass" : "block " list)
    }
  }
') || deny 'the arguments could not be checked'
case $found in
  pass) printf '{}\n' ;;
  unreadable) deny 'the payload is not a JSON object' ;;
  'block '*)
    printf '{"action": "block", "message": "blocked by secret-scan: the arguments hold what looks like %s; %s"}\n' \
      "${found#block }" 'use a variable or a file that holds it instead' ;;
  *) deny 'the arguments could not be checked' ;;
esac
