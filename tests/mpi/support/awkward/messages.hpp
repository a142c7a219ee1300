// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_endpoint.h>

namespace awkward {

/// Puts our functions in the place of those that send and receive.
void play_messages(fid_ep& endpoint);

}  // namespace awkward
