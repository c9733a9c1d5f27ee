#!/bin/sh
# inject-cwd-context: tells the model, before each turn, what is uncommitted in the session's folder.
#
# Event:  pre_llm_call
# Needs:  sh, awk and git; without git, or outside of a repository, it says nothing
# Config:
#   hooks:
#     pre_llm_call:
#       - command: ~/.hermes/agent-hooks/inject-cwd-context.sh
#         timeout: 10
#
# Gives the branch and the lines of git status, 50 at most; nothing when the tree is clean. Names of
# branches and files come from the project and reach the model as they are. The project's
# core.fsmonitor program is not run; a filter that its .git/config sets up may be.
#
# The payload is not read: it holds nothing that is needed.

cat >/dev/null
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_OPTIONAL_LOCKS=0
nothing() {
  printf '{}\n'
  exit 0
}
status=$(git -c core.fsmonitor=false -c core.quotePath=false -c color.ui=false \
  status --porcelain --branch --ignore-submodules=all </dev/null 2>/dev/null) || nothing
case $status in
  *'
'*) ;;
  *) nothing ;;
esac
# Written by hand, so that it needs no jq.
printf '%s\n' "$status" | LC_ALL=C awk '
  BEGIN {
    for (code = 1; code < 32; code++) control[sprintf("%c", code)] = sprintf("\\u%04x", code)
  }
  function quoted(s,    out, k, c) {
    if (s !~ /["\\\001-\037]/) return s
    for (k = 1; k <= length(s); k++) {
      c = substr(s, k, 1)
      out = out (c == "\"" || c == "\\" ? "\\" c : c in control ? control[c] : c)
    }
    return out
  }
  NR == 1 {
    sub(/^## /, "")
    sub(/^(No commits yet|Initial commit) on /, "")
    printf "{\"context\": \"Git branch: %s\\nUncommitted changes in the working folder:", quoted($0)
    next
  }
  NR <= 51 { printf "\\n%s", quoted($0) }
  END {
    if (NR > 51) printf "\\n… and %d more", NR - 51
    print "\"}"
  }
'
