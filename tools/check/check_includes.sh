#!/bin/bash
# Checks which folder may include which: src/ stays free of RocksDB, nothing points back, and RocksDB's version is asked
# in one header only. Prints one line per offence and exits 1.
#   usage: tools/check/check_includes.sh [ROOT]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../setup/common.sh"
root="$(cd "${1:-$REPO_ROOT}" && pwd)"
cd "$root"

offences=0
Offence() {
  printf '%s\n' "$1"
  offences=$((offences + 1))
}

# Prints "file:line:included name with its quotes or brackets" for every include below the given folders.
Includes() {
  grep -rHnE --include='*.cc' --include='*.h' --include='*.c' '^[[:space:]]*#[[:space:]]*include[[:space:]]' "$@" |
    sed -E 's/^([^:]+:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]+/\1:/; s/([">])[[:space:]]*\/\/.*/\1/' || true
}

# CheckFolder FOLDER "project folders it may include" "extended regex for other names" "why"
CheckFolder() {
  local folder="$1" rooms="$2" others="$3" why="$4" where name room allowed
  [[ -d $folder ]] || return 0
  while IFS= read -r line; do
    where="${line%:*}"
    name="${line##*:}"
    allowed=0
    for room in $rooms; do
      [[ $name == "\"$room/"* ]] && allowed=1
    done
    [[ $name =~ ^($others)$ ]] && allowed=1
    ((allowed)) || Offence "$where: $folder/ must not include $name ($why)"
  done < <(Includes "$folder")
}

# The C++ standard library (no dot, no slash in its names), xxHash, and the compilers' own intrinsics.
standard='<[a-z_]+>|<xxhash\.h>|"xxhash\.h"|<(immintrin|arm_neon|cpuid)\.h>|<simde/[a-z0-9/_.-]+>'
CheckFolder src/filter "src/filter" "$standard" "it knows key hashes and raw bytes only"
CheckFolder src/format "src/format src/filter" "$standard" "it depends on src/filter only"
CheckFolder src/policy "src/policy src/filter" "$standard" "it depends on src/filter only"

for folder in src plugin; do
  while IFS= read -r line; do
    Offence "${line%:*}: $folder/ must not include ${line##*:} (nothing points back to tools and tests)"
  done < <(Includes "$folder" | grep -E ':"(tools|tests)/' || true)
done
while IFS= read -r line; do
  Offence "${line%:*}: the public header must not include ${line##*:} (it is installed without the rest)"
done < <(Includes plugin/tieredfilter.h |
  grep -vE ':(<[a-z_]+>|"rocksdb/[a-z_/]+\.h")$' || true)

# A version asked in the middle of logic is found by nobody when the next RocksDB comes. The stand-in headers of other
# layouts play RocksDB's own part and are exempt.
while IFS= read -r line; do
  Offence "$line (RocksDB's version is asked in plugin/rocksdb_compat.h only)"
done < <(grep -rnE --include='*.cc' --include='*.h' \
  '^[[:space:]]*#[[:space:]]*(if|elif).*ROCKSDB_(MAJOR|MINOR|PATCH|VERSION)' src plugin tools tests |
  grep -vE '^(plugin/rocksdb_compat\.h|tests/plugin/layouts/)' || true)

if ((offences)); then
  Say "$offences offence(s)"
  exit 1
fi
