#!/bin/bash
# Fetches RocksDB's source, for the internal headers of the filter interface that no package installs.
#
# By default: the Debian source package of exactly the installed librocksdb-dev's version, since a header of any other
# version would make the compiler call the wrong vtable slots. apt checks the download against the signed index; the
# system's own package lists stay as they are, because lists, cache and source lines are private to this script.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

Usage() {
  cat <<'END'
usage: tools/setup/fetch_rocksdb_source.sh [--suite SUITE]
  (no option)    .deps/rocksdb-source: the source of the installed librocksdb-dev
  --suite SUITE  .deps/rocksdb-suite-SUITE: the source in another suite of the same archive (trixie, sid, ...);
                 exit status 3 when that suite cannot be reached
Prints the folder. Does nothing when the folder is there and of the right version.
END
}

suite=
while (($#)); do
  case "$1" in
    --suite) (($# > 1)) || Die "--suite needs a name"; suite="$2"; shift 2 ;;
    --suite=*) suite="${1#*=}"; shift ;;
    -h | --help) Usage; exit 0 ;;
    *) Usage >&2; Die "unknown argument '$1'" ;;
  esac
done
[[ -z $suite || $suite =~ ^[a-z][a-z0-9-]*$ ]] || Die "'$suite' is no name of a suite"

deps="$REPO_ROOT/.deps"
stamp=.tieredfilter-source-version  # inside each unpacked tree: the Debian version it was unpacked from
if [[ -n $suite ]]; then
  link="$deps/rocksdb-suite-$suite"
  wanted=
  [[ -f $link/$stamp ]] && { printf '%s\n' "$link"; exit 0; }
else
  link="$deps/rocksdb-source"
  wanted="$(InstalledVersion librocksdb-dev)" ||
    Die "librocksdb-dev is not installed; run tools/setup/install_dependencies.sh first"
  wanted="${wanted%+b[0-9]*}"  # a rebuild of the binary package has the same source
  [[ -f $link/$stamp && $(<"$link/$stamp") == "$wanted" ]] && { printf '%s\n' "$link"; exit 0; }
fi
for command in apt-get dpkg-source awk; do
  command -v "$command" >/dev/null ||
    Die "$command not found; run tools/setup/install_dependencies.sh first"
done

mkdir -p "$deps"
# Under TMPDIR, not under the project: apt does not take every character in a folder's name (a quote, for one).
work="$(mktemp -d)"
unpacking=
trap 'rm -rf "$work" ${unpacking:+"$unpacking"}' EXIT
mkdir -p "$work"/{parts,lists/partial,cache/archives/partial,download}
: >"$work/none.list"

# The system's binary sources, turned into source lines. Both notations; disabled stanzas and comments are left out (a
# comment may stand between two fields of a stanza). With --suite, the line of the system's own suite with the name of
# the wanted one put in, so that archive and signing key stay the system's.
DeriveSources() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -r $file ]] || continue
    sed '/^#/d' "$file" | awk -v suite="$suite" -v codename="$codename" '
      function FlushStanza() {
        if (stanza != "" && tolower(enabled) !~ /^(no|false|0)$/ && (suite == "" || base)) print stanza
        stanza = enabled = ""; base = 0
      }
      /^[ \t\r]*$/ { FlushStanza(); next }
      tolower($1) == "types:" { stanza = stanza "Types: deb-src\n"; next }
      tolower($1) == "enabled:" { enabled = $2 }
      tolower($1) == "suites:" && suite != "" {
        for (i = 2; i <= NF; i++) if ($i == codename) base = 1
        stanza = stanza "Suites: " suite "\n"; next
      }
      { stanza = stanza $0 "\n" }
      END { FlushStanza() }'
  done >"$work/parts/derived.sources"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -r $file ]] || continue
    awk -v suite="$suite" -v codename="$codename" '
      /^[ \t]*deb(-src)?[ \t]/ {
        sub(/^[ \t]*deb(-src)?/, "deb-src"); sub(/#.*/, "")
        if (suite != "" && !sub("[ \t]" codename "[ \t]", " " suite " ")) next
        print
      }' "$file"
  done | sort -u >"$work/parts/derived.list"
}
codename="$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")"
DeriveSources
[[ -s $work/parts/derived.sources || -s $work/parts/derived.list ]] ||
  Die "found no package sources under /etc/apt to derive source lines from"

Apt() {
  local options=(
    -o "Dir::Etc::SourceList=$work/none.list" -o "Dir::Etc::SourceParts=$work/parts"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache"
    -o Acquire::Languages=none -o Acquire::IndexTargets::deb-src::Sources::DefaultEnabled=true
    -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o APT::Get::List-Cleanup=false
  )
  # The unprivileged download user of apt has no access to a private folder of root's.
  ((EUID == 0)) && options+=(-o APT::Sandbox::User=root)
  (cd "$work/download" && "$@" "${options[@]}" </dev/null)
}

status_unreachable=1
[[ -n $suite ]] && status_unreachable=3
Unreachable() {
  cat "$work/log" >&2
  Say "error: $*"
  exit "$status_unreachable"
}

Say "fetching RocksDB's source${wanted:+ $wanted}${suite:+ from suite $suite}"
# One source without source packages (third parties often have none) must not stop the others: the test is whether the
# package is found afterwards.
Apt apt-get update >"$work/log" 2>&1 || true
# Of another suite only upstream's tarball is taken: it serves to compile against, not to link, and is there even where
# the archive has moved on to a new Debian revision.
what=(--download-only)
[[ -n $suite ]] && what+=(--tar-only)
Apt apt-get source "${what[@]}" "rocksdb${wanted:+=$wanted}" >>"$work/log" 2>&1 ||
  Unreachable "cannot download the source package rocksdb${wanted:+ $wanted}, see above"

# Unpacked beside its final place and then renamed, so that an interrupted run leaves nothing that looks whole and a
# build that runs meanwhile always sees a complete tree.
unpacking="$deps/.unpacking.$$"
rm -rf "$unpacking"
if [[ -n $suite ]]; then
  archives=("$work"/download/rocksdb_*.orig.tar.*)
  mkdir "$unpacking"
  tar -xf "${archives[0]}" -C "$unpacking" --strip-components=1 --no-same-owner ||
    Unreachable "cannot unpack ${archives[0]##*/}"
  version="$(SourceTreeVersion "$unpacking")"
else
  # With Debian's patches, as the library was built; dpkg-source checks every file against the .dsc's checksums.
  archives=("$work"/download/rocksdb_*.dsc)
  dpkg-source --no-copy -x "${archives[0]}" "$unpacking" >"$work/log" 2>&1 ||
    Unreachable "dpkg-source cannot unpack ${archives[0]##*/}"
  version="$wanted"
fi
header_version="$(SourceTreeVersion "$unpacking")"
[[ -n $header_version && $header_version == "$(UpstreamVersion "$version")" ]] ||
  Die "the source package $version holds RocksDB ${header_version:-of no known version}"
[[ -f $unpacking/table/block_based/filter_policy_internal.h ]] ||
  Die "the source package $version has no table/block_based/filter_policy_internal.h"
printf '%s\n' "$version" >"$unpacking/$stamp"
chmod -R a+rX "$unpacking"

tree="rocksdb-$header_version"
if [[ $(cat "$deps/$tree/$stamp" 2>/dev/null) == "$version" ]]; then
  rm -rf "$unpacking"
else
  rm -rf "${deps:?}/$tree"
  mv -T "$unpacking" "$deps/$tree"
fi
unpacking=
ln -sfn "$tree" "$link.new.$$"
mv -T "$link.new.$$" "$link"
printf '%s\n' "$link"
