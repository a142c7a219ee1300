// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// How the bytes of a persistent collective move: the values of ORIEL_ALLTOALLV.
enum class Algorithm : std::uint32_t {
  automatic,
  notified,
  notified_hierarchy,
  fence,
  fence_hierarchy,
  lock,
  lock_hierarchy,
  two_sided
};

/// Whether the info has the key.
bool names_algorithm(MPI_Info info);
/// Its value, or automatic if it has none.
Failure read_algorithm(MPI_Info info, Algorithm& algorithm);
/// How often the program says that it will start the request; none: it does not say.
Failure read_starts(MPI_Info info, std::optional<std::uint64_t>& starts);

/// Whether a plan carries it out, perhaps; else something else does.
constexpr bool by_plan(Algorithm algorithm) {
  return algorithm == Algorithm::automatic || algorithm == Algorithm::notified ||
         algorithm == Algorithm::notified_hierarchy;
}
/// Whether it puts into a window on the receive buffers.
constexpr bool needs_window(Algorithm algorithm) {
  return algorithm == Algorithm::fence || algorithm == Algorithm::fence_hierarchy ||
         algorithm == Algorithm::lock || algorithm == Algorithm::lock_hierarchy;
}
/// Whether each rank locks its own part of that window while it may touch it.
constexpr bool locks(Algorithm algorithm) {
  return algorithm == Algorithm::lock || algorithm == Algorithm::lock_hierarchy;
}
/// Whether other nodes come first.
constexpr bool far_first(Algorithm algorithm) {
  return algorithm == Algorithm::fence_hierarchy || algorithm == Algorithm::lock_hierarchy;
}

}  // namespace oriel::boundary
