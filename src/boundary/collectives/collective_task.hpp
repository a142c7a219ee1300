// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/errors.hpp"

namespace oriel::boundary {

/// Carries out a persistent collective from its start to its end, by one of the algorithms. All
/// calls but wait_in_host() are made with the process lock and do not wait. Oriel's own part
/// allocates no memory.
class CollectiveTask {
 public:
  CollectiveTask() = default;
  virtual ~CollectiveTask() = default;
  CollectiveTask(const CollectiveTask&) = delete;
  CollectiveTask& operator=(const CollectiveTask&) = delete;

  virtual Failure start() = 0;
  /// Returns whether the last use has ended. Also advances the parts of it that no sweep advances.
  virtual bool done() = 0;
  /// The result of the last use, once done() is true.
  virtual Failure outcome() const { return {}; }
  /// Called if no wait for the present use follows and the task is not started again.
  virtual void abandon() = 0;
  /// True if the failure of the last use concerns that use only.
  virtual bool may_start_again() const { return false; }
  /// Called when the request is freed.
  virtual void let_go() {}
  /// If the host carries out the collective: waits in the host, which waits more efficiently, but
  /// only for a limited time, so that the caller can check for lost ranks. False: Oriel carries it
  /// out. Without the process lock.
  virtual bool wait_in_host() { return false; }
  /// A rank that the present use waits for and that has ended; -1: none.
  virtual int lost() = 0;
};

}  // namespace oriel::boundary
