// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

// What a rank does for ranks of other nodes before MPI ends. Nobody sweeps in the host's
// MPI_Finalize: it must not begin while another rank still has operations for this one.

/// Waits until all ranks of each window with remote ranks that the program has not freed have come
/// here, and serves them meanwhile. Ranks that have ended are not waited for.
void await_other_ranks();
/// Waits until the packets of this process have left, some seconds at most.
void await_last_packets();

}  // namespace oriel::boundary
