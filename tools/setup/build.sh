#!/bin/bash
# Installs what is missing, fetches RocksDB's headers, configures and builds: the part that every entry command
# (tools/test.sh, tools/demo.sh) has in common. Prints the build folder on stdout, everything else on stderr.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

Usage() {
  cat <<'END'
usage: tools/setup/build.sh [--preset NAME] [--configure-only] [--verbose] [TARGET...]
  --preset NAME     a configure preset of CMakePresets.json (default: release); the folder is build/NAME
  --configure-only  build nothing; enough for what reads compile_commands.json
  --verbose         show the compiler's progress
  TARGET            what to build (default: everything)
Environment: TIEREDFILTER_NO_INSTALL=1 installs and fetches nothing.
END
}

preset=release
verbose=0
configure_only=0
targets=()
while (($#)); do
  case "$1" in
    --preset) (($# > 1)) || Die "--preset needs a name"; preset="$2"; shift 2 ;;
    --preset=*) preset="${1#*=}"; shift ;;
    --verbose) verbose=1; shift ;;
    --configure-only) configure_only=1; shift ;;
    -h | --help) Usage; exit 0 ;;
    -*) Usage >&2; Die "unknown option '$1'" ;;
    *) targets+=("$1"); shift ;;
  esac
done

if [[ ${TIEREDFILTER_NO_INSTALL:-0} != 1 ]]; then
  extra=()
  [[ $preset == asan || $preset == clang ]] && extra=(--checks)  # those two compile with clang
  "$REPO_ROOT/tools/setup/install_dependencies.sh" ${extra[@]+"${extra[@]}"}
  "$REPO_ROOT/tools/setup/fetch_rocksdb_source.sh" >/dev/null
fi

build_dir="$REPO_ROOT/build/$preset"
mkdir -p "$REPO_ROOT/build"
log="$build_dir.log"
# Two entry commands at the same time take turns instead of writing each other's objects.
exec 9>"$build_dir.lock"
flock 9

# A successful build says nothing; a failed one says all of it.
Run() {
  if ((verbose)); then
    "$@" >&2
  else
    "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  fi
}

# A folder that was copied or moved here with its cache would make CMake refuse; it holds nothing but build results.
home="$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build_dir/CMakeCache.txt" 2>/dev/null || true)"
if [[ -n $home && $home != "$REPO_ROOT" ]]; then
  Say "configuring afresh: build/$preset belongs to another folder"
  rm -rf "$build_dir"
fi
if [[ ! -f $build_dir/CMakeCache.txt ]] && command -v ninja >/dev/null; then
  export CMAKE_GENERATOR=Ninja
fi

((configure_only)) || Say "building (preset $preset)"
cd "$REPO_ROOT"
Run cmake --preset "$preset" -DTIEREDFILTER_ROCKSDB=ON || Die "the configuration failed, see above"
if ((!configure_only)); then
  arguments=(--build "$build_dir" --parallel "$(nproc)")
  ((${#targets[@]} == 0)) || arguments+=(--target "${targets[@]}")
  Run cmake "${arguments[@]}" || Die "the build failed, see above"
fi
printf '%s\n' "$build_dir"
