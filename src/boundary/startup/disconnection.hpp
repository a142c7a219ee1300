// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

// The steps before the host's MPI_Finalize. In the host's MPI_Finalize no sweep serves other
// nodes, or empties the queue of notifications that ranks of the node fill: it must not begin while
// another rank still has operations for this one.

/// Waits until all ranks of each window that the program has not freed have come here, and sweeps
/// meanwhile. Ranks that have ended are not waited for.
void await_other_ranks();
/// Waits until the packets of this process have left, some seconds at most.
void await_last_packets();

}  // namespace oriel::boundary
