// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/published.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/event.hpp"
#include "core/notify/notification.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"

namespace oriel {

/// The hot paths that report to a sink, on windows made from now on: none; locks; locks and
/// operations.
enum class HotPaths : std::uint8_t { unreported, locks, operations };

/// The source of an event. Valid while the event is reported.
struct EventSource {
  std::uint32_t window = 0;        // as Event::window
  int rank = -1;                   // of this process, in the window
  bool hot_path = false;           // reported only because a sink has asked for hot paths
  const Epoch* epoch = nullptr;    // of a step of an epoch, in its state before the step; of
                                   // granted and of a renewal, after it. That of a hot epoch does
                                   // not change
  const Target* target = nullptr;  // of granted and told
};

/// Receives the events of a process, under the lock that serializes its calls: all events of the
/// general path and of waits, and those of the hot paths that any sink has asked for.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  virtual void on(const Event& event, const EventSource& source) = 0;

 protected:
  ~EventSink() = default;

 private:
  friend class Events;
  EventSink* next_ = nullptr;
};

/// All events of a process go through this object. Without a sink, an event costs a branch.
class Events {
 public:
  using Clock = std::uint64_t (*)();

  /// The sink must outlive this object, and receives the events of one process only.
  void add(EventSink& sink, HotPaths hot_paths = HotPaths::unreported) {
    sink.next_ = first_.load();
    first_.store(&sink);
    hot_paths_ = std::max(hot_paths_, hot_paths);
  }
  /// The clock of the events, in nanoseconds of CLOCK_MONOTONIC. Without one, their time is 0.
  void set_clock(Clock clock) { clock_ = clock; }
  std::uint64_t now() const { return clock_ != nullptr ? clock_() : 0; }

  /// True if every lock reports the events of its epoch.
  bool all_locks() const { return hot_paths_ >= HotPaths::locks; }
  /// True if hot paths of operations hold the process's lock and are reported.
  bool all_operations() const { return hot_paths_ == HotPaths::operations; }

  /// True if there is a sink. Needs no lock.
  bool has_sink() const { return first_.load() != nullptr; }
  /// Passes the event to all sinks, with its window, and with the time if it has none.
  void report(Event event, const EventSource& source) const;

  // The waits of this process, on all its threads.
  /// Returns the number of the wait, from 1 on.
  std::uint64_t begin_wait() {
    ++waiting_;
    return ++waits_;
  }
  void end_wait() { --waiting_; }
  /// The number of waits that have begun.
  std::uint64_t waits() const { return waits_; }

  /// Called before the agent sweeps, and afterwards.
  void set_agent_sweeps(bool sweeps) { agent_sweeps_ = sweeps; }
  /// The agent, a wait or another call: the one in which this process serves other ranks now.
  ServedIn served_in() const {
    if (agent_sweeps_) return ServedIn::agent;
    return waiting_ != 0 ? ServedIn::wait : ServedIn::call;
  }

 private:
  Published<EventSink*> first_;
  Clock clock_ = nullptr;
  HotPaths hot_paths_ = HotPaths::unreported;
  bool agent_sweeps_ = false;
  std::uint64_t waits_ = 0;
  std::uint64_t waiting_ = 0;
};

/// The events of one window, or of no particular one.
class WindowEvents final : public NotificationSink {
 public:
  WindowEvents(Events& events, EventSource source) : events_(events), source_(source) {}

  std::uint32_t window() const { return source_.window; }
  bool all_locks() const { return events_.all_locks(); }
  bool all_operations() const { return events_.all_operations(); }

  void report(const Event& event) const {
    if (events_.has_sink()) [[unlikely]]
      events_.report(event, source_);
  }

  /// A step of an epoch, for the target if it is given, else for all its targets. EventKind::told
  /// comes before any step of another rank that follows from it; the table of events has the
  /// exceptions.
  void step(EventKind kind, const Epoch& epoch, const Target* target = nullptr) const {
    if (events_.has_sink()) [[unlikely]]
      report_step(kind, epoch, target);
  }
  /// A lock call acquired a free lock, whose epoch is thereby opened, activated and granted. Called
  /// only if a sink has asked for locks.
  void free_lock_acquired(const Epoch& epoch) const;
  /// The epoch of free_lock_acquired() ends, with nothing pending. An epoch in which an operation
  /// became pending reports its steps one by one instead.
  void free_lock_released(const Epoch& epoch) const;

  void issued(const Operation& operation, Protocol protocol) const {
    if (events_.has_sink()) [[unlikely]]
      report_issued(operation, protocol);
  }
  /// A recorded operation, or a question, is over for its caller.
  void done(const RecordedOperation& recorded) const {
    if (events_.has_sink()) [[unlikely]]
      report_done(recorded);
  }
  /// A hot path has carried out an operation. `issued`: its event, with the time of its begin.
  void carried_out(const Event& issued, const NotifyArg& notify_arg) const;

  void matched(const Notification& notification) const override;
  void counted(std::int32_t counter, std::uint64_t more) const override;
  void served(int origin) const {
    report({.rank = origin, .kind = EventKind::served, .detail = detail_of(events_.served_in())});
  }

  /// Returns the wait with its number.
  Wait begin_wait(const Wait& wait) const;
  void wait_lasts(const Wait& wait) const;
  void end_wait(const Wait& wait) const;

 private:
  void report_step(EventKind kind, const Epoch& epoch, const Target* target) const;
  void report_issued(const Operation& operation, Protocol protocol) const;
  void report_done(const RecordedOperation& recorded) const;

  Events& events_;
  EventSource source_;
};

}  // namespace oriel
