// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// What one rank tells another one when a collective is made that no plan carries out: how much
/// goes from the one to the other and back, and what it tells all.
struct Offer {
  std::uint64_t sends = 0;  // bytes to that rank
  std::uint64_t space = 0;  // bytes for what comes from it
  std::int64_t place = 0;   // where in the receive window
  std::uint32_t send_kind = 0;
  std::uint32_t receive_kind = 0;
  std::uint64_t usable = 0;  // by bits, windows or duplicates of the communicator that would serve
  std::uint64_t idle = 0;    // windows that nobody uses
};
static_assert(std::is_trivially_copyable_v<Offer>);

/// What is wrong on this rank, as an error class and the second half of a sentence.
struct OwnFault {
  int error_class = MPI_SUCCESS;
  std::string reason;
};

/// What the host has told with this code on this rank.
OwnFault fault_of_host(int code, int rank);

/// All ranks come here: where anything is wrong on any of them, all raise the same.
int agree_on_fault(const char* call, MPI_Comm communicator, OwnFault& fault);

/// The collective step in which all ranks learn what they need of each other, and whether anything
/// is wrong between any two of them: then all raise the same. Their arguments are right by
/// themselves, and all want the same algorithm: that is known since a plan was made.
int agree(const char* call, MPI_Comm communicator, int rank, const std::vector<Offer>& mine,
          std::vector<Offer>& theirs);

}  // namespace oriel::boundary
