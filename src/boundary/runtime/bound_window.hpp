// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "boundary/host/host.hpp"
#include "boundary/info/window_info.hpp"
#include "core/window.hpp"

namespace oriel::boundary {

/// A window that we carry. The host's handle belongs to an empty window of the host, which keeps
/// name, user attributes and error handler (HostWindows); everything else is here.
struct BoundWindow {
  MPI_Win handle = MPI_WIN_NULL;
  Window* core = nullptr;  // owned by the Process
  MPI_Group group = MPI_GROUP_NULL;

  // What the predefined attributes point to.
  void* base = nullptr;
  MPI_Aint size = 0;
  int disp_unit = 1;
  int flavor = 0;
  int model = MPI_WIN_UNIFIED;
  int suggested_counters = 0;
  int most_counters = 0;
  MPI_Count largest_count = std::numeric_limits<std::int64_t>::max();

  WindowInfo info;
  /// So many times more it does not matter that a rank has ended: see quiesce().
  mutable int forgiven_looks = 0;
};

inline bool valid_rank(const BoundWindow& window, int rank) {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(window.core->ranks());
}

}  // namespace oriel::boundary
