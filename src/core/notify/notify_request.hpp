// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/notify/notification.hpp"

namespace oriel {

/// The source and tag of the notifications that a request or probe matches.
struct NotifyPattern {
  static constexpr std::int32_t any = -1;

  std::int32_t source = any;
  std::int32_t tag = any;

  bool exact() const { return source != any && tag != any; }
  bool matches(const Notification& notification) const {
    return (source == any || source == notification.source) &&
           (tag == any || tag == notification.tag);
  }
};

/// A request for a number of matching notifications (paper section III-B). It is active from its
/// start until it completes or is stopped. The members that a test reads are in one cache line.
class alignas(cache_line) NotifyRequest {
 public:
  NotifyRequest(NotifyPattern pattern, std::uint32_t expected)
      : pattern_(pattern), expected_(expected) {}

  const NotifyPattern& pattern() const { return pattern_; }
  std::uint32_t expected() const { return expected_; }
  bool active() const { return active_; }
  /// True if all notifications that the last start expected have arrived.
  bool complete() const { return matched_ == expected_; }
  /// The notification that was taken last.
  const Notification& last() const { return last_; }

 private:
  friend class Matcher;
  friend class RequestList;

  bool take(const Notification& notification) {
    last_ = notification;
    return ++matched_ == expected_;
  }

  NotifyPattern pattern_;
  std::uint32_t expected_;
  std::uint32_t matched_ = 0;
  Notification last_;
  bool active_ = false;
  std::uint64_t started_ = 0;  // number of the start, for the order of requests
  NotifyRequest* previous_ = nullptr;
  NotifyRequest* next_ = nullptr;
};

static_assert(sizeof(NotifyRequest) == cache_line);

}  // namespace oriel
