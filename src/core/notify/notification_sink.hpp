// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/notify/notification.hpp"

namespace oriel {

/// Receives the notifications of a window that the program takes.
class NotificationSink {
 public:
  NotificationSink() = default;
  /// A request has taken the notification.
  virtual void matched(const Notification& notification) const = 0;
  /// The program or a request has read a counter, which has grown by `more` since it was read
  /// before.
  virtual void counted(std::int32_t counter, std::uint64_t more) const = 0;

 protected:
  NotificationSink(const NotificationSink&) = default;
  NotificationSink& operator=(const NotificationSink&) = default;
  ~NotificationSink() = default;
};

}  // namespace oriel
