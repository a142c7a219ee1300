// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/base/error.hpp"
#include "core/epoch/epoch.hpp"
#include "core/notify/notification.hpp"
#include "core/notify/notification_sink.hpp"
#include "core/operation/copy_method.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"

namespace oriel {

/// A window, by its number in this process, and our rank in it. Number 0: no particular window.
struct EventSource {
  std::uint32_t window = 0;
  int rank = -1;
};

enum class EpochStep : std::uint8_t {
  opened,
  deferred,  // not activated when it was opened
  activated,
  closed,
  completed,
  renewing,  // a fence epoch: one call closes, completes and reopens it
  renewed    // the renewal is complete
};
constexpr const char* name_of(EpochStep step) {
  constexpr const char* names[] = {"opened",    "deferred", "activated", "closed",
                                   "completed", "renewing", "renewed"};
  static_assert(std::size(names) == static_cast<int>(EpochStep::renewed) + 1);
  return names[static_cast<int>(step)];
}

/// One use of a persistent collective, from its start to its end. Both numbers are equal on all
/// ranks.
struct CollectiveUse {
  std::uint64_t collective;
  std::uint64_t use;
};

/// The reason why a call waits.
enum class WaitReason : std::uint8_t {
  lock,          // until a lock is held that the call must hold when it returns
  unlock,        // until operations are complete at the target
  fence,         // until all ranks have entered it
  complete,      // until targets are exposed and operations are complete
  exposure,      // until origins have completed
  flush,         // until operations are complete, or their buffers may be reused
  notification,  // until one has arrived
  request,       // until a request completes
  collective,    // for making or freeing a persistent collective
  window         // for making or freeing a window, or for a collective call on it
};
inline constexpr int wait_reasons = static_cast<int>(WaitReason::window) + 1;
constexpr const char* name_of(WaitReason reason) {
  constexpr const char* names[] = {"lock",  "unlock",       "fence",   "complete",   "exposure",
                                   "flush", "notification", "request", "collective", "window"};
  static_assert(std::size(names) == wait_reasons);
  return names[static_cast<int>(reason)];
}

/// An operation, and the time when it began or ended.
struct OperationEvent {
  OperationKind kind;
  int target;
  std::uint64_t bytes;
  Protocol protocol;
  NotifyArg notify_arg;
  std::uint32_t number;  // as Operation::number
  std::uint64_t time;    // in nanoseconds of CLOCK_MONOTONIC
};

/// A transfer of a persistent collective, in one use.
struct PlanTransfer {
  std::uint64_t collective;  // its number, equal on all ranks of the window
  int rank;                  // the peer
  bool sent;                 // true: to the peer; false: from the peer
  std::uint64_t bytes;       // for a receive: the space for them
  int step;                  // of the schedule
};

/// The hot paths that report to a sink, on windows made from now on: none; locks; locks and
/// operations.
enum class HotPaths : std::uint8_t { unreported, locks, operations };

struct Wait {
  WaitReason reason;
  int rank = -1;  // the awaited rank; -1: several, or any rank
  // Set by the EventSink that counts (`begun`) and the one that records (`number`), because waits
  // of several threads overlap.
  std::uint64_t begun = 0;
  std::uint64_t number = 0;
};

/// Receives the events of a process, under the lock that serializes its calls: those beyond the hot
/// paths, and those of the hot paths that it requests. A sink ignores events whose function it does
/// not override.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  /// Called before the epoch's state changes; for a renewal, after it.
  virtual void epoch(const EventSource&, EpochStep, const Epoch&) {}
  /// This rank tells the target next that the epoch is over, so the event comes before any step of
  /// another rank that follows from it. Exceptions: an exposure epoch, whose end the origin has
  /// told this rank; and a lock that the target has given back by itself, with a piggybacked
  /// operation.
  virtual void told(const EventSource&, const Epoch&, const Target&) {}
  /// Operations to a target of an access epoch may be carried out from now on: the target has
  /// posted, or its lock is held. If only a reply of the target shows that, not before its first
  /// reply.
  virtual void granted(const EventSource&, const Epoch&, const Target&) {}
  /// A lock call acquired a free lock. Reported only if a sink requests locks.
  virtual void free_lock_acquired(const EventSource&, const Epoch&) {}
  /// Such an epoch ends, with nothing pending. If anything became pending in it, it ends like any
  /// other epoch instead.
  virtual void free_lock_released(const EventSource&, const Epoch&) {}
  /// An operation of the general path has its protocol. The call carries it out, sends it, or
  /// records it; done() follows for a recorded operation.
  virtual void issued(const EventSource&, const Operation&, Protocol) {}
  /// A recorded operation, or a question, is over for its caller. Questions are not reported by
  /// issued().
  virtual void done(const EventSource&, const RecordedOperation&) {}
  /// A hot path has carried out an operation. The event has the time of its begin.
  virtual void carried_out(const EventSource&, const OperationEvent&) {}
  /// A request has taken a notification to this rank.
  virtual void matched(const EventSource&, const Notification&) {}
  /// A counter of this rank has been read. `after`: its value from then on.
  virtual void counted(const EventSource&, [[maybe_unused]] std::int32_t counter,
                       [[maybe_unused]] std::uint64_t value, [[maybe_unused]] std::uint64_t after) {
  }
  /// The step of a transfer has begun. Reported for sends only, because data may arrive from the
  /// beginning of the use on.
  virtual void transfer_begun(const EventSource&, const PlanTransfer&) {}
  virtual void transfer_ended(const EventSource&, const PlanTransfer&) {}
  /// The progress agent has moved something in a sweep. `begun`: its begin, in nanoseconds of
  /// CLOCK_MONOTONIC.
  virtual void agent_swept([[maybe_unused]] std::uint64_t begun) {}
  virtual void wait_begun(const EventSource&, Wait&) {}
  /// Reported some times a second during a long wait. If the wait is only for the call of one rank,
  /// Wait::rank is that rank.
  virtual void wait_lasts(const EventSource&, const Wait&) {}
  virtual void wait_ended(const EventSource&, const Wait&) {}
  /// A transfer of a persistent collective uses this method from now on.
  virtual void copy_chosen(const EventSource&, CopyMethod) {}
  /// This rank has taken messages of a remote origin: locks, operations, notifications, steps of a
  /// fence. Reported once for consecutive ones in a sweep.
  virtual void served(const EventSource&, int /*origin*/) {}
  /// From now on notifications to the target find no space in its queue (queue_full), or find space
  /// again (queue_freed).
  virtual void queue_full(const EventSource&, int /*target*/) {}
  virtual void queue_freed(const EventSource&, int /*target*/) {}
  virtual void use_begun(const EventSource&, const CollectiveUse&) {}
  virtual void use_over(const EventSource&, const CollectiveUse&) {}

