// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iterator>

#include "core/base/error.hpp"
#include "core/epoch/epoch.hpp"
#include "core/operation/copy_method.hpp"

namespace oriel {

/// A window, by this process's number of it, and our rank in it. Number 0: no window in particular.
struct EventSource {
  std::uint32_t window = 0;
  int rank = -1;
};

enum class EpochStep : std::uint8_t {
  opened,
  deferred,  // not activated in its opening
  activated,
  closed,
  completed,
  renewed  // a fence epoch: closed, completed and opened again by one call
};
constexpr const char* name_of(EpochStep step) {
  constexpr const char* names[] = {"opened", "deferred",  "activated",
                                   "closed", "completed", "renewed"};
  static_assert(std::size(names) == static_cast<int>(EpochStep::renewed) + 1);
  return names[static_cast<int>(step)];
}

/// The reason for which a call waits.
enum class WaitReason : std::uint8_t {
  lock,          // until a lock is held that the call must hold when it returns
  unlock,        // until operations are complete at the target
  fence,         // until all ranks have entered it
  complete,      // until targets are exposed and operations are complete
  exposure,      // until origins have completed
  flush,         // until operations are complete, or their buffers may be reused
  notification,  // until one has arrived
  request,       // until a request is complete
  collective,    // in the making or the freeing of a persistent collective
  window         // in the freeing of a window, or in a collective call on it
};
inline constexpr int wait_reasons = static_cast<int>(WaitReason::window) + 1;
constexpr const char* name_of(WaitReason reason) {
  constexpr const char* names[] = {"lock",  "unlock",       "fence",   "complete",   "exposure",
                                   "flush", "notification", "request", "collective", "window"};
  static_assert(std::size(names) == wait_reasons);
  return names[static_cast<int>(reason)];
}

struct Wait {
  WaitReason reason;
  int rank = -1;            // the one waited for; -1: several, or anyone
  std::uint64_t begun = 0;  // a sink's own: threads' waits overlap
};

/// Is told what a process does beyond the hot paths, under the lock that serializes its calls.
/// A sink ignores the events whose function it does not override.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  /// Before the epoch's state changes; of a renewal, after it.
  virtual void epoch(const EventSource&, EpochStep, const Epoch&) {}
  /// This rank has told the target that the epoch is over; in an exposure epoch, the origin has
  /// told this rank.
  virtual void told(const EventSource&, const Epoch&, const Target&) {}
  /// An operation of the general path has its protocol. The call carries it out, sends it, or
  /// records it; for a recorded one done() follows.
  virtual void issued(const EventSource&, const Operation&, Protocol) {}
  /// A recorded operation is over for its caller. Also a question, which is never issued.
  virtual void done(const EventSource&, const RecordedOperation&) {}
  virtual void wait_begun(const EventSource&, Wait&) {}
  virtual void wait_ended(const EventSource&, const Wait&) {}
  /// From now on a transfer of a persistent collective is copied so.
  virtual void copy_chosen(const EventSource&, CopyMethod) {}

 protected:
  ~EventSink() = default;

 private:
  friend class Events;
  EventSink* next_ = nullptr;
};

/// The one place where a process tells its events: to nobody, usually, which costs a branch.
class Events {
 public:
  /// The sink outlives us, and is told by one process alone.
  void add(EventSink& sink) {
    sink.next_ = first_;
    first_ = &sink;
  }

  bool heard() const { return first_ != nullptr; }
  /// Calls tell(sink) for each sink.
  template <typename Tell>
  void publish(Tell&& tell) const {
    for (EventSink* sink = first_; sink != nullptr; sink = sink->next_) [[unlikely]] {
      tell(*sink);
    }
  }

 private:
  EventSink* first_ = nullptr;
};

/// The events of one window, or of none in particular.
class WindowEvents {
 public:
  WindowEvents(const Events& events, EventSource source) : events_(events), source_(source) {}

  void epoch(EpochStep step, const Epoch& epoch) const {
    events_.publish([&](EventSink& sink) { sink.epoch(source_, step, epoch); });
  }
  void told(const Epoch& epoch, const Target& target) const {
    events_.publish([&](EventSink& sink) { sink.told(source_, epoch, target); });
  }
  void issued(const Operation& operation, Protocol protocol) const {
    events_.publish([&](EventSink& sink) { sink.issued(source_, operation, protocol); });
  }
  void done(const RecordedOperation& recorded) const {
    events_.publish([&](EventSink& sink) { sink.done(source_, recorded); });
  }
  void wait_begun(Wait& wait) const {
    events_.publish([&](EventSink& sink) { sink.wait_begun(source_, wait); });
  }
  void wait_ended(const Wait& wait) const {
    events_.publish([&](EventSink& sink) { sink.wait_ended(source_, wait); });
  }
  void copy_chosen(CopyMethod method) const {
    events_.publish([&](EventSink& sink) { sink.copy_chosen(source_, method); });
  }

 private:
  const Events& events_;
  EventSource source_;
};

}  // namespace oriel
