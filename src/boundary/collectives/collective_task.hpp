// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/errors.hpp"

namespace oriel::boundary {

/// What a persistent collective does from its start to its end, by one of the algorithms. Under the
/// process lock, and without waiting, but for wait_in_host(); what is ours allocates nothing.
class CollectiveTask {
 public:
  CollectiveTask() = default;
  virtual ~CollectiveTask() = default;
  CollectiveTask(const CollectiveTask&) = delete;
  CollectiveTask& operator=(const CollectiveTask&) = delete;

  virtual Failure start() = 0;
  /// Whether what was started has come to its end. Carries on what no sweep does.
  virtual bool done() = 0;
  /// Of one that is done.
  virtual Failure outcome() const { return {}; }
  /// It was started, is not done, and nobody waits for it any more: it is not started again.
  virtual void abandon() = 0;
  /// Of one that has failed: what has gone wrong was that use's alone.
  virtual bool may_start_again() const { return false; }
  /// The request is freed.
  virtual void let_go() {}
  /// Waits for one that is the host's, in the host, which does it better; but not for so long that
  /// nobody asks for lost ranks. False: it is ours. Without the process lock.
  virtual bool wait_in_host() { return false; }
  /// A rank that it waits for and that has ended; -1: none.
  virtual int lost() = 0;
};

}  // namespace oriel::boundary
