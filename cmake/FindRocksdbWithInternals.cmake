# Finds a RocksDB library together with the internal headers of exactly the same version, since the filter builder and
# reader classes are declared in table/block_based/filter_policy_internal.h, which no package installs.
#
# Result: target rocksdb_internals (include directories + library), variable TIEREDFILTER_ROCKSDB_VERSION.
if(TIEREDFILTER_ROCKSDB STREQUAL "OFF")
  return()
endif()

set(_dir "${ROCKSDB_SOURCE_DIR}")
if(NOT _dir)
  # Where tools/setup/fetch_rocksdb_source.sh puts the source package's headers.
  set(_dir "${CMAKE_CURRENT_SOURCE_DIR}/.deps/rocksdb-source")
endif()
set(_lib "${ROCKSDB_LIBRARY}")
if(NOT _lib)
  find_library(_system_rocksdb NAMES rocksdb)
  set(_lib "${_system_rocksdb}")
endif()

if(NOT EXISTS "${_dir}/table/block_based/filter_policy_internal.h" OR NOT _lib)
  if(TIEREDFILTER_ROCKSDB STREQUAL "ON")
    message(FATAL_ERROR "RocksDB not complete: library '${_lib}', source headers '${_dir}'. "
      "Run tools/setup/install_dependencies.sh, or pass -DROCKSDB_SOURCE_DIR=... and -DROCKSDB_LIBRARY=...")
  endif()
  message(STATUS "RocksDB or its source headers not found: building src/ and its tests only")
  return()
endif()

file(STRINGS "${_dir}/include/rocksdb/version.h" _lines REGEX "#define ROCKSDB_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3"
  TIEREDFILTER_ROCKSDB_VERSION "${_lines}")

# Ask the library itself which version it is; a mismatch would compile and then call the wrong vtable slots.
try_run(_run _compiled "${CMAKE_BINARY_DIR}/rocksdb_version" "${CMAKE_CURRENT_LIST_DIR}/rocksdb_version.cc"
  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${_dir}/include" LINK_LIBRARIES "${_lib}" Threads::Threads ${CMAKE_DL_LIBS}
  CXX_STANDARD 17 RUN_OUTPUT_VARIABLE _library_version COMPILE_OUTPUT_VARIABLE _compile_log)
if(NOT _compiled OR NOT _run EQUAL 0)
  message(FATAL_ERROR "cannot link and run a program against ${_lib}:\n${_compile_log}${_library_version}")
endif()
string(STRIP "${_library_version}" _library_version)
if(NOT _library_version STREQUAL TIEREDFILTER_ROCKSDB_VERSION)
  message(FATAL_ERROR "RocksDB versions differ: the headers in ${_dir} are ${TIEREDFILTER_ROCKSDB_VERSION}, the library "
    "${_lib} is ${_library_version}. Give matching -DROCKSDB_SOURCE_DIR and -DROCKSDB_LIBRARY.")
endif()
message(STATUS "RocksDB ${_library_version}: ${_lib}, headers ${_dir}")

add_library(rocksdb_internals INTERFACE)
target_include_directories(rocksdb_internals SYSTEM INTERFACE "${_dir}/include" "${_dir}")
target_compile_definitions(rocksdb_internals INTERFACE ROCKSDB_PLATFORM_POSIX ROCKSDB_LIB_IO_POSIX OS_LINUX)
target_link_libraries(rocksdb_internals INTERFACE "${_lib}" Threads::Threads ${CMAKE_DL_LIBS})
