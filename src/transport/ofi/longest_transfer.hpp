// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace oriel {

/// The maximal bytes of a direct transfer by this provider: as many as it accepts, but fewer over a
/// TCP with pacing (BBR). BBR's estimate of the bandwidth is too low if much data queues in a
/// socket, and has no effect on data that is sent at once: 1 MB in such pieces takes half the time.
/// Any other TCP takes two thirds of the time if it gets much data at once.
std::uint64_t longest_transfer(const fi_info& provider);

}  // namespace oriel
