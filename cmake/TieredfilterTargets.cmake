# Compile settings shared by every target of this project, in one place so that no target can drift.
find_package(Threads REQUIRED)

set(TIEREDFILTER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(tieredfilter_flags INTERFACE)
target_compile_options(tieredfilter_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wsuggest-override -Wno-unused-parameter)
if(TIEREDFILTER_WERROR)
  target_compile_options(tieredfilter_flags INTERFACE -Werror)
endif()
if(TIEREDFILTER_SANITIZE)
  target_compile_options(tieredfilter_flags INTERFACE
    -fsanitize=${TIEREDFILTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tieredfilter_flags INTERFACE -fsanitize=${TIEREDFILTER_SANITIZE})
endif()

# tieredfilter_add_test(<name> SOURCES ... LIBS ... [LABELS ...])
# One GoogleTest binary, registered as one CTest test. Names are unique across the project because an in-tree
# RocksDB build names test binaries by file basename.
function(tieredfilter_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} tieredfilter_flags GTest::gtest_main GTest::gtest Threads::Threads)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()
