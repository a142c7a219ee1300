// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/notify/counters.hpp"
#include "core/notify/matcher.hpp"
#include "core/notify/notification_sink.hpp"
#include "core/notify/thresholds.hpp"

namespace oriel {

/// So many requests of a process wait for notifications: somebody has to look for them.
using Listeners = std::atomic<std::size_t>;

/// One writer at a time; others only ask whether there are any.
inline void listen_more(Listeners& listeners, std::size_t more) {
  listeners.store(listeners.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Somebody else who waits for one, as long as this lives.
class Listening {
 public:
  explicit Listening(Listeners& listeners) : listeners_(listeners) { listen_more(listeners, 1); }
  ~Listening() { listen_more(listeners_, std::size_t(-1)); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Listeners& listeners_;
};

/// What a window's rank has been told by notified operations, and who waits for it. Costs a window
/// that nobody notifies nothing but this object.
class Notifications {
 public:
  /// `sink`: null: nobody is told.
  explicit Notifications(Listeners& listeners, const NotificationSink* sink = nullptr)
      : listeners_(listeners), sink_(sink) {}
  ~Notifications() {
    if (matcher_ != nullptr) listen(-matcher_->active());
  }
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  /// The request is not active, and outlives its activity or the window.
  void start(NotifyRequest& request) {
    if (!matcher().start(request, sink_)) listen(1);
  }
  /// An active request takes nothing any more.
  void stop(NotifyRequest& request) {
    matcher().stop(request);
    listen(std::size_t(-1));
  }
  void arrive(const Notification& notification) {
    if (matcher().arrive(notification, sink_)) listen(std::size_t(-1));
  }
  /// The oldest that no request has taken and that matches, or null; it stays.
  const Notification* find(const NotifyPattern& pattern) { return matcher().find(pattern); }

  /// Notifications that have been taken from the queue and that no request has matched.
  std::size_t kept() const { return matcher_ != nullptr ? matcher_->kept() : 0; }

  Counters& counters() { return counters_; }
  /// See NotificationSink.
  void count(std::int32_t counter, std::uint64_t value, std::uint64_t after) const {
    if (sink_ != nullptr) sink_->counted(counter, value, after);
  }
  /// Who waits for ours.
  Thresholds& thresholds() { return thresholds_; }
  /// How many of these have got what they wait for.
  std::size_t look_at_counters() {
    return thresholds_.look(counters_, [this](std::int32_t counter, std::uint64_t value) {
      count(counter, value, value);
    });
  }

 private:
  Matcher& matcher() {
    if (matcher_ == nullptr) [[unlikely]]
      matcher_ = std::make_unique<Matcher>();
    return *matcher_;
  }
  void listen(std::size_t more) { listen_more(listeners_, more); }

  Listeners& listeners_;
  const NotificationSink* sink_;
  std::unique_ptr<Matcher> matcher_;
  Counters counters_;
  Thresholds thresholds_;
};

}  // namespace oriel
