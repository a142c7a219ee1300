// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/collective/schedule.hpp"

namespace oriel::boundary {

/// Says of a schedule's buffers where peers can map them. Takes the process lock.
void find_places(Schedule& schedule);

}  // namespace oriel::boundary
