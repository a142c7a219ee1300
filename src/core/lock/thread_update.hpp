// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/asymmetric.hpp"
#include "core/lock/update.hpp"
#include "core/transport/thread_lines.hpp"

namespace oriel {

/// An update by a thread that does not hold its process's lock: of single elements, by CPU atomics,
/// while everybody updates so (see Update, whose ladder this one follows). It is announced in a
/// line of the thread's own, which stays in its cache whatever it updates, and which whoever wants
/// to be alone looks at:
///
///     thread                               changer (Update)
///     T1  updating = target's rank + 1     C1  updater = changing (compare-exchange)
///     T2  look at `updater`: everybody?    C2  fence of all peers
///     T3  update the window, or not        C3  each thread of each peer: wait while updating is
///     T4  updating = 0 (release)               this rank's number (acquire)
///
/// Invariant: as Update's. Never within an update having read anything but `everybody`: the right
/// to update alone is given to a process, and used with its lock. Numbers of two windows may be the
/// same; a changer then waits for an update that does not concern it, and that ends as soon.
template <typename Words>
class BasicThreadUpdate {
 public:
  BasicThreadUpdate(const BasicControlBlock<Words>& target, BasicThreadLine<Words>& thread,
                    const typename Words::Sharers& sharers)
      : updating_(thread.updating) {
    store_before_look<Words>(updating_, target.rank + 1, sharers.asymmetric());
    permitted_ = target.updater.load(std::memory_order_seq_cst) == BasicUpdate<Words>::everybody;
  }
  ~BasicThreadUpdate() { updating_.store(0, std::memory_order_release); }
  BasicThreadUpdate(const BasicThreadUpdate&) = delete;
  BasicThreadUpdate& operator=(const BasicThreadUpdate&) = delete;

  /// False: nothing may be updated; an Update with the process's lock is to be asked.
  bool permitted() const { return permitted_; }

 private:
  typename Words::template Atomic<std::uint32_t>& updating_;
  bool permitted_;
};

using ThreadUpdate = BasicThreadUpdate<SharedWords>;

}  // namespace oriel
