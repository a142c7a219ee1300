// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/notify/notification.hpp"

namespace oriel {

/// Receives the notifications of a window that the program takes.
class NotificationSink {
 public:
  NotificationSink() = default;
  /// By a request.
  virtual void matched(const Notification& notification) const = 0;
  /// The program has looked at a counter, or a request has: all that have added to it so far are
  /// taken. `after`: the value that it has from then on.
  virtual void counted(std::int32_t counter, std::uint64_t value, std::uint64_t after) const = 0;

 protected:
  NotificationSink(const NotificationSink&) = default;
  NotificationSink& operator=(const NotificationSink&) = default;
  ~NotificationSink() = default;
};

}  // namespace oriel
