// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The message of one rank to another one when a collective is made that no plan carries out: the
/// sizes of the blocks between the two, and members that are equal for all receivers.
struct Offer {
  std::uint64_t sends = 0;  // bytes to that rank
  std::uint64_t space = 0;  // space in bytes for the block from it
  std::int64_t offset = 0;  // byte in the receive window where its block belongs
  std::uint32_t send_kind = 0;
  std::uint32_t receive_kind = 0;
  std::uint64_t usable = 0;  // bits: windows that fit, or idle duplicates
  std::uint64_t idle = 0;    // bits: receive windows that no request uses
};
static_assert(std::is_trivially_copyable_v<Offer>);

/// The error class and the reason of a Failure.
struct Explanation {
  int error_class = MPI_SUCCESS;
  std::string reason;
};

/// The fault that the host has reported by this error code on this rank.
Explanation fault_of_host(int code, int rank);

/// All ranks call this. If any of them has a fault, all raise the same error.
int agree_on_fault(const char* call, MPI_Comm communicator, Explanation& fault);

/// The collective step in which the ranks exchange their offers. If the offers of any two ranks do
/// not match, all ranks raise the same error. Each rank's own arguments are valid, and all ranks
/// use the same algorithm: making a plan has checked both before.
int agree(const char* call, MPI_Comm communicator, int rank, const std::vector<Offer>& mine,
          std::vector<Offer>& theirs);

/// The reason of a Failure: what the sender sends is not what the receiver expects.
inline std::string mismatch(int sender, const std::string& sent, int receiver,
                            const std::string& expected) {
  return "rank " + std::to_string(sender) + " sends " + sent + " to rank " +
         std::to_string(receiver) + ", which expects " + expected;
}

}  // namespace oriel::mpi
