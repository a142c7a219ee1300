// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_endpoint.h>

namespace awkward {

/// Puts our functions in the place of those that begin fetching atomics.
void play_atomics(fid_ep& endpoint);

}  // namespace awkward
