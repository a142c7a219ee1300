// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <atomic>

namespace support {

/// Threads that start together and go on until each has seen others at work in the middle of its
/// own steps: what they do at a time they really do at a time, however busy the machine is.
class Overlap {
 public:
  /// `least` steps each, and more until each has been overlapped so often.
  Overlap(int count, long least, int often) : threads_(count), least_(least), often_(often) {}

  /// One thread's part: step() again and again. Returns how often.
  template <class Step>
  long run(Step&& step) {
    for (++arrived_; arrived_.load() < threads_;) sched_yield();
    long mine = 0;
    int overlapped = 0;
    while (mine < least_ || satisfied_.load() < threads_) {
      const long before = steps_.load();
      step();
      ++mine;
      if (steps_.fetch_add(1) != before && ++overlapped == often_) ++satisfied_;
    }
    return mine;
  }
  /// Of all threads, when they are through.
  long steps() const { return steps_.load(); }

 private:
  const int threads_;
  const long least_;
  const int often_;
  std::atomic<int> arrived_{0};
  std::atomic<int> satisfied_{0};
  std::atomic<long> steps_{0};
};

}  // namespace support
