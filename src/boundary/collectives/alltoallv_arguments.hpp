// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/operation/operation.hpp"

namespace oriel::boundary {

/// One side of an alltoallv as the program gave it, whatever the width of its counts.
struct AlltoallvSide {
  const char* name = "";  // of the argument with the counts, for sentences
  void* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<MPI_Count> counts;        // by rank
  std::vector<MPI_Aint> displacements;  // by rank, in extents of the type
  std::vector<MPI_Datatype> types;      // of alltoallw: by rank; displacements are in bytes
  bool missing = false;                 // one of the arrays is null
  bool alike = false;                   // one count for all, which is no array

  AlltoallvSide() = default;
  /// So many blocks.
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
  AlltoallvSide send;  // in place: what is received
  AlltoallvSide receive;
  int ranks = 0;
  bool in_place = false;
  bool large = false;  // given by the call with large counts
};

/// What one rank brings to an alltoallv: checked, as buffers by rank.
struct AlltoallvBuffers {
  std::vector<Buffer> sends;
  std::vector<Buffer> receives;
  // What all of it is made of, as far as others must have the same: see kind_of().
  std::uint32_t send_kind = 0;
  std::uint32_t receive_kind = 0;

  /// What the rank does in it. Throws std::bad_alloc.
  MadeSchedule schedule(int rank, bool in_place) const;
};

/// Without the process lock.
Failure take_buffers(const AlltoallvArguments& arguments, AlltoallvBuffers& buffers);

/// One side alone, and whether any byte is received twice. With the process lock.
/// A null buffer of some bytes is MPI_ERR_BUFFER.
Failure take_side(const AlltoallvSide& side, std::vector<Buffer>& buffers, std::uint32_t& kind);
Failure check_overlap(const AlltoallvSide& side, const std::vector<Buffer>& receives);

/// Whether its first byte is where no program has any: hosts do not all look, or look too late. Of
/// one that has bytes.
bool is_null(const Buffer& buffer);

/// In words: what kind_of() has made.
const char* kind_name(std::uint32_t kind);
std::uint32_t kind_bytes(std::uint32_t kind);

}  // namespace oriel::boundary
