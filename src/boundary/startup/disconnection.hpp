// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

// The steps before the host's MPI_Finalize. Within the host's MPI_Finalize no sweep serves other
// nodes, or empties the notification queue that ranks of the node fill: it must not begin while
// another rank still has operations for this one.

/// Waits, sweeping, until all ranks of each window that the program has not freed have called it.
/// Does not wait for ranks that have ended.
void await_other_ranks();
/// Waits until all packets of this process have been sent, some seconds at most.
void await_last_packets();

}  // namespace oriel::boundary
