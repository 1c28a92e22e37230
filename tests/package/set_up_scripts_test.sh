#!/bin/bash
# The set-up and entry scripts: quiet when nothing is missing, clear about what they do not understand.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd /

# Everything is there (or this test would not run), so there is nothing to do and nothing to say.
output="$("$root/tools/setup/install_dependencies.sh" 2>&1)"
[[ -z $output ]] || { echo "install_dependencies.sh is not quiet: $output"; exit 1; }
output="$("$root/tools/setup/install_dependencies.sh" --list)"
[[ -z $output ]] || { echo "missing: $output"; exit 1; }

ExpectRefusal() {
  local output
  if output="$("$@" 2>&1)"; then
    echo "accepted: $*"
    exit 1
  fi
  grep -qF -- "--nonsense" <<<"$output" || { echo "$*: the message does not name the argument: $output"; exit 1; }
}
for script in setup/install_dependencies.sh setup/fetch_rocksdb_source.sh setup/build.sh test.sh \
  ../db_bench_patches/build_db_bench.sh key_sets/fetch_debian_contents.sh; do
  ExpectRefusal "$root/tools/$script" --nonsense
  "$root/tools/$script" --help | grep -q '^usage: '
done
