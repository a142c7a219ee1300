# SPDX-License-Identifier: BSD-3-Clause
# Which MPI ABIs to build for, listed in ORIEL_ABIS, and which MPIs programs are built for, listed in
# ORIEL_HOSTS: imported targets oriel_mpi_NAME of both.
set(ORIEL_ABIS "")

function(oriel_import_mpi target include library)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${include}" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${include}")
endfunction()

if(ORIEL_MPI_ROOT)
  set(ORIEL_HOSTS "")
  foreach(name mpich openmpi intel)
    set(prefix "${ORIEL_MPI_ROOT}/${name}")
    if(EXISTS "${prefix}/include/mpi.h")
      oriel_import_mpi(oriel_mpi_${name} "${prefix}/include" "${prefix}/lib/libmpi.so")
      list(APPEND ORIEL_HOSTS ${name})
      if(NOT name STREQUAL "intel")  # which has MPICH's ABI
        list(APPEND ORIEL_ABIS ${name})
      endif()
    endif()
  endforeach()
  if(NOT ORIEL_ABIS)
    message(FATAL_ERROR "Neither mpich nor openmpi is installed below ${ORIEL_MPI_ROOT}; "
                        "`make mpis` installs both, and Intel MPI.")
  endif()
  # The standard ABI's header has a name of its own; programs include <mpi.h>.
  if(TARGET oriel_mpi_mpich)
    set(abi_include "${CMAKE_BINARY_DIR}/mpi_abi/include")
    file(MAKE_DIRECTORY "${abi_include}")
    file(CONFIGURE OUTPUT "${abi_include}/mpi.h" CONTENT "#include <mpi_abi.h>\n")
    file(COPY "${ORIEL_MPI_ROOT}/mpich/include/mpi_abi.h" DESTINATION "${abi_include}")
    oriel_import_mpi(oriel_mpi_abi "${abi_include}" "${ORIEL_MPI_ROOT}/mpich/lib/libmpi_abi.so")
    list(APPEND ORIEL_ABIS abi)
  endif()
else()
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI REQUIRED COMPONENTS CXX)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
  check_cxx_source_compiles("#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\nint main() {}"
                            ORIEL_MPI_IS_OPENMPI)
  check_cxx_source_compiles("#include <mpi.h>\n#ifndef MPICH_VERSION\n#ifndef I_MPI_VERSION\n#error\n#endif\n#endif\nint main() {}"
                            ORIEL_MPI_IS_MPICH)
  check_cxx_source_compiles("#include <mpi.h>\n#ifndef I_MPI_VERSION\n#error\n#endif\nint main() {}"
                            ORIEL_MPI_IS_INTEL)
  # G9 and G15 of docs/design/requirements.md; as python/oriel/hosts/mpi_kinds.py has them.
  check_cxx_source_compiles("#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 4
#error
#elif defined(MPICH_NUMVERSION) && !defined(I_MPI_VERSION) && MPICH_NUMVERSION < 30200000
#error
#endif
int main() {}" ORIEL_MPI_IS_SUPPORTED)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT ORIEL_MPI_IS_SUPPORTED)
    if(ORIEL_MPI_IS_OPENMPI)
      set(title "Open MPI")
    else()
      set(title "MPICH")
    endif()
    message(FATAL_ERROR "Oriel does not support this version of ${title} (${MPI_CXX_LIBRARIES}). It "
      "has been run on MPICH from 3.4, Open MPI from 4.1 and Intel MPI 2021, and accepts MPICH 3.2 and 3.3 "
      "and Open MPI 4.0: put the mpicxx of one of them on PATH, or set MPI_CXX_COMPILER to it (on Debian "
      "mpicxx.mpich or mpicxx.openmpi), and configure in an empty build folder.")
  endif()
  if(ORIEL_MPI_IS_OPENMPI)
    set(ORIEL_ABIS openmpi)
  elseif(ORIEL_MPI_IS_MPICH)
    set(ORIEL_ABIS mpich)
  else()
    set(ORIEL_ABIS abi)
  endif()
  set(ORIEL_HOSTS ${ORIEL_ABIS})
  if(ORIEL_MPI_IS_INTEL)
    set(ORIEL_HOSTS intel)
  endif()
  foreach(name IN LISTS ORIEL_ABIS ORIEL_HOSTS)
    if(NOT TARGET oriel_mpi_${name})
      add_library(oriel_mpi_${name} INTERFACE IMPORTED GLOBAL)
      target_link_libraries(oriel_mpi_${name} INTERFACE MPI::MPI_CXX)
    endif()
  endforeach()
endif()
message(STATUS "Oriel is built for the MPI ABIs: ${ORIEL_ABIS}")
