// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/alltoallv_arguments.hpp"

#include <oriel/collectives.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/collective/schedules/schedules.hpp"
#include "core/operation/overlap.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/fortran_arguments.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

constexpr unsigned class_shift = 24;
/// The maximal sum of a side's bytes. Blocks to be sent may overlap, so the sum may exceed the
/// memory; but a sum that a pointer difference cannot hold is not that of real buffers.
constexpr auto most_bytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// The name of a block's count in the call: an array's element, or the count of all blocks.
std::string count_of(const AlltoallvSide& side, std::size_t block) {
  return side.alike ? side.name : side.name + ("[" + std::to_string(block) + "]");
}

Failure unknown_type(const std::string& count) {
  return said(MPI_ERR_TYPE, "the datatype of " + count + " is not valid or not committed");
}

/// Type class and size of a type that sender and receiver must agree on; 0: they need not agree.
/// Types of one byte are regarded as bytes, which match every type.
std::uint32_t kind_of(const PredefinedType* basic) {
  if (basic == nullptr || basic->size <= 1 || basic->type_class == TypeClass::opaque) return 0;
  return (static_cast<std::uint32_t>(basic->type_class) + 1) << class_shift | basic->size;
}

}  // namespace

bool is_null(const Buffer& buffer) {
  constexpr std::uintptr_t first_page = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.address);
  const auto offset = static_cast<std::uintptr_t>(buffer.layout->blocks().front().offset);
  return address + offset < first_page;
}

Failure read_algorithm(MPI_Info info, Algorithm& algorithm) {
  algorithm = Algorithm::automatic;
  const std::optional<std::string> given = info_value(info, ORIEL_ALLTOALLV);
  if (!given) return {};
  std::string reason = "the info key oriel_alltoallv is \"" + *given + "\"; it takes";
  for (std::size_t at = 0; at < algorithms; ++at) {
    const auto named = static_cast<Algorithm>(at);
    if (*given == name_of(named)) {
      algorithm = named;
      return {};
    }
    reason += std::string(" ") + name_of(named);
  }
  return said(MPI_ERR_INFO_VALUE, std::move(reason));
}

Failure read_side(const AlltoallvSide& side, std::vector<Buffer>& buffers, std::uint32_t& kind) {
  if (side.missing) {
    return said(MPI_ERR_ARG, "an array is null: " + std::string(side.name) +
                                 ", or that of their displacements or datatypes");
  }
  if (is_noncontiguous(side.buffer)) return {MPI_ERR_BUFFER, noncontiguous_refused};
  const Datatypes::Known* common =
      side.types.empty() ? runtime.datatypes.find_committed(side.type) : nullptr;
  if (side.types.empty() && common == nullptr) return unknown_type(side.name);
  kind = common != nullptr ? kind_of(common->basic) : 0;
  buffers.resize(side.counts.size());
  std::uint64_t all = 0;
  for (std::size_t block = 0; block < buffers.size(); ++block) {
    if (side.counts[block] < 0) {
      return said(MPI_ERR_COUNT,
                  count_of(side, block) + " is " + std::to_string(side.counts[block]));
    }
    const Datatypes::Known* known = common;
    if (common == nullptr) {
      known = runtime.datatypes.find_committed(side.types[block]);
      // The type of a block without elements need not be valid.
      if (known == nullptr && side.counts[block] == 0)
        known = runtime.datatypes.find_committed(MPI_BYTE);
      if (known == nullptr) return unknown_type(count_of(side, block));
    }
    Buffer& buffer = buffers[block];
    buffer.layout = known->layout;
    buffer.count = static_cast<std::uint64_t>(side.counts[block]);
    const std::int64_t unit = common != nullptr ? known->layout->extent() : 1;
    std::uint64_t bytes = 0;
    std::int64_t offset = 0;
    // The displacement of an empty block is not used.
    if (buffer.count != 0 &&
        (__builtin_mul_overflow(buffer.count, known->layout->size(), &bytes) ||
         __builtin_mul_overflow(static_cast<std::int64_t>(side.displacements[block]), unit,
                                &offset) ||
         bytes > most_bytes - all)) {
      return said(MPI_ERR_COUNT, "the block of " + count_of(side, block) +
                                     " elements lies beyond what an address can say");
    }
    all += bytes;
    // The sum of numbers, not of pointers, because the buffer may be MPI_BOTTOM.
    buffer.address = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(side.buffer) +
                                             static_cast<std::uintptr_t>(offset));
    if (bytes != 0 && is_null(buffer)) {
      return said(MPI_ERR_BUFFER,
                  "the buffer of the block of " + count_of(side, block) + " elements is null");
    }
  }
  return {};
}

Failure check_overlap(const AlltoallvSide& side, const std::vector<Buffer>& receives) {
  const auto both = find_overlap(receives);
  if (!both) return {};
  return said(MPI_ERR_BUFFER, "the blocks of " + count_of(side, both->first) + " and " +
                                  count_of(side, both->second) + " elements overlap");
}

Failure read_buffers(const AlltoallvArguments& arguments, AlltoallvBuffers& buffers) {
  if (arguments.receive.buffer == MPI_IN_PLACE) {
    return {MPI_ERR_BUFFER, "MPI_IN_PLACE is not for the receive buffer"};
  }
  if (const Failure bad = read_side(arguments.receive, buffers.receives, buffers.receive_kind)) {
    return bad;
  }
  if (!arguments.in_place) return read_side(arguments.send, buffers.sends, buffers.send_kind);
  buffers.sends = buffers.receives;
  buffers.send_kind = buffers.receive_kind;
  return {};
}

MadeSchedule AlltoallvBuffers::schedule(int rank, bool in_place) const {
  return in_place ? alltoallw_in_place(rank, receives) : alltoallw(rank, sends, receives);
}

const char* kind_name(std::uint32_t kind) {
  switch (static_cast<TypeClass>((kind >> class_shift) - 1)) {
    case TypeClass::integer:
      return "integers";
    case TypeClass::floating:
      return "floating-point numbers";
    case TypeClass::logical:
      return "logical values";
    case TypeClass::complex:
      return "complex numbers";
    case TypeClass::pair:
      return "pairs";
    case TypeClass::byte:
    case TypeClass::opaque:
      break;
  }
  return "values";
}

std::uint32_t kind_bytes(std::uint32_t kind) {
  return kind & ((std::uint32_t{1} << class_shift) - 1);
}

}  // namespace oriel::mpi
