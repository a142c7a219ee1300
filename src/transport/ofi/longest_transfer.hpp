// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace oriel {

/// Most bytes that a direct transfer by this provider should have: what the provider takes, but
/// little over a TCP that sends at a pace of its own (BBR). Its estimate of the way is too low for
/// what queues up in a socket, and does not matter for what is on its way at once: 1 MB takes half
/// the time in such pieces. Any other TCP takes two thirds of the time where it gets much at once.
std::uint64_t longest_transfer(const fi_info& provider);

}  // namespace oriel
