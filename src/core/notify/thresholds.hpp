// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/notify/counters.hpp"

namespace oriel {

/// Who waits until a counter of ours has reached a value (N8). Those who add to a counter do not
/// know who waits for it, so every sweep looks at the counter of each waiter: a cache line each.
class Thresholds {
 public:
  Thresholds() = default;
  /// None of them is going to be reached.
  ~Thresholds() {
    for (const Waiter& waiter : waiters_) waiter.completion->complete(Error::sync);
  }
  Thresholds(const Thresholds&) = delete;
  Thresholds& operator=(const Thresholds&) = delete;

  bool empty() const { return waiters_.empty(); }
  void add(std::int32_t counter, std::uint64_t value, Completion& completion) {
    waiters_.push_back({counter, value, &completion});
  }
  /// The counters are being replaced: which ones there are is not known until that is over.
  void set_suspended(bool suspended) { suspended_ = suspended; }
  /// Tells those whose counter has come so far, or is gone; how many. Calls reached(counter, value)
  /// for each of the first.
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
  /// Tells those who wait for no more than this value, which the counter has had; how many.
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
