// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/fortran_arguments.hpp"

#include <algorithm>

#include "mpi/host/errors.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

// Only its address is used.
char noncontiguous_section = 0;

}  // namespace

bool is_noncontiguous(const void* buffer) {
  return buffer == &noncontiguous_section;
}

bool must_refuse_on_win(std::initializer_list<const void*> buffers) {
  return std::ranges::any_of(buffers, is_noncontiguous);
}

bool must_refuse_on_comm(std::initializer_list<const void*> buffers) {
  return std::ranges::any_of(buffers, is_noncontiguous) && runtime.disabled();
}

int refuse_on_win(const char* call, MPI_Win win) {
  if (win == MPI_WIN_NULL) return refuse_on_comm(call, MPI_COMM_NULL);
  return raise(win, call, {MPI_ERR_BUFFER, noncontiguous_refused});
}

int refuse_on_comm(const char* call, MPI_Comm comm) {
  return raise(comm, call, MPI_ERR_BUFFER, noncontiguous_refused);
}

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  if (comm != MPI_COMM_NULL) host_mpi().Comm_size(comm, &ranks);
  return ranks;
}

std::vector<MPI_Datatype> datatypes_in_c(const int* handles, int count) {
  std::vector<MPI_Datatype> datatypes;
  datatypes.reserve(static_cast<std::size_t>(count));
  for (int at = 0; at < count; ++at) {
    datatypes.push_back(ORIEL_FROM_FORTRAN(Type, handles[at]));
  }
  return datatypes;
}

}  // namespace oriel::mpi

/// The address in C of a buffer in Fortran. MPI_BOTTOM and MPI_IN_PLACE have other addresses in
/// Fortran than in C.
extern "C" __attribute__((visibility("default"))) void* ORIEL_Address_f08(void* address,
                                                                          int contiguous,
                                                                          const void* bottom,
                                                                          const void* in_place) {
  if (address == bottom) return MPI_BOTTOM;
  if (address == in_place) return MPI_IN_PLACE;
  return contiguous != 0 ? address : &oriel::mpi::noncontiguous_section;
}
