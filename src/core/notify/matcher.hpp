// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/linked_list.hpp"
#include "core/base/pool.hpp"
#include "core/base/shared_words.hpp"
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

  bool count_match(const Notification& notification) {
    last_ = notification;
    return ++matched_ == expected_;
  }

  NotifyPattern pattern_;
  std::uint32_t expected_;
  std::uint32_t matched_ = 0;
  Notification last_;
  bool active_ = false;
  std::uint64_t started_ = 0;  // number of the start, for the order of requests
  Links<NotifyRequest> links_;
};

static_assert(sizeof(NotifyRequest) == cache_line);

/// Matches notifications with requests (N2, N3), for one window at its target. A notification goes
/// to the matching request that was started first. If no request matches, the notification is kept,
/// in order of arrival, without limit. A request that is started takes the oldest kept
/// notifications that match.
///
/// Exact matches take constant time, however many requests are active or notifications are kept:
/// both are in bins by (source, tag). A few requests need no bins: their patterns are in this
/// object, so that a notification costs two cache lines here, this one and the request's. Only a
/// wildcard of source or tag walks over the kept notifications, and a notification over the active
/// wildcards.
class alignas(cache_line) Matcher {
 public:
  // `sink`, if not null, receives each notification that a request takes.
  /// `request` is not active. True if kept notifications have completed it at once.
  bool start(NotifyRequest& request, const NotificationSink* sink = nullptr);
  /// Makes an active request inactive; it takes no more notifications.
  void stop(NotifyRequest& request);
  /// True if the notification has completed a request.
  bool arrive(const Notification& notification, const NotificationSink* sink = nullptr);
  /// The oldest kept notification that matches, or null; it stays kept.
  const Notification* find_kept(const NotifyPattern& pattern) const;

  /// The number of active requests.
  std::size_t active() const { return active_; }
  /// The number of kept notifications.
  std::size_t kept() const { return kept_; }

 private:
  /// Active requests in the order in which they were started.
  using RequestList = LinkedList<NotifyRequest, &NotifyRequest::links_>;

  /// A kept notification, in two lists: that of all and that of its bin. The oldest match of a
  /// pattern is always the first of a bin, because all notifications of a bin match the same
  /// patterns.
  struct Kept {
    Notification notification;
    Links<Kept> by_arrival;
    Kept* next_in_bin = nullptr;
    std::uint32_t pool_index = 0;
    std::uint32_t generation = 0;

    void reset() { next_in_bin = nullptr; }
  };
  using KeptList = LinkedList<Kept, &Kept::by_arrival>;
  /// The requests and kept notifications of one source and tag. A bin that becomes empty is
  /// released.
  struct Bin {
    NotifyPattern key;
    RequestList requests;
    Kept* first = nullptr;
    Kept* last = nullptr;
    Bin* next = nullptr;  // in the same bucket
    std::uint32_t pool_index = 0;
    std::uint32_t generation = 0;

    void reset() {
      requests = {};
      first = last = nullptr;
      next = nullptr;
    }
    bool empty() const { return requests.first() == nullptr && first == nullptr; }
  };

  static constexpr std::size_t few = 3;
  static constexpr std::size_t least_buckets = 16;

  NotifyRequest* first_match(const Notification& notification);
  void activate(NotifyRequest& request);
  void spread();
  void file(NotifyRequest& request);
  void keep(const Notification& notification);
  Kept* oldest(const NotifyPattern& pattern) const;
  static Kept* match_from(Kept* kept, const NotifyPattern& pattern);
  void let_go(Kept& kept);

  std::size_t bucket(const NotifyPattern& key) const;
  Bin* find_bin(const NotifyPattern& key) const;
  Bin& bin(const NotifyPattern& key);
  void drop_if_empty(Bin& bin);
  void grow();

  // The cache line that every arrival and every start reads.
  std::array<NotifyRequest*, few> few_{};  // in the order of their starts, if not spread_
  std::array<NotifyPattern, few> few_patterns_{};
  std::size_t kept_ = 0;
  std::uint32_t active_ = 0;
  bool spread_ = false;  // active requests are in bins and in wildcards_

  std::uint64_t starts_ = 0;
  RequestList wildcards_;
  std::size_t exact_ = 0;  // active requests in bins
  KeptList kept_by_arrival_;
  std::vector<Bin*> buckets_ = std::vector<Bin*>(least_buckets);  // size: a power of two
  std::size_t bins_ = 0;
  Pool<Kept> kept_pool_;
  Pool<Bin> bin_pool_;
};

}  // namespace oriel
