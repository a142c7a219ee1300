// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/agreement.hpp"

#include <array>
#include <string>

#include "engine/host/error_report.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/mpi_host.hpp"

namespace oriel::mpi {
namespace {

std::string described(std::uint32_t kind) {
  return std::to_string(kind_bytes(kind)) + "-byte " + kind_name(kind);
}

/// Only the receiver checks, so that one of two ranks that do not match reports the fault.
Explanation fault_between(int sender, const Offer& offer, int rank, const Offer& own) {
  if (offer.sends > own.space) {
    return {MPI_ERR_TRUNCATE, mismatch(sender, std::to_string(offer.sends) + " bytes", rank,
                                       std::to_string(own.space))};
  }
  if (offer.sends != 0 && offer.send_kind != own.receive_kind && offer.send_kind != 0 &&
      own.receive_kind != 0) {
    return {MPI_ERR_TYPE,
            mismatch(sender, described(offer.send_kind), rank, described(own.receive_kind))};
  }
  return {};
}

Explanation find_fault(int rank, const std::vector<Offer>& mine, const std::vector<Offer>& theirs) {
  for (std::size_t sender = 0; sender < theirs.size(); ++sender) {
    Explanation fault = fault_between(static_cast<int>(sender), theirs[sender], rank, mine[sender]);
    if (fault.error_class != MPI_SUCCESS) return fault;
  }
  return {};
}

}  // namespace

Explanation fault_of_host(int code, int rank) {
  Explanation fault{MPI_ERR_OTHER, {}};
  host_mpi().Error_class(code, &fault.error_class);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  host_mpi().Error_string(code, text.data(), &length);
  fault.reason = "the MPI library's own collective on rank " + std::to_string(rank) + ": " +
                 std::string(text.data());
  return fault;
}

int agree_on_fault(const char* call, MPI_Comm communicator, Explanation& fault) {
  // Error classes are positive, so the largest is MPI_SUCCESS only if no rank has a fault.
  MpiComm comm(communicator);
  std::array word{static_cast<std::uint64_t>(fault.error_class)};
  int code = comm.allreduce(word, HostOp::max);
  const int largest = static_cast<int>(word[0]);
  if (code != MPI_SUCCESS || largest == MPI_SUCCESS) return code;
  int reporting_rank = 0;
  code = find_reporting_rank(comm, fault.error_class == largest, reporting_rank);
  if (code != MPI_SUCCESS) return code;
  code = share_report(comm, reporting_rank, fault.reason);
  if (code != MPI_SUCCESS) return code;
  return raise(communicator, call, largest, fault.reason);
}

int agree(const char* call, MPI_Comm communicator, int rank, const std::vector<Offer>& mine,
          std::vector<Offer>& theirs) {
  theirs.resize(mine.size());
  if (const int code = MpiComm(communicator).alltoall(mine.data(), sizeof(Offer), theirs.data());
      code != MPI_SUCCESS) {
    return code;
  }
  Explanation fault = find_fault(rank, mine, theirs);
  return agree_on_fault(call, communicator, fault);
}

}  // namespace oriel::mpi
