# SPDX-License-Identifier: BSD-3-Clause
if(ORIEL_SANITIZE)
  return()
endif()
include(CMakePackageConfigHelpers)

# Every rule names its component: runtime, what programs load; development, what builds and documents
# them; tools, the command.
foreach(abi IN LISTS ORIEL_ABIS)
  target_include_directories(oriel_${abi} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS oriel_${abi} EXPORT oriel
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/oriel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${CMAKE_BINARY_DIR}/calls/include/oriel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development)
install(DIRECTORY ${CMAKE_BINARY_DIR}/calls/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR}
        COMPONENT development)
# As a source: the files of a module are for one compiler and one MPI. The compiler of the program
# compiles it.
set(fortran_dir ${CMAKE_INSTALL_DATADIR}/oriel/fortran)
set(ORIEL_FORTRAN_MODULE ${fortran_dir}/oriel.f90)
install(FILES ${CMAKE_BINARY_DIR}/calls/fortran/oriel.f90 DESTINATION ${fortran_dir}
        COMPONENT development)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/oriel)
install(EXPORT oriel NAMESPACE oriel:: FILE oriel-targets.cmake DESTINATION ${package_dir}
        COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/oriel-config.cmake.in
  ${CMAKE_BINARY_DIR}/oriel-config.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS ORIEL_FORTRAN_MODULE)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/oriel-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/oriel-config.cmake ${CMAKE_BINARY_DIR}/oriel-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)
# Relative, so that an installation may be moved, or be put elsewhere than was configured.
file(RELATIVE_PATH ORIEL_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
foreach(abi IN LISTS ORIEL_ABIS)
  string(TOUPPER ${abi} ABI)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/oriel-abi.pc.in ${CMAKE_BINARY_DIR}/oriel-${abi}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/oriel-${abi}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()
# The run-time path of programs that were linked by pkg-config goes through this folder.
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
configure_file(${PROJECT_SOURCE_DIR}/cmake/modulefile.in ${CMAKE_BINARY_DIR}/modulefile @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/modulefile RENAME ${PROJECT_VERSION}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/oriel/modulefiles/oriel COMPONENT tools)

# The command: a launcher for this build tree and one for the installed place.
set(ORIEL_PYTHON_FOLDER "${PROJECT_SOURCE_DIR}/python")
set(ORIEL_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
configure_file(${PROJECT_SOURCE_DIR}/cmake/oriel.in ${CMAKE_BINARY_DIR}/bin/oriel @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                   WORLD_EXECUTE)
# man, and where bash, zsh and fish look for completion scripts.
install(DIRECTORY ${ORIEL_COMMAND_FILES}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT tools
        PATTERN "man" EXCLUDE)
install(DIRECTORY ${ORIEL_COMMAND_FILES}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR}
        COMPONENT tools)
install(TARGETS oriel-settings oriel-measured DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
# A wheel has the Python package among the environment's, whose installer writes the command.
if(NOT SKBUILD)
  # The command may be called by a symbolic link.
  set(ORIEL_PYTHON_FOLDER
      "$(dirname \"$(readlink -f \"$0\")\")/../${CMAKE_INSTALL_LIBDIR}/oriel/python")
  set(ORIEL_PYTHON "")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/oriel.in ${CMAKE_BINARY_DIR}/install/oriel @ONLY)
  install(PROGRAMS ${CMAKE_BINARY_DIR}/install/oriel DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT tools)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/oriel
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/oriel/python COMPONENT tools
          USE_SOURCE_PERMISSIONS FILES_MATCHING
          PATTERN "*.py" PATTERN "py.typed" PATTERN "*.jinja" PATTERN "rsh-node"
          REGEX "/wait_states/page\\.(html|css|js)$"
          REGEX "/templates/[^/]+$")
endif()
