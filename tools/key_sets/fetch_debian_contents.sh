#!/bin/bash
# Makes a key file of the paths that Debian's Contents index of the component main lists: millions of real strings with
# long common prefixes. One path a line, sorted, each once.
#
# The index comes through apt from the system's own mirror and is checked against the signed Release file. The system's
# package lists stay as they are, since lists and cache are private to this script.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"

Usage() {
  cat <<'END'
usage: tools/key_sets/fetch_debian_contents.sh FILE
  FILE  where the paths go; nothing is done when it is there. Exit status 3 when the archive cannot be reached.
END
}

(($# == 1)) || { Usage >&2; Die "one file is needed"; }
case "$1" in
  -h | --help) Usage; exit 0 ;;
  -*) Usage >&2; Die "unknown argument '$1'" ;;
esac
file="$1"
[[ ! -s $file ]] || exit 0
command -v apt-get >/dev/null || Die "this is no Debian system; a file of paths, one a line, can be made by hand"
codename="$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")"
[[ -n $codename ]] || Die "/etc/os-release names no suite"

work="$(mktemp -d)"
trap 'rm -rf "$work" "$file.part.$$"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial}
contents=Acquire::IndexTargets::deb::Contents-deb
options=(
  -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache"
  -o "$contents::MetaKey=\$(COMPONENT)/Contents-\$(ARCHITECTURE)"
  -o "$contents::ShortDescription=Contents-\$(ARCHITECTURE)"
  -o "$contents::Description=\$(RELEASE)/\$(COMPONENT) \$(ARCHITECTURE) Contents"
  -o "$contents::KeepCompressed=true" -o "$contents::DefaultEnabled=true"
  -o Acquire::IndexTargets::deb::Packages::DefaultEnabled=false -o Acquire::Languages=none
  -o Acquire::Retries=2 -o Acquire::http::Timeout=30
)
# The unprivileged download user of apt has no access to a private folder of root's.
((EUID == 0)) && options+=(-o APT::Sandbox::User=root)

Say "fetching the Contents index of $codename, main"
# A third party's source that fails must not stop this: the test is whether the index is there afterwards.
apt-get "${options[@]}" update >"$work/log" 2>&1 </dev/null || true
mapfile -t indexes < <(apt-get "${options[@]}" indextargets --format '$(FILENAME)' \
  "Created-By: Contents-deb" "Component: main" "Codename: $codename" "Origin: Debian")
if ((${#indexes[@]} == 0)); then
  cat "$work/log" >&2
  Say "error: cannot fetch the Contents index of $codename, main"
  exit 3
fi

# A line is a path, which may hold spaces, and the packages that have it.
mkdir -p "$(dirname "$file")"
for index in "${indexes[@]}"; do
  /usr/lib/apt/apt-helper "${options[@]}" cat-file "$index"
done | sed -nE 's/[[:space:]]+[^[:space:]]+$//p' | LC_ALL=C sort -u -S 1G -T "$work" >"$file.part.$$"
[[ -s $file.part.$$ ]] || Die "the Contents index lists no path"
mv "$file.part.$$" "$file"
Say "$(wc -l <"$file") paths"
