// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/cache_line.hpp"
#include "core/base/pool.hpp"
#include "core/notify/notification.hpp"
#include "core/notify/notification_sink.hpp"
#include "core/notify/notify_request.hpp"

namespace oriel {

/// Active requests in the order of their starts.
class RequestList {
 public:
  NotifyRequest* first() const { return first_; }
  void append(NotifyRequest& request);
  void remove(NotifyRequest& request);

 private:
  NotifyRequest* first_ = nullptr;
  NotifyRequest* last_ = nullptr;
};

/// Brings notifications and requests together (N2, N3): of one window at its target. A notification
/// goes to the matching request that was started first; what no request takes is kept, in order of
/// arrival, without limit. A request takes the oldest that match.
///
/// Exact matches take constant time, however many requests are active or notifications are kept:
/// both lie in bins by (source, tag). A few requests need no bins: their patterns stand in this
/// object, so that a notification costs two cache lines here, this one and the request's. A
/// wildcard of source or tag alone walks over what was kept, or over the active wildcards.
class alignas(cache_line) Matcher {
 public:
  Matcher();
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // `sink`, if there is one, receives each notification that a request takes.
  /// The request is not active. True: it is complete at once.
  bool start(NotifyRequest& request, const NotificationSink* sink = nullptr);
  /// An active request takes nothing any more.
  void stop(NotifyRequest& request);
  /// True: it has completed a request.
  bool arrive(const Notification& notification, const NotificationSink* sink = nullptr);
  /// The oldest that is kept and matches, or null; it stays.
  const Notification* find(const NotifyPattern& pattern) const;

  /// Requests that wait.
  std::size_t active() const { return active_; }
  /// Notifications that nobody has taken.
  std::size_t kept() const { return kept_; }

 private:
  /// One that nobody has asked for, in two lists: all of them, and those of its bin. Whoever takes
  /// the oldest that matches takes the first of a bin: matching is the same for all in one.
  struct Kept {
    Notification notification;
    Kept* previous = nullptr;
    Kept* next = nullptr;
    Kept* next_in_bin = nullptr;
    std::uint32_t pool_index = 0;
    std::uint32_t generation = 0;

    void reset() { previous = next = next_in_bin = nullptr; }
  };
  /// What has one source and tag. Empty ones do not stay.
  struct Bin {
    NotifyPattern key;
    RequestList requests;
    Kept* first = nullptr;
    Kept* last = nullptr;
    Bin* next = nullptr;  // in its bucket
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
  void deactivate(NotifyRequest& request);
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

  // The line that every arrival and every start looks at.
  std::array<NotifyRequest*, few> few_{};  // in order of their starts, while they are few
  std::array<NotifyPattern, few> few_patterns_{};
  std::size_t kept_ = 0;
  std::uint32_t active_ = 0;
  bool spread_ = false;  // active requests lie in bins and among the wildcards

  std::uint64_t starts_ = 0;
  RequestList wildcards_;
  std::size_t exact_ = 0;   // active requests in bins
  Kept* oldest_ = nullptr;  // of all that are kept
  Kept* newest_ = nullptr;
  std::vector<Bin*> buckets_;  // a power of two
  std::size_t bins_ = 0;
  Pool<Kept> kept_pool_;
  Pool<Bin> bin_pool_;
};

}  // namespace oriel
