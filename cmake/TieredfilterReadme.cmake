# Takes the code blocks of README.md apart, so that a test can compile and run exactly what a reader copies. A block is
# found by the word behind its language: ```cpp factory
#
# tieredfilter_readme_block(<word> <file>) writes the block to <file>, its #include lines to <file>.includes.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/README.md")

function(tieredfilter_readme_block word file)
  file(READ "${PROJECT_SOURCE_DIR}/README.md" _readme)
  if(NOT _readme MATCHES "\n```[a-z]+ ${word}\n([^`]*)\n```\n")
    message(FATAL_ERROR "README.md has no code block '${word}'")
  endif()
  set(_block "${CMAKE_MATCH_1}\n")
  string(REGEX MATCHALL "#include [^\n]*\n" _includes "${_block}")
  string(REGEX REPLACE "#include [^\n]*\n" "" _body "${_block}")
  string(REPLACE ">\n;" ">\n" _includes "${_includes}")
  file(WRITE "${file}" "${_body}")
  file(WRITE "${file}.includes" "${_includes}")
endfunction()
