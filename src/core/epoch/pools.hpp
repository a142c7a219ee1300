// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/pool.hpp"
#include "core/epoch/epoch.hpp"

namespace oriel {

/// What epochs are made of, for all windows of a process: nothing is allocated once it is warm.
struct EpochPools {
  Pool<Epoch> epochs;
  Pool<Target> targets;
  Pool<RecordedOperation> operations;
  Pool<FlushRequest> flush_requests;
  Pool<FlushWaiter> flush_waiters;
};

}  // namespace oriel
