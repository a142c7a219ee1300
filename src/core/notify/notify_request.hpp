// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/notify/notification.hpp"

namespace oriel {

/// Which notifications somebody asks for.
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

/// A request for so many notifications that match (paper section III-B). It is active from start to
/// completion, or until it is stopped. What a test looks at fits into one cache line.
class alignas(cache_line) NotifyRequest {
 public:
  NotifyRequest(NotifyPattern pattern, std::uint32_t expected)
      : pattern_(pattern), expected_(expected) {}

  const NotifyPattern& pattern() const { return pattern_; }
  std::uint32_t expected() const { return expected_; }
  bool active() const { return active_; }
  /// Of the last start: all that were expected have come.
  bool complete() const { return matched_ == expected_; }
  /// The last one taken.
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
  std::uint64_t started_ = 0;  // number of the start, to know who was first
  NotifyRequest* previous_ = nullptr;
  NotifyRequest* next_ = nullptr;
};

static_assert(sizeof(NotifyRequest) == cache_line);

}  // namespace oriel