 protected:
  ~EventSink() = default;

  // Report the single steps of the acquisition and the release of a free lock, for sinks that want
  // each step.
  void expand_acquisition(const EventSource& source, const Epoch& epoch) {
    this->epoch(source, EpochStep::opened, epoch);
    this->epoch(source, EpochStep::activated, epoch);
    granted(source, epoch, epoch.one);
  }
  void expand_release(const EventSource& source, const Epoch& epoch) {
    this->epoch(source, EpochStep::closed, epoch);
    told(source, epoch, epoch.one);
    this->epoch(source, EpochStep::completed, epoch);
  }

 private:
  friend class Events;
  EventSink* next_ = nullptr;
};

/// All events of a process go through this object. Usually there is no sink, which costs a branch.
class Events {
 public:
  /// The sink must outlive this object, and receives the events of one process only.
  void add(EventSink& sink, HotPaths hot_paths = HotPaths::unreported) {
    sink.next_ = first_;
    first_ = &sink;
    hot_paths_ = std::max(hot_paths_, hot_paths);
  }
  /// True if every lock reports the events of its epoch.
  bool all_locks() const { return hot_paths_ >= HotPaths::locks; }
  /// True if hot paths of operations hold the process's lock and are reported.
  bool all_operations() const { return hot_paths_ == HotPaths::operations; }

