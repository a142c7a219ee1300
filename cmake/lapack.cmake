# SPDX-License-Identifier: BSD-3-Clause
# BLAS and LAPACK with integers of 32 bits, for a program that computes: target oriel_lapack, where
# there are any. First the wheel that scripts/setup brings, so that no machine decides; its symbols
# have a prefix. Without it, what the system has.
set(ORIEL_LAPACK_IS_SYSTEM OFF)
if(NOT ORIEL_LAPACK)
  return()
endif()
file(GLOB wheel
     "${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas.so")
if(wheel)
  add_library(oriel_lapack UNKNOWN IMPORTED GLOBAL)
  set_target_properties(oriel_lapack PROPERTIES IMPORTED_LOCATION "${wheel}"
    INTERFACE_COMPILE_DEFINITIONS BLAS_SYMBOL_PREFIX=scipy_)
else()
  set(BLA_SIZEOF_INTEGER 4)
  find_package(LAPACK QUIET)
  if(LAPACK_FOUND)
    set(ORIEL_LAPACK_IS_SYSTEM ON)
    add_library(oriel_lapack INTERFACE IMPORTED GLOBAL)
    target_link_libraries(oriel_lapack INTERFACE LAPACK::LAPACK)
  else()
    message(STATUS "No LAPACK was found: the programs cholesky and lu are left out. `make setup` brings one.")
  endif()
endif()
