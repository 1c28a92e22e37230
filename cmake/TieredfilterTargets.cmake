# Compile settings shared by every target of this project, in one place so that no target can drift.
find_package(Threads REQUIRED)

set(TIEREDFILTER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(tieredfilter_flags INTERFACE)
target_compile_options(tieredfilter_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wsuggest-override -Wno-unused-parameter)
if(TIEREDFILTER_WERROR)
  target_compile_options(tieredfilter_flags INTERFACE -Werror)
endif()
if(TIEREDFILTER_NATIVE)
  target_compile_options(tieredfilter_flags INTERFACE -march=native)
endif()

# What has to stand in front of an instrumented shared object in LD_PRELOAD when the program itself is not
# instrumented (db_bench, ldb, ...); empty without sanitizers.
set(TIEREDFILTER_SANITIZER_RUNTIME "")
if(TIEREDFILTER_SANITIZE)
  target_compile_definitions(tieredfilter_flags INTERFACE TIEREDFILTER_SANITIZED=1)
  target_compile_options(tieredfilter_flags INTERFACE
    -fsanitize=${TIEREDFILTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tieredfilter_flags INTERFACE -fsanitize=${TIEREDFILTER_SANITIZE})
  if(TIEREDFILTER_SANITIZE MATCHES "address" AND TIEREDFILTER_SANITIZE MATCHES "undefined")
    # What these find, ASan stops at too (a null, overflowed or too short object that is really accessed), and they
    # double the compile time of everything that includes RocksDB and of the unrolled kernels.
    target_compile_options(tieredfilter_flags INTERFACE -fno-sanitize=null,vptr,object-size,pointer-overflow)
  endif()
  string(REGEX REPLACE "^.*(address|thread).*$" "\\1" _runtime "${TIEREDFILTER_SANITIZE}")
  string(SUBSTRING "${_runtime}" 0 1 _runtime)
  set(_runtime_file lib${_runtime}san.so)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Clang's default, a runtime inside the program, would leave the preload object without one. Fuzzers load no such
    # object, and libFuzzer brings libraries that would come before a shared runtime, which then refuses to start.
    set(_runtime_file libclang_rt.${_runtime}san-${CMAKE_SYSTEM_PROCESSOR}.so)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-resource-dir
      OUTPUT_VARIABLE _resources OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(_runtime STREQUAL "a" AND NOT TIEREDFILTER_FUZZ)
      target_link_options(tieredfilter_flags INTERFACE -shared-libasan "LINKER:-rpath,${_resources}/lib/linux")
    endif()
  endif()
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=${_runtime_file}
    OUTPUT_VARIABLE TIEREDFILTER_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# Reading RocksDB's and GoogleTest's headers is half of the compile time, so targets precompile what most of their files
# want. Only where there is no compiler cache, which could not keep such files and saves more.
set(_precompile ON)
if(TIEREDFILTER_CCACHE)
  set(_precompile OFF)
endif()
option(TIEREDFILTER_PRECOMPILE "Precompile headers; by default where there is no ccache" ${_precompile})
set(TIEREDFILTER_STANDARD_HEADERS <algorithm> <functional> <map> <memory> <string> <vector>)
set(TIEREDFILTER_ROCKSDB_HEADERS <rocksdb/convenience.h> <rocksdb/db.h> <rocksdb/filter_policy.h> <rocksdb/table.h>)

# tieredfilter_precompile(<target> [<header>...])
# For a library of many files that include RocksDB.
function(tieredfilter_precompile target)
  if(TIEREDFILTER_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${TIEREDFILTER_STANDARD_HEADERS} ${TIEREDFILTER_ROCKSDB_HEADERS} ${ARGN})
  endif()
endfunction()

# tieredfilter_share_precompiled(<target> <group> <header>...)
# The first target of a group reads the headers, the others use its result; all must be programs of the same flags.
function(tieredfilter_share_precompiled target group)
  if(NOT TIEREDFILTER_PRECOMPILE)
    return()
  endif()
  get_property(owner GLOBAL PROPERTY TIEREDFILTER_PRECOMPILED_BY_${group})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE ${TIEREDFILTER_STANDARD_HEADERS} <gtest/gtest.h> ${ARGN})
    set_property(GLOBAL PROPERTY TIEREDFILTER_PRECOMPILED_BY_${group} ${target})
  endif()
endfunction()

# What each test sees. RocksDB itself is not instrumented: ThreadSanitizer cannot see its synchronization and would
# report races that do not exist, hence the suppressions.
set(TIEREDFILTER_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
if(TIEREDFILTER_SANITIZE MATCHES "thread")
  list(APPEND TIEREDFILTER_TEST_ENVIRONMENT
    "TSAN_OPTIONS=suppressions=\"${CMAKE_CURRENT_LIST_DIR}/tsan_suppressions.txt\" ignore_noninstrumented_modules=1")
endif()

# Seconds. A test takes a small part of it on an idle machine; the limit is there to end one that hangs, and has to
# hold for slow shared machines. Sanitizers cost a factor of two to ten.
set(TIEREDFILTER_TEST_TIMEOUT 180)
if(TIEREDFILTER_SANITIZE)
  set(TIEREDFILTER_TEST_TIMEOUT 600)
endif()

# Compiling tests with less optimization saves a third of their compile time. Those that wait for RocksDB and for our
# libraries, seldom for their own code (WAITS), need none under sanitizers, which multiply both times.
set(TIEREDFILTER_TEST_OPTIMIZATION "$<$<CONFIG:Release>:-O1>")
set(TIEREDFILTER_WAITING_TEST_OPTIMIZATION ${TIEREDFILTER_TEST_OPTIMIZATION})
if(TIEREDFILTER_SANITIZE)
  set(TIEREDFILTER_WAITING_TEST_OPTIMIZATION -O0)
endif()

# tieredfilter_add_test(<name> SOURCES ... LIBS ... [HEADERS <group> <header>...] [WAITS] [LABELS ...] [TIMEOUT seconds])
# One GoogleTest binary, registered as one CTest test. Names are unique across the project because an in-tree
# RocksDB build names test binaries by file basename. HEADERS: see tieredfilter_share_precompiled. The label "slow" keeps
# a test out of the default run.
function(tieredfilter_add_test name)
  cmake_parse_arguments(ARG "WAITS" "TIMEOUT" "SOURCES;LIBS;LABELS;HEADERS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_WAITS)
    target_compile_options(${name} PRIVATE ${TIEREDFILTER_WAITING_TEST_OPTIMIZATION})
  else()
    target_compile_options(${name} PRIVATE ${TIEREDFILTER_TEST_OPTIMIZATION})
  endif()
  if(ARG_HEADERS)
    tieredfilter_share_precompiled(${name} ${ARG_HEADERS})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} tieredfilter_flags GTest::gtest_main GTest::gtest Threads::Threads)
  tieredfilter_register_test(${name} COMMAND ${name} LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# tieredfilter_register_test(<name> COMMAND ... [LABELS ...] [TIMEOUT seconds])
# A test that is any command: a script that passes with exit status 0 and is skipped with 77.
function(tieredfilter_register_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${TIEREDFILTER_TEST_TIMEOUT})
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77
    ENVIRONMENT "${TIEREDFILTER_TEST_ENVIRONMENT}")
endfunction()
