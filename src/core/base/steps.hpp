// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The numbers by which all loops and calls of the library are paced (docs/design/engine.md, *How
/// the engine waits*). One step is the time of the shortest call, a put to mapped memory: some six
/// nanoseconds. Times are rounded to powers of two, so that StepCount compares bits.
namespace steps {

inline constexpr std::uint64_t hot_call = 1;  // an operation or flush on its hot path
inline constexpr std::uint64_t sweep = 4;     // a sweep that does not poll the network
/// Any other call on a window; a sweep and a pause; a poll of a card's network, which reads memory.
inline constexpr std::uint64_t call = 16;
/// A poll of any other network or of the host; a yield if no other thread wants the processor.
inline constexpr std::uint64_t poll = 128;

/// Some 1.5 us: between two polls that may find something but are not asked for. They take at most
/// half of the time.
inline constexpr std::uint64_t poll_interval = 256;
/// Some 12 us: between two yields of a thread that spins. The awaited thread may share its
/// processor until the system moves one of them.
inline constexpr std::uint64_t yield_interval = 2048;
/// Some 50 us: between two times at which a thread advances the host and reads the clock, which
/// take a sixty-fourth of the time.
inline constexpr std::uint64_t host_interval = 8192;

inline constexpr std::uint64_t spins_per_yield = yield_interval / call;
inline constexpr std::uint64_t polls_per_host_interval = host_interval / poll;
inline constexpr std::uint64_t host_interval_time = 50'000;  // nanoseconds, for sleeps

}  // namespace steps

/// Counts steps. The high half of the count is free for another count of the owner.
class StepCount {
 public:
  /// Adds `steps`, whose low half is less than the shortest interval. Returns the bits of the count
  /// that have changed: among them is an interval's, each time the interval is over. When the low
  /// half overflows, after 2^32 steps, it adds 1 to the high half.
  constexpr std::uint64_t add(std::uint64_t steps) {
    const std::uint64_t before = count_;
    count_ = before + steps;
    return before ^ count_;
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

}  // namespace oriel
