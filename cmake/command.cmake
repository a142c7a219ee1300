# SPDX-License-Identifier: BSD-3-Clause
# Man pages and completion scripts of the command, made from its parsers.
if(ORIEL_SANITIZE)
  return()
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(ORIEL_COMMAND_FILES ${CMAKE_BINARY_DIR}/command)
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/oriel/*.py)
add_custom_command(OUTPUT ${ORIEL_COMMAND_FILES}/stamp
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/python
          ${Python3_EXECUTABLE} -B -m oriel.cli.command_files ${ORIEL_COMMAND_FILES}/share
  COMMAND ${CMAKE_COMMAND} -E touch ${ORIEL_COMMAND_FILES}/stamp
  DEPENDS ${command_sources}
  COMMENT "Man pages and completion scripts of the command")
add_custom_target(oriel_command_files ALL DEPENDS ${ORIEL_COMMAND_FILES}/stamp)
