# Finds a RocksDB library together with the internal headers of exactly the same version, since the filter builder and
# reader classes are declared in table/block_based/filter_policy_internal.h, which no package installs.
#
# Result: target rocksdb_internals (include directories + library + the library's NDEBUG and RTTI settings), variables
# TIEREDFILTER_ROCKSDB_VERSION, TIEREDFILTER_ROCKSDB_LIBRARY and TIEREDFILTER_ROCKSDB_SOURCE_DIR.
if(TIEREDFILTER_ROCKSDB STREQUAL "OFF")
  message(STATUS "TIEREDFILTER_ROCKSDB=OFF: building src/ and its tests only")
  return()
endif()

set(_dir "${ROCKSDB_SOURCE_DIR}")
if(NOT _dir)
  # Where tools/setup/fetch_rocksdb_source.sh puts the source package's headers.
  set(_dir "${CMAKE_CURRENT_SOURCE_DIR}/.deps/rocksdb-source")
endif()
set(_lib "${ROCKSDB_LIBRARY}")
if(NOT _lib)
  find_library(TIEREDFILTER_SYSTEM_ROCKSDB NAMES rocksdb)
  mark_as_advanced(TIEREDFILTER_SYSTEM_ROCKSDB)
  if(TIEREDFILTER_SYSTEM_ROCKSDB)
    set(_lib "${TIEREDFILTER_SYSTEM_ROCKSDB}")
  endif()
endif()

set(_missing "")
if(NOT _lib OR NOT EXISTS "${_lib}")
  string(APPEND _missing "  library: ${_lib} (not found)\n")
endif()
foreach(_file include/rocksdb/version.h table/block_based/filter_policy_internal.h)
  if(NOT EXISTS "${_dir}/${_file}")
    string(APPEND _missing "  source header: ${_dir}/${_file} (not found)\n")
  endif()
endforeach()
if(_missing)
  # A path that was given by hand and does not work is a mistake, never a reason to build less in silence.
  if(TIEREDFILTER_ROCKSDB STREQUAL "ON" OR ROCKSDB_SOURCE_DIR OR ROCKSDB_LIBRARY)
    message(FATAL_ERROR "RocksDB is not complete:\n${_missing}"
      "Run tools/setup/install_dependencies.sh and tools/setup/fetch_rocksdb_source.sh, or pass "
      "-DROCKSDB_SOURCE_DIR=... and -DROCKSDB_LIBRARY=...")
  endif()
  message(STATUS "Building src/ and its tests only, since RocksDB is not complete:\n${_missing}")
  return()
endif()

file(STRINGS "${_dir}/include/rocksdb/version.h" _lines REGEX "#define ROCKSDB_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3"
  TIEREDFILTER_ROCKSDB_VERSION "${_lines}")

# Runs once per pair of library and headers: a later configure run answers from the cache, as for any CMake check.
set(_probed "${_lib};${_dir};${TIEREDFILTER_ROCKSDB_VERSION}")
if(NOT "${_probed}" STREQUAL "${TIEREDFILTER_ROCKSDB_PROBED}")
  set(_link "${_lib}" Threads::Threads ${CMAKE_DL_LIBS})

  # Ask the library itself which version it is; a mismatch would compile and then call the wrong vtable slots.
  try_run(_run _compiled "${CMAKE_BINARY_DIR}/probe_version" "${CMAKE_CURRENT_LIST_DIR}/rocksdb_version.cc"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${_dir}/include" LINK_LIBRARIES ${_link}
    CXX_STANDARD 17 RUN_OUTPUT_VARIABLE _library_version COMPILE_OUTPUT_VARIABLE _compile_log)
  if(NOT _compiled OR NOT _run EQUAL 0)
    message(FATAL_ERROR "cannot link and run a program against ${_lib}:\n${_compile_log}${_library_version}")
  endif()
  string(STRIP "${_library_version}" _library_version)
  if(NOT _library_version STREQUAL TIEREDFILTER_ROCKSDB_VERSION)
    message(FATAL_ERROR "RocksDB versions differ: the headers in ${_dir} are ${TIEREDFILTER_ROCKSDB_VERSION}, the "
      "library ${_lib} is ${_library_version}. Give matching -DROCKSDB_SOURCE_DIR and -DROCKSDB_LIBRARY.")
  endif()

  # Internal classes have members that exist only without NDEBUG, so our code must be compiled as the library was.
  # SyncPoint exists only in a library built without NDEBUG.
  try_compile(_has_assertions "${CMAKE_BINARY_DIR}/probe_ndebug" "${CMAKE_CURRENT_LIST_DIR}/rocksdb_ndebug.cc"
    LINK_LIBRARIES ${_link} CXX_STANDARD 17)
  # A library without type information cannot be derived from by code that has it: the vtable would name a missing one.
  try_compile(_has_rtti "${CMAKE_BINARY_DIR}/probe_rtti" "${CMAKE_CURRENT_LIST_DIR}/rocksdb_rtti.cc"
    LINK_LIBRARIES ${_link} CXX_STANDARD 17)
  set(TIEREDFILTER_ROCKSDB_HAS_ASSERTIONS "${_has_assertions}" CACHE INTERNAL "")
  set(TIEREDFILTER_ROCKSDB_HAS_RTTI "${_has_rtti}" CACHE INTERNAL "")
  set(TIEREDFILTER_ROCKSDB_PROBED "${_probed}" CACHE INTERNAL "")
endif()
set(TIEREDFILTER_ROCKSDB_LIBRARY "${_lib}")
set(TIEREDFILTER_ROCKSDB_SOURCE_DIR "${_dir}")
message(STATUS "RocksDB ${TIEREDFILTER_ROCKSDB_VERSION}: ${_lib} (assertions: ${TIEREDFILTER_ROCKSDB_HAS_ASSERTIONS}, "
  "type information: ${TIEREDFILTER_ROCKSDB_HAS_RTTI}), headers ${_dir}")

add_library(rocksdb_internals INTERFACE)
target_include_directories(rocksdb_internals SYSTEM INTERFACE "${_dir}/include" "${_dir}")
target_compile_definitions(rocksdb_internals INTERFACE ROCKSDB_PLATFORM_POSIX ROCKSDB_LIB_IO_POSIX OS_LINUX)
# Options stand after CMAKE_CXX_FLAGS_<CONFIG> on the command line, so they have the last word.
if(TIEREDFILTER_ROCKSDB_HAS_ASSERTIONS)
  target_compile_options(rocksdb_internals INTERFACE -UNDEBUG)
else()
  target_compile_options(rocksdb_internals INTERFACE -DNDEBUG)
endif()
if(NOT TIEREDFILTER_ROCKSDB_HAS_RTTI)
  target_compile_options(rocksdb_internals INTERFACE -fno-rtti)
endif()
target_link_libraries(rocksdb_internals INTERFACE "${_lib}" Threads::Threads ${CMAKE_DL_LIBS})
