#!/bin/sh
# Installs hermes-hooks: the right file for this machine, its checksum verified before anything is put
# in place.
#   sh install.sh --from BASE [--dir DIR] [--version V]
# BASE is an https URL or a folder that holds the files of a release with their SHA256SUMS.
set -eu

# Where releases are found when --from is not given; with a trailing "/V" for --version.
DEFAULT_BASE=

say() { printf '%s\n' "install.sh: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

usage() {
  cat <<'USAGE'
usage: sh install.sh --from BASE [--dir DIR] [--version V]

  --from BASE    an https URL or a folder with the files of a release and their SHA256SUMS
  --dir DIR      where to put it; default ~/.local/bin, as root /usr/local/bin
  --version V    the release BASE/V instead of the one in BASE itself
USAGE
}

# machine: the name of this machine's file on stdout.
machine() {
  case "$(uname -s)" in
    Linux) os=linux ;;
    Darwin) os=macos ;;
    *) fail "there is no file for $(uname -s); on Windows take hermes-hooks-windows-x64.exe by hand" ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no file for the processor $(uname -m)" ;;
  esac
  kind=
  if [ "$os" = linux ]; then
    if is_musl; then
      kind=-musl
    elif [ "$arch" = x64 ] && [ -r "$root/proc/cpuinfo" ] && ! grep -q avx2 "$root/proc/cpuinfo"; then
      kind=-baseline
    fi
  fi
  printf 'hermes-hooks-%s-%s%s\n' "$os" "$arch" "$kind"
}

is_musl() {
  [ -e "$root/etc/alpine-release" ] && return 0
  # A glibc system may have musl's loader beside its own.
  for loader in "$root"/lib64/ld-linux-* "$root"/lib/ld-linux-* "$root"/lib/*/ld-linux-*; do
    [ -e "$loader" ] && return 1
  done
  for loader in "$root"/lib/ld-musl-*; do [ -e "$loader" ] && return 0; done
  return 1
}

# Bun's musl build is linked against the C++ library, which a bare Alpine lacks.
check_musl_libraries() {
  for folder in "$root/usr/lib" "$root/lib" "$root/usr/local/lib"; do
    [ -e "$folder/libstdc++.so.6" ] && return 0
  done
  fail "this system lacks libstdc++, which the musl build needs: run 'apk add libstdc++' first"
}

# get NAME FILE: fetches a file of the release.
get() {
  case "$base" in
    *://*)
      if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --proto "$protocols" --proto-redir "$protocols" \
          --connect-timeout 20 --retry 2 -o "$2" "$base/$1"
      elif command -v wget >/dev/null 2>&1; then
        get_with_wget "$base/$1" "$2"
      else
        fail "found neither curl nor wget"
      fi
      ;;
    *) [ -r "$base/$1" ] && cp "$base/$1" "$2" ;;
  esac || fail "cannot get $base/$1"
}

# get_with_wget URL FILE: wget cannot be told to stay with https when it is sent elsewhere, so GNU's
# account of where it went is read afterwards. Busybox's gets no option more than it needs: Debian's
# ends with a segmentation fault on -T.
get_with_wget() {
  case "$(wget --version 2>/dev/null)" in
    "GNU Wget"*) ;;
    *)
      wget -q -O "$2" "$1"
      return
      ;;
  esac
  wget -nv -S -T 20 -O "$2" "$1" 2>"$work/wget.log" || {
    tail -n 3 "$work/wget.log" >&2
    return 1
  }
  case "$1" in
    https://*) ! grep -qi '^ *location: *http:' "$work/wget.log" ;;
  esac
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum <"$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 <"$1"
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r <"$1"
  else
    fail "found none of sha256sum, shasum and openssl: the checksum cannot be verified"
  fi | cut -c1-64
}

verify() {
  wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1; exit }' "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS does not name $name: nothing was installed"
  found=$(sum_of "$work/$name")
  [ "$found" = "$wanted" ] ||
    fail "the checksum of $name is wrong (it is $found, not $wanted): nothing was installed"
}

main() {
  # Only for tests: where the system's own files are looked at.
  root=${HERMES_INSTALL_ROOT:-}
  base=$DEFAULT_BASE dir='' version=''
  while [ $# -gt 0 ]; do
    case "$1" in
      --from | --dir | --version)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case "$1" in
          --from) base=$2 ;;
          --dir) dir=$2 ;;
          --version) version=$2 ;;
        esac
        shift 2
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) fail "unknown word \"$1\"; see --help" ;;
    esac
  done
  [ -n "$base" ] || fail "say where the release is: --from URL or --from FOLDER"
  base=${base%/}
  case "$base" in
    # http://127.0.0.1:80@elsewhere is elsewhere.
    *://*@*) fail "$base: an address with a user name is not taken" ;;
    https://*) protocols='=https' ;;
    http://127.0.0.1[:/]* | http://localhost[:/]* | http://127.0.0.1 | http://localhost) protocols='=http,https' ;;
    *://*) fail "$base: only https is taken" ;;
    *) [ -d "$base" ] || fail "there is no folder $base" ;;
  esac
  case "$version" in
    *[!A-Za-z0-9._-]*) fail "\"$version\" is no version" ;;
    ?*) base=$base/$version ;;
  esac
  if [ -z "$dir" ]; then
    if [ "$(id -u)" = 0 ]; then dir=/usr/local/bin; else dir=$HOME/.local/bin; fi
  fi
  name=$(machine)
  case "$name" in *-musl) check_musl_libraries ;; esac
  [ ! -d "$dir/hermes-hooks" ] || fail "$dir/hermes-hooks is a folder"
  mkdir -p "$dir" || fail "$dir cannot be made"
  # In the folder it goes to, so that putting it in place is one rename.
  work=$(mktemp -d "$dir/.hermes-hooks.XXXXXX") || fail "$dir cannot be written"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  get SHA256SUMS "$work/SHA256SUMS"
  get "$name" "$work/$name"
  verify
  chmod 755 "$work/$name"
  said=$("$work/$name" --version) || fail "$name does not start on this machine: nothing was installed"
  mv -f "$work/$name" "$dir/hermes-hooks"
  say "$said is in $dir/hermes-hooks"
  case ":$PATH:" in
    *":$dir:"*) ;;
    *) say "$dir is not on PATH; add it: export PATH=\"$dir:\$PATH\"" ;;
  esac
}

# Called at the very end: a script that was cut short runs nothing.
main "$@"
