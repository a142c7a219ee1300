// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// `TickClock` reads CLOCK_MONOTONIC by the time-stamp counter, in 10 ns; the vDSO's clock_gettime
/// takes 23 ns (Intel Xeon). It uses the counter only if the kernel uses it as its clock source,
/// because all processors then agree on it. Otherwise each reading is one of the system's clock.
/// One reader at a time.
class TickClock {
 public:
  void start();
  /// True if the clock uses the counter. Valid after start().
  bool counts() const { return counts_; }

  /// The time in nanoseconds, never less than an earlier result. It may differ from
  /// nanoseconds_now() by some ten nanoseconds.
  std::uint64_t now() {
    const std::uint64_t now = ticks();
    if (now - base_.ticks >= lasts_) [[unlikely]]
      return read_anew();
    return time_at(now);
  }

 private:
  friend class TickClockTest;

  /// The system's clock and the counter, read at one moment.
  struct Reading {
    std::uint64_t time = 0;
    std::uint64_t ticks = 0;
  };

#if defined(__x86_64__)
  static constexpr bool has_counter = true;
  static std::uint64_t ticks() { return __builtin_ia32_rdtsc(); }
#else
  static constexpr bool has_counter = false;
  static std::uint64_t ticks() { return 0; }
#endif

  std::uint64_t time_at(std::uint64_t ticks) const {
    return base_.time + ((ticks - base_.ticks) * rate_ >> 32);
  }
  /// The latest time that now() can have returned since the last reading.
  std::uint64_t latest() const { return time_at(base_.ticks + lasts_); }
  std::uint64_t read_anew();
  /// Uses a new reading, which also sets the rate for the next millisecond. Returns its time.
  std::uint64_t take(const Reading& reading);

  bool counts_ = false;
  Reading first_;            // the counter's rate is measured from here
  Reading last_;             // the latest
  Reading base_;             // now() counts from here; its time may be ahead of that of last_
  std::uint64_t lasts_ = 0;  // the number of ticks for which base_ is used
  std::uint64_t rate_ = 0;   // nanoseconds of 2^32 ticks
};

}  // namespace oriel
