# cmake --install: the public header, the static libraries, the preload object, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

if(NOT TARGET tieredfilter)
  return()
endif()

install(TARGETS tieredfilter tieredfilter_core EXPORT tieredfilterTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET tieredfilter_preload)
  install(TARGETS tieredfilter_preload LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(FILES plugin/tieredfilter.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tieredfilter")

set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tieredfilter")
install(EXPORT tieredfilterTargets NAMESPACE tieredfilter:: DESTINATION "${_package_dir}")
configure_package_config_file(cmake/tieredfilterConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/tieredfilterConfig.cmake"
  INSTALL_DESTINATION "${_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tieredfilterConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tieredfilterConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/tieredfilterConfigVersion.cmake" DESTINATION "${_package_dir}")

# Relative to the .pc file's own folder, so that the installed tree can be moved.
file(RELATIVE_PATH _pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" _pc_prefix "${_pc_prefix}")
configure_file(cmake/tieredfilter.pc.in tieredfilter.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tieredfilter.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
