// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "engine/tuning/exchange_times.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// Returns whether the info has the key ORIEL_ALLTOALLV.
bool names_algorithm(MPI_Info info);
/// Reads the value of the key ORIEL_ALLTOALLV; automatic if the info does not have the key.
Failure read_algorithm(MPI_Info info, Algorithm& algorithm);
/// Reads the number of times that the program will start the request, from the key
/// ORIEL_ALLTOALLV_STARTS; none if the info does not have the key.
Failure read_starts(MPI_Info info, std::optional<std::uint64_t>& starts);

/// True if a plan may carry out the collective. For `automatic` that is decided when the plan is
/// made.
constexpr bool by_plan(Algorithm algorithm) {
  return algorithm == Algorithm::automatic || algorithm == Algorithm::notified ||
         algorithm == Algorithm::notified_hierarchy;
}
/// True if the algorithm puts into a window on the receive buffers (ReceiveWindow).
constexpr bool needs_window(Algorithm algorithm) {
  return algorithm == Algorithm::fence || algorithm == Algorithm::fence_hierarchy ||
         algorithm == Algorithm::lock || algorithm == Algorithm::lock_hierarchy;
}
/// True if each rank holds a lock of its own part of that window except during a round.
constexpr bool locks(Algorithm algorithm) {
  return algorithm == Algorithm::lock || algorithm == Algorithm::lock_hierarchy;
}
/// True if puts to other nodes are issued before puts on the node.
constexpr bool far_first(Algorithm algorithm) {
  return algorithm == Algorithm::fence_hierarchy || algorithm == Algorithm::lock_hierarchy;
}

}  // namespace oriel::mpi
