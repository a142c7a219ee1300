// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/notify/counters.hpp"
#include "core/notify/matcher.hpp"
#include "core/notify/notification.hpp"

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
  /// Set while the counters are being replaced: it is not known yet which there are.
  void set_suspended(bool suspended) { suspended_ = suspended; }
  bool suspended() const { return suspended_; }
  /// Completes the requests for which end_of(counter, value) is not nullopt, with the error that it
  /// is, and returns their number.
  template <typename EndOf>
  std::size_t complete(EndOf&& end_of) {
    const std::size_t before = waiters_.size();
    for (std::size_t i = 0; i < waiters_.size();) {
      const Waiter waiter = waiters_[i];
      const std::optional<Error> end = end_of(waiter.counter, waiter.value);
      if (!end) {
        ++i;
        continue;
      }
      waiters_[i] = waiters_.back();
      waiters_.pop_back();
      waiter.completion->complete(*end);
    }
    return before - waiters_.size();
  }
  /// Completes the requests for values of up to `value`, which the counter has had, and returns
  /// their number.
  std::size_t complete_up_to(std::int32_t counter, std::uint64_t value) {
    return complete([&](std::int32_t of, std::uint64_t threshold) {
      return of == counter && threshold <= value ? std::optional(Error::none) : std::nullopt;
    });
  }

 private:
  struct Waiter {
    std::int32_t counter;
    std::uint64_t value;
    Completion* completion;
  };

  std::vector<Waiter> waiters_;
  bool suspended_ = false;
};

/// The number of requests of a process that wait for notifications. If there are any, calls that do
/// not wait look for notifications, too.
using Listeners = std::atomic<std::size_t>;

/// One thread at a time writes; other threads only compare with 0.
inline void listen_more(Listeners& listeners, std::size_t more) {
  listeners.store(listeners.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// A listener that is no request, such as a probe, for the lifetime of the object.
class Listening {
 public:
  explicit Listening(Listeners& listeners) : listeners_(listeners) { listen_more(listeners, 1); }
  ~Listening() { listen_more(listeners_, std::size_t(-1)); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Listeners& listeners_;
};

/// All that a window has for notified access at this rank: matcher, counters, thresholds. A window
/// without notifications pays for this object only.
class Notifications {
 public:
  /// `sink`: may be null.
  explicit Notifications(Listeners& listeners, const NotificationSink* sink = nullptr)
      : listeners_(listeners), sink_(sink) {}
  ~Notifications() {
    if (matcher_ != nullptr) listen_more(listeners_, -matcher_->active());
  }
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  /// `request` is not active. It lives until it is inactive again, or as long as the window.
  void start(NotifyRequest& request) {
    if (!matcher().start(request, sink_)) listen_more(listeners_, 1);
  }
  /// Makes an active request inactive; it takes no more notifications.
  void stop(NotifyRequest& request) {
    matcher().stop(request);
    listen_more(listeners_, std::size_t(-1));
  }
  void arrive(const Notification& notification) {
    if (matcher().arrive(notification, sink_)) listen_more(listeners_, std::size_t(-1));
  }
  /// The oldest kept notification that matches, or null; it stays kept.
  const Notification* find_kept(const NotifyPattern& pattern) {
    return matcher().find_kept(pattern);
  }

  /// The number of notifications that were read from the queue and that no request has taken.
  std::size_t kept() const { return matcher_ != nullptr ? matcher_->kept() : 0; }

  Counters& counters() { return counters_; }
  /// The program or a request has read a counter: all additions so far count as taken. `after`: the
  /// counter's value from then on.
  void count(std::int32_t counter, std::uint64_t value, std::uint64_t after) {
    if (sink_ == nullptr) return;
    const std::uint64_t known = std::exchange(known_[counter], after);
    if (value != known) sink_->counted(counter, value - known);  // programs poll counters
  }
  /// The requests that wait for values of our counters.
  Thresholds& thresholds() { return thresholds_; }
  /// Completes the requests of thresholds() whose counter has reached their value or no longer
  /// exists, and returns their number.
  std::size_t complete_thresholds() {
    if (thresholds_.suspended()) return 0;
    return thresholds_.complete(
        [this](std::int32_t counter, std::uint64_t threshold) -> std::optional<Error> {
          if (!counters_.mine(counter)) return Error::sync;
          const std::uint64_t value = counters_.mine_at(counter).value();
          if (value < threshold) return std::nullopt;
          count(counter, value, value);
          return Error::none;
        });
  }

 private:
  Matcher& matcher() {
    if (matcher_ == nullptr) [[unlikely]]
      matcher_ = std::make_unique<Matcher>();
    return *matcher_;
  }

  Listeners& listeners_;
  const NotificationSink* sink_;
  std::unique_ptr<Matcher> matcher_;
  Counters counters_;
  Thresholds thresholds_;
  // The value that each counter had after it was read, if there is a sink.
  std::unordered_map<std::int32_t, std::uint64_t> known_;
};

}  // namespace oriel
