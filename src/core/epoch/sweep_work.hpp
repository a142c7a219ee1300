// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/work_list.hpp"

namespace oriel {

class SweepWork;
using WindowsAtWork = WorkList<SweepWork>;

/// Counts the things of one window that only a sweep can finish: an epoch that is deferred or
/// closed, a recorded operation, a lock that has been requested or comes after others (LockOrder).
/// While there are any, the process sweeps the window, which derives from its SweepWork.
class SweepWork : public WindowsAtWork::Listed {
 public:
  explicit SweepWork(WindowsAtWork& at_work) : at_work_(at_work) {}
  ~SweepWork() {
    if (things_ != 0) at_work_.remove(*this);
  }
  SweepWork(const SweepWork&) = delete;
  SweepWork& operator=(const SweepWork&) = delete;

  void add() {
    if (things_++ == 0) at_work_.add(*this);
  }
  void remove() {
    if (--things_ == 0) at_work_.remove(*this);
  }

 private:
  WindowsAtWork& at_work_;
  std::uint64_t things_ = 0;
};

}  // namespace oriel
