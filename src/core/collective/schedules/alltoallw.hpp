// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/collective/schedules/made_schedule.hpp"

namespace oriel {

/// A buffer to each rank and one from each, by rank: alltoall and alltoallv as well. Each rank
/// begins with the one behind it, so that they do not all send to the same one.
MadeSchedule alltoallw(int rank, std::span<const Buffer> sends, std::span<const Buffer> receives);

/// What is sent to a rank is what the buffer for what comes from it holds at the start, of which a
/// copy is made then.
MadeSchedule alltoallw_in_place(int rank, std::span<const Buffer> buffers);

}  // namespace oriel
