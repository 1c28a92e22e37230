#!/bin/bash
# Installs to a temporary prefix, moves that, and builds and runs a consumer by the CMake package and by pkg-config.
#   usage: install_and_use_test.sh BUILD_DIR COMPILER GENERATOR [FLAGS]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build_dir="$1" compiler="$2" generator="$3" flags="${4:-}"
# A folder with a space: paths must be quoted all the way. pkg-config itself gets one without, since its output is split
# at spaces by the shell.
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cmake --install "$build_dir" --prefix "$work/first" >/dev/null
mkdir "$work/with space"
mv "$work/first" "$work/with space/prefix"
prefix="$work/with space/prefix"
test -f "$prefix/include/tieredfilter/tieredfilter.h"

Expect() {
  local id
  id="$("$2")"
  [[ $id == tieredfilter:*bloom*ribbon* ]] || { echo "$1: unexpected output '$id'"; exit 1; }
  echo "$1: $id"
}

mkdir "$work/cmake"
cp "$here/consumer.cc" "$work/cmake/"
cat >"$work/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(consumer CXX)
set(CMAKE_CXX_STANDARD 17)
add_executable(consumer consumer.cc)
find_package(tieredfilter 0.1 REQUIRED)
target_link_libraries(consumer tieredfilter::tieredfilter)
END
cmake -S "$work/cmake" -B "$work/cmake/build" -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" >"$work/log" 2>&1 &&
  cmake --build "$work/cmake/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
Expect "CMake package" "$work/cmake/build/consumer"

# A package made for another RocksDB must be refused, not linked.
config="$(find "$prefix" -name tieredfilterConfig.cmake)"
cp "$config" "$work/config"
sed -i 's/if(NOT _version STREQUAL "[0-9.]*"/if(NOT _version STREQUAL "0.0.1"/' "$config"
if cmake -S "$work/cmake" -B "$work/cmake/build2" -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >"$work/log" 2>&1; then
  echo "a package for another RocksDB version was accepted"
  exit 1
fi
grep -q "but RocksDB here is" "$work/log" || { cat "$work/log"; exit 1; }
cp "$work/config" "$config"

mv "$prefix" "$work/prefix"
pc_dir="$(dirname "$(find "$work/prefix" -name tieredfilter.pc)")"
# shellcheck disable=SC2046
PKG_CONFIG_PATH="$pc_dir" "$compiler" -std=c++17 $flags "$here/consumer.cc" -o "$work/consumer" \
  $(PKG_CONFIG_PATH="$pc_dir" pkg-config --cflags --libs tieredfilter)
Expect "pkg-config" "$work/consumer"