  bool heard() const { return first_ != nullptr; }
  /// Calls report(sink) for each sink.
  template <typename Report>
  void publish(Report&& report) const {
    for (EventSink* sink = first_; sink != nullptr; sink = sink->next_) [[unlikely]] {
      report(*sink);
    }
  }

 private:
  EventSink* first_ = nullptr;
  HotPaths hot_paths_ = HotPaths::unreported;
};

/// The events of one window, or of no particular one.
class WindowEvents final : public NotificationSink {
 public:
  WindowEvents(const Events& events, EventSource source) : events_(events), source_(source) {}

  std::uint32_t window() const { return source_.window; }
  bool all_locks() const { return events_.all_locks(); }
  bool all_operations() const { return events_.all_operations(); }

  void epoch(EpochStep step, const Epoch& epoch) const {
    events_.publish([&](EventSink& sink) { sink.epoch(source_, step, epoch); });
  }
  void told(const Epoch& epoch, const Target& target) const {
    events_.publish([&](EventSink& sink) { sink.told(source_, epoch, target); });
  }
  void granted(const Epoch& epoch, const Target& target) const {
    events_.publish([&](EventSink& sink) { sink.granted(source_, epoch, target); });
  }
  void free_lock_acquired(const Epoch& epoch) const {
    events_.publish([&](EventSink& sink) { sink.free_lock_acquired(source_, epoch); });
  }
  void free_lock_released(const Epoch& epoch) const {
    events_.publish([&](EventSink& sink) { sink.free_lock_released(source_, epoch); });
  }
  void issued(const Operation& operation, Protocol protocol) const {
    events_.publish([&](EventSink& sink) { sink.issued(source_, operation, protocol); });
  }
  void done(const RecordedOperation& recorded) const {
    events_.publish([&](EventSink& sink) { sink.done(source_, recorded); });
  }
  void carried_out(const OperationEvent& operation) const {
    events_.publish([&](EventSink& sink) { sink.carried_out(source_, operation); });
  }
  void matched(const Notification& notification) const override {
    events_.publish([&](EventSink& sink) { sink.matched(source_, notification); });
  }
  void counted(std::int32_t counter, std::uint64_t value, std::uint64_t after) const override {
    events_.publish([&](EventSink& sink) { sink.counted(source_, counter, value, after); });
  }
  void transfer_begun(const PlanTransfer& transfer) const {
    events_.publish([&](EventSink& sink) { sink.transfer_begun(source_, transfer); });
  }
  void transfer_ended(const PlanTransfer& transfer) const {
    events_.publish([&](EventSink& sink) { sink.transfer_ended(source_, transfer); });
  }
  void wait_begun(Wait& wait) const {
    events_.publish([&](EventSink& sink) { sink.wait_begun(source_, wait); });
  }
  void wait_lasts(const Wait& wait) const {
    events_.publish([&](EventSink& sink) { sink.wait_lasts(source_, wait); });
  }
  void wait_ended(const Wait& wait) const {
    events_.publish([&](EventSink& sink) { sink.wait_ended(source_, wait); });
  }
  void copy_chosen(CopyMethod method) const {
    events_.publish([&](EventSink& sink) { sink.copy_chosen(source_, method); });
  }
  void served(int origin) const {
    events_.publish([&](EventSink& sink) { sink.served(source_, origin); });
  }
  void queue_full(int target) const {
    events_.publish([&](EventSink& sink) { sink.queue_full(source_, target); });
  }
  void queue_freed(int target) const {
    events_.publish([&](EventSink& sink) { sink.queue_freed(source_, target); });
  }
  void use_begun(const CollectiveUse& use) const {
    events_.publish([&](EventSink& sink) { sink.use_begun(source_, use); });
  }
  void use_over(const CollectiveUse& use) const {
    events_.publish([&](EventSink& sink) { sink.use_over(source_, use); });
  }

 private:
  const Events& events_;
  EventSource source_;
};

}  // namespace oriel
