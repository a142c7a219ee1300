// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/notify/counters.hpp"

namespace oriel {

/// The requests that wait until a counter of this rank has reached a value (N8). Operations that
/// add to a counter do not know of them, so every sweep reads the counter of each request: one
/// cache line each.
class Thresholds {
 public:
  Thresholds() = default;
  /// Fails the requests that are left: their values cannot be reached any more.
  ~Thresholds() {
    for (const Waiter& waiter : waiters_) waiter.completion->complete(Error::sync);
  }
  Thresholds(const Thresholds&) = delete;
  Thresholds& operator=(const Thresholds&) = delete;

  bool empty() const { return waiters_.empty(); }
  void add(std::int32_t counter, std::uint64_t value, Completion& completion) {
    waiters_.push_back({counter, value, &completion});
  }
  /// While the counters are being replaced, look() checks nothing: it is not known yet which there
  /// are.
  void set_suspended(bool suspended) { suspended_ = suspended; }
  /// Completes the requests whose counter has reached their value or no longer exists, and returns
  /// their number. Calls reached(counter, value) for each of the former.
  template <typename Reached>
  std::size_t look(Counters& counters, Reached&& reached) {
    if (suspended_) return 0;
    return complete_where([&](const Waiter& waiter) {
      if (!counters.mine(waiter.counter)) return Verdict::gone;
      const std::uint64_t value = counters.mine_at(waiter.counter).value();
      if (value < waiter.value) return Verdict::waits;
      reached(waiter.counter, value);
      return Verdict::reached;
    });
  }
  /// Completes the requests for values of up to `value`, which the counter has had, and returns
  /// their number.
  std::size_t pass(std::int32_t counter, std::uint64_t value) {
    return complete_where([&](const Waiter& waiter) {
      const bool reached = waiter.counter == counter && waiter.value <= value;
      return reached ? Verdict::reached : Verdict::waits;
    });
  }

 private:
  struct Waiter {
    std::int32_t counter;
    std::uint64_t value;
    Completion* completion;
  };

  enum class Verdict : std::uint8_t { waits, reached, gone };

  template <typename Judge>
  std::size_t complete_where(Judge&& judge) {
    const std::size_t before = waiters_.size();
    for (std::size_t i = 0; i < waiters_.size();) {
      const Waiter waiter = waiters_[i];
      const Verdict verdict = judge(waiter);
      if (verdict == Verdict::waits) {
        ++i;
        continue;
      }
      waiters_[i] = waiters_.back();
      waiters_.pop_back();
      waiter.completion->complete(verdict == Verdict::gone ? Error::sync : Error::none);
    }
    return before - waiters_.size();
  }

  std::vector<Waiter> waiters_;
  bool suspended_ = false;
};

}  // namespace oriel
