// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/collective/schedule.hpp"
#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/collectives/receive_windows.hpp"

namespace oriel::mpi {

/// Makes a task by puts into a window on the receive buffers. `theirs`: the other ranks' offers,
/// with the offsets in their windows for this rank's blocks; `far_first`: puts to other nodes are
/// issued before puts on the node.
std::unique_ptr<CollectiveTask> make_window_collective(std::shared_ptr<CollectiveState> state,
                                                       ReceiveWindow& window, Schedule schedule,
                                                       const ReceiveArea& area,
                                                       const std::vector<Offer>& theirs,
                                                       bool far_first);

}  // namespace oriel::mpi
