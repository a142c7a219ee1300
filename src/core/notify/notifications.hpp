// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/notify/counters.hpp"
#include "core/notify/matcher.hpp"
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
  explicit Notifications(Listeners& listeners) : listeners_(listeners) {}
  ~Notifications() {
    if (matcher_ != nullptr) listen(-matcher_->active());
  }
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  /// The request is not active, and outlives its activity or the window.
  void start(NotifyRequest& request) {
    if (!matcher().start(request)) listen(1);
  }
  /// An active request takes nothing any more.
  void stop(NotifyRequest& request) {
    matcher().stop(request);
    listen(std::size_t(-1));
  }
  void arrive(const Notification& notification) {
    if (matcher().arrive(notification)) listen(std::size_t(-1));
  }
  /// The oldest that no request has taken and that matches, or null; it stays.
  const Notification* find(const NotifyPattern& pattern) { return matcher().find(pattern); }

  Counters& counters() { return counters_; }
  /// Who waits for ours.
  Thresholds& thresholds() { return thresholds_; }

 private:
  Matcher& matcher() {
    if (matcher_ == nullptr) [[unlikely]]
      matcher_ = std::make_unique<Matcher>();
    return *matcher_;
  }
  void listen(std::size_t more) { listen_more(listeners_, more); }

  Listeners& listeners_;
  std::unique_ptr<Matcher> matcher_;
  Counters counters_;
  Thresholds thresholds_;
};

}  // namespace oriel
