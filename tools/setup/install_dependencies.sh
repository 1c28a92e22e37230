#!/bin/bash
# Installs the Debian packages that the build, the tests and the tools need, and only those that are missing.
# Says what it installs; says nothing and needs no network, root or sudo when nothing is missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

Usage() {
  cat <<'END'
usage: tools/setup/install_dependencies.sh [--checks] [--browser] [--list]
  --checks   also what tools/check/ needs (clang, clang-format, clang-tidy, the libFuzzer runtime)
  --browser  also Chromium, for the test that looks at an HTML report (some 300 MB)
  --list     only print the names of the missing packages, one a line
END
}

# dpkg-dev and xz-utils unpack RocksDB's source package; ca-certificates lets apt use https sources.
packages=(
  g++ cmake ninja-build pkg-config dpkg-dev xz-utils patch ca-certificates
  librocksdb-dev rocksdb-tools libgflags-dev python3
  libsnappy-dev zlib1g-dev libbz2-dev liblz4-dev libzstd-dev
  libxxhash-dev libfmt-dev nlohmann-json3-dev libsimde-dev
  libgtest-dev libgmock-dev libbenchmark-dev
)
check_packages=(clang clang-format clang-tidy libclang-rt-14-dev)

list_only=0
for argument in "$@"; do
  case "$argument" in
    --checks) packages+=("${check_packages[@]}") ;;
    --browser) packages+=(chromium) ;;
    --list) list_only=1 ;;
    -h | --help) Usage; exit 0 ;;
    *) Usage >&2; Die "unknown argument '$argument'" ;;
  esac
done

# Another distribution: name the need, and leave the choice of packages to the user.
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  Die "this is no Debian system. Install the equivalents of these packages yourself and build with CMake
(README.md, 'Building by hand'): ${packages[*]}"

# One dpkg-query for all: a query per package would take longer than the rest of a run with nothing to do.
installed="$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
  sed -n 's/^installed //p' || true)"
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done

if ((list_only)); then
  ((${#missing[@]} == 0)) || printf '%s\n' "${missing[@]}"
  exit 0
fi
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null ||
    Die "missing packages: ${missing[*]}. Neither root nor sudo is at hand; have an administrator run
  apt-get install ${missing[*]}"
  as_root=(sudo)
fi

Say "installing Debian packages: ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT

AptGet() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" \
    </dev/null >"$log" 2>&1
}
Install() { AptGet install --no-install-recommends "${missing[@]}"; }

# The package lists are refreshed only where they are absent (a fresh container) or too old to be of use.
if ! apt-get -s install --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || ! Install; then
  AptGet update || { cat "$log" >&2; Die "apt-get update failed, see above"; }
  Install || { cat "$log" >&2; Die "apt-get install failed, see above"; }
fi
Say "installed"
