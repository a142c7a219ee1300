// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/collective/schedules/made_schedule.hpp"

namespace oriel {

/// Sends a buffer to each rank and receives one from each, by rank; serves alltoall and alltoallv
/// too. Each rank sends to the next rank first, so that not all send to one rank at once.
MadeSchedule alltoallw(int rank, std::span<const Buffer> sends, std::span<const Buffer> receives);

/// As alltoallw(); the data sent to a rank are those that the buffer for the data from that rank
/// has at the start. They are copied before any data arrive.
MadeSchedule alltoallw_in_place(int rank, std::span<const Buffer> buffers);

}  // namespace oriel
