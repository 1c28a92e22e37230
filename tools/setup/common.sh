# Sourced by the set-up scripts: the few helpers they share. Not meant to be run.
# shellcheck shell=bash

REPO_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"

Say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

Die() {
  Say "error: $*"
  exit 1
}

# Prints the installed version of a Debian package; fails when it is not installed.
InstalledVersion() {
  local line
  line="$(dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | grep '^installed ')" ||
    return 1
  printf '%s\n' "${line#installed }"
}

# Debian version -> upstream version: without epoch and Debian revision ("1:7.8.3-2+b1" -> "7.8.3").
UpstreamVersion() {
  local version="${1#*:}"
  printf '%s\n' "${version%-*}"
}

# Version in a RocksDB source tree, from the header that the build itself uses.
SourceTreeVersion() {
  awk '/^#define ROCKSDB_(MAJOR|MINOR|PATCH) / {v = v (v == "" ? "" : ".") $3} END {print v}' \
    "$1/include/rocksdb/version.h" 2>/dev/null
}
