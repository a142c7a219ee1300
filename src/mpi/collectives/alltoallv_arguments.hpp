// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/collective/schedule.hpp"
#include "core/operation/operation.hpp"
#include "engine/tuning/exchange_times.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// One side of an alltoallv as the program has passed it, for both widths of counts.
struct AlltoallvSide {
  const char* name = "";  // of the argument with the counts, for error messages
  void* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<MPI_Count> counts;        // by rank
  std::vector<MPI_Aint> displacements;  // by rank, in extents of the type
  std::vector<MPI_Datatype> types;      // for alltoallw: by rank; displacements are in bytes
  bool missing = false;                 // one of the arrays is null
  bool alike = false;                   // one count for all ranks instead of an array

  AlltoallvSide() = default;
  /// `blocks`: the number of elements of the arrays.
  template <typename Count, typename Displacement>
  AlltoallvSide(const char* called, const void* where, const Count* count,
                const Displacement* displacement, MPI_Datatype of, std::size_t blocks)
      : name(called),
        buffer(const_cast<void*>(where)),
        type(of),
        missing(blocks != 0 && (count == nullptr || displacement == nullptr)) {
    if (missing) return;
    counts.assign(count, count + blocks);
    displacements.assign(displacement, displacement + blocks);
  }
};

struct AlltoallvArguments {
  AlltoallvSide send;  // unused if in place
  AlltoallvSide receive;
  int ranks = 0;
  bool in_place = false;
  bool large = false;  // passed to the call with large counts

  /// The side that is sent: in place, the receiving one.
  const AlltoallvSide& sent() const { return in_place ? receive : send; }
};

/// The checked arguments of one rank to an alltoallv, as buffers by rank.
struct AlltoallvBuffers {
  std::vector<Buffer> sends;
  std::vector<Buffer> receives;
  // Predefined types that the other side must use as well, as kind_of() encodes them; 0: any type.
  std::uint32_t send_kind = 0;
  std::uint32_t receive_kind = 0;

  /// The rank's schedule. Throws std::bad_alloc.
  MadeSchedule schedule(int rank, bool in_place) const;
};

/// Reads the value of the info key ORIEL_ALLTOALLV; automatic if the info does not have the key.
Failure read_algorithm(MPI_Info info, Algorithm& algorithm);

// With the process lock. A null buffer that has bytes is MPI_ERR_BUFFER.
/// Reads and checks both sides. In place, the buffers to send are those to receive.
Failure read_buffers(const AlltoallvArguments& arguments, AlltoallvBuffers& buffers);
/// Reads and checks one side.
Failure read_side(const AlltoallvSide& side, std::vector<Buffer>& buffers, std::uint32_t& kind);
/// Fails if a byte is received twice. Also without the lock.
Failure check_overlap(const AlltoallvSide& side, const std::vector<Buffer>& receives);

/// True if the buffer's first byte is in the first page of the address space, which no program has
/// mapped. Some hosts do not check this, others check too late. The buffer has bytes.
bool is_null(const Buffer& buffer);

/// The type class and the size in bytes in a value of kind_of().
const char* kind_name(std::uint32_t kind);
std::uint32_t kind_bytes(std::uint32_t kind);

}  // namespace oriel::mpi
