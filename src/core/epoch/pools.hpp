// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/pool.hpp"
#include "core/epoch/epoch.hpp"

namespace oriel {

/// The objects of epochs, for all windows of a process: once the pools have grown, nothing is
/// allocated.
struct EpochPools {
  Pool<Epoch> epochs;
  Pool<Target> targets;
  Pool<RecordedOperation> operations;
  Pool<FlushRequest> flush_requests;
  Pool<FlushWaiter> flush_waiters;
};

}  // namespace oriel
