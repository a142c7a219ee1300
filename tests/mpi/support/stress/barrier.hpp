// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <mutex>

namespace stress {

/// Where threads wait for one another. They sleep: where ranks have more threads than processors,
/// those of std::barrier, which look again and again, take the time of those that work.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}

  void wait() {
    std::unique_lock held(mutex_);
    const long round = round_;
    if (++here_ == threads_) {
      here_ = 0;
      ++round_;
      all_here_.notify_all();
    }
    all_here_.wait(held, [&] { return round_ != round; });
  }

 private:
  const int threads_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  int here_ = 0;
  long round_ = 0;
};

}  // namespace stress
