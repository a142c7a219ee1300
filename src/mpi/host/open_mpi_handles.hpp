// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Open MPI's predefined handles are addresses of variables of its library. Oriel looks the
// variables up (mpi/host/host_library.hpp), so that its own library depends on no MPI library.

// clang-format off
#define ORIEL_OPEN_MPI_HANDLES(each) \
  each(ompi_message_no_proc) each(ompi_mpi_2dblprec) each(ompi_mpi_2int)                           \
  each(ompi_mpi_2integer) each(ompi_mpi_2real) each(ompi_mpi_aint) each(ompi_mpi_byte)             \
  each(ompi_mpi_c_bool) each(ompi_mpi_c_double_complex) each(ompi_mpi_c_float_complex)             \
  each(ompi_mpi_c_long_double_complex) each(ompi_mpi_char) each(ompi_mpi_character)                \
  each(ompi_mpi_comm_null) each(ompi_mpi_comm_self) each(ompi_mpi_comm_world)                      \
  each(ompi_mpi_complex16) each(ompi_mpi_complex32) each(ompi_mpi_complex4)                        \
  each(ompi_mpi_complex8) each(ompi_mpi_count) each(ompi_mpi_cplex) each(ompi_mpi_cxx_bool)        \
  each(ompi_mpi_cxx_cplex) each(ompi_mpi_cxx_dblcplex) each(ompi_mpi_cxx_ldblcplex)                \
  each(ompi_mpi_datatype_null) each(ompi_mpi_dblcplex) each(ompi_mpi_dblprec)                      \
  each(ompi_mpi_double) each(ompi_mpi_double_int) each(ompi_mpi_errhandler_null)                   \
  each(ompi_mpi_errors_abort) each(ompi_mpi_errors_are_fatal) each(ompi_mpi_errors_return)         \
  each(ompi_mpi_float) each(ompi_mpi_float_int) each(ompi_mpi_group_null)                          \
  each(ompi_mpi_info_null) each(ompi_mpi_instance_null) each(ompi_mpi_int)                         \
  each(ompi_mpi_int16_t) each(ompi_mpi_int32_t) each(ompi_mpi_int64_t) each(ompi_mpi_int8_t)       \
  each(ompi_mpi_integer) each(ompi_mpi_integer1) each(ompi_mpi_integer16)                          \
  each(ompi_mpi_integer2) each(ompi_mpi_integer4) each(ompi_mpi_integer8)                          \
  each(ompi_mpi_logical) each(ompi_mpi_logical1) each(ompi_mpi_logical2)                           \
  each(ompi_mpi_logical4) each(ompi_mpi_logical8) each(ompi_mpi_long)                              \
  each(ompi_mpi_long_double) each(ompi_mpi_long_int) each(ompi_mpi_long_long_int)                  \
  each(ompi_mpi_longdbl_int) each(ompi_mpi_offset) each(ompi_mpi_op_band) each(ompi_mpi_op_bor)    \
  each(ompi_mpi_op_bxor) each(ompi_mpi_op_land) each(ompi_mpi_op_lor) each(ompi_mpi_op_lxor)       \
  each(ompi_mpi_op_max) each(ompi_mpi_op_maxloc) each(ompi_mpi_op_min) each(ompi_mpi_op_minloc)    \
  each(ompi_mpi_op_no_op) each(ompi_mpi_op_null) each(ompi_mpi_op_prod)                            \
  each(ompi_mpi_op_replace) each(ompi_mpi_op_sum) each(ompi_mpi_packed) each(ompi_mpi_real)        \
  each(ompi_mpi_real16) each(ompi_mpi_real2) each(ompi_mpi_real4) each(ompi_mpi_real8)             \
  each(ompi_mpi_short) each(ompi_mpi_short_int) each(ompi_mpi_signed_char)                         \
  each(ompi_mpi_uint16_t) each(ompi_mpi_uint32_t) each(ompi_mpi_uint64_t)                          \
  each(ompi_mpi_uint8_t) each(ompi_mpi_unsigned) each(ompi_mpi_unsigned_char)                      \
  each(ompi_mpi_unsigned_long) each(ompi_mpi_unsigned_long_long) each(ompi_mpi_unsigned_short)     \
  each(ompi_mpi_wchar) each(ompi_mpi_win_null) each(ompi_request_null)
// clang-format on

namespace oriel::mpi {

/// The variables' addresses. HostMpi sets them before Oriel uses a handle. Null: the host, another
/// version than the one of mpi.h, does not have the handle.
struct OpenMpiHandles {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator takes none
#define ORIEL_HANDLE(name) void* name = nullptr;
  ORIEL_OPEN_MPI_HANDLES(ORIEL_HANDLE)
#undef ORIEL_HANDLE

  /// `find`: the variable of a name.
  void find_all(void* (*find)(const char* name)) {
#define ORIEL_HANDLE(name) name = find(#name);
    ORIEL_OPEN_MPI_HANDLES(ORIEL_HANDLE)
#undef ORIEL_HANDLE
  }
};

inline OpenMpiHandles open_mpi_handles;

}  // namespace oriel::mpi

// In mpi.h each handle is this macro.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(oriel::mpi::open_mpi_handles.global))
