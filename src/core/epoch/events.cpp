// SPDX-License-Identifier: BSD-3-Clause
#include "core/epoch/events.hpp"

#include <initializer_list>

namespace oriel {
namespace {

/// Equal on all ranks, because they make the same calls. A fence epoch has the number of the call
/// that closes or renews it, or else of the call that opened it.
std::uint64_t number_of(const Epoch& epoch) {
  if (epoch.kind != EpochKind::fence) return epoch.opened_at;
  return epoch.closing_call != 0 ? epoch.closing_call : epoch.call;
}

bool has_operations(const Target& target) {
  return target.issued != 0 || target.used.load();
}

bool has_operations(const Epoch& epoch) {
  for (const Target& target : epoch) {
    if (has_operations(target)) return true;
  }
  return false;
}

Event event_of(EventKind kind, const Epoch& epoch, int rank, bool used) {
  Event event{
      .number = number_of(epoch), .rank = rank, .kind = kind, .detail = detail_of(epoch.kind)};
  if (used) event.flags |= event_flag::used;
  if (epoch.exclusive) event.flags |= event_flag::exclusive;
  return event;
}

Event step_of(EventKind kind, const Epoch& epoch) {
  const bool one = epoch.targets != nullptr && epoch.targets->next == nullptr;
  const bool ends = kind == EventKind::epoch_closed || kind == EventKind::epoch_renewing;
  return event_of(kind, epoch, one ? epoch.targets->rank : -1, ends && has_operations(epoch));
}

Event step_of(EventKind kind, const Epoch& epoch, const Target& target) {
  Event event =
      event_of(kind, epoch, target.rank, kind == EventKind::told && has_operations(target));
  event.id = static_cast<std::uint32_t>(target.id);
  return event;
}

Event event_of(EventKind kind, const Operation& operation, Protocol protocol) {
  return {.number = operation.bytes(),
          .rank = operation.target,
          .id = operation.number,
          .kind = kind,
          .detail = detail_of(operation.kind),
          .flags = static_cast<std::uint16_t>(protocol)};
}

Event event_of(EventKind kind, int rank, const NotifyArg& notify_arg) {
  return {.number = notify_arg.bytes,
          .rank = rank,
          .id = static_cast<std::uint32_t>(notify_arg.number),
          .kind = kind,
          .detail = detail_of(notify_arg.kind)};
}

Event event_of(EventKind kind, const Wait& wait) {
  return {.number = wait.number, .rank = wait.rank, .kind = kind, .detail = detail_of(wait.reason)};
}

/// The operation, and the notification that it requests, at one time.
void report_operation(const Events& events, const EventSource& source, const Event& issued,
                      const NotifyArg& notify_arg) {
  events.report(issued, source);
  if (!notify_arg.wanted()) return;
  Event sent = event_of(EventKind::notification_sent, issued.rank, notify_arg);
  sent.time = issued.time;
  events.report(sent, source);
}

/// The steps have one time: reading the clock takes longer than recording an event.
void report_free_lock(const Events& events, EventSource source, const Epoch& epoch,
                      std::initializer_list<Event> steps) {
  source.hot_path = true;
  source.epoch = &epoch;
  const std::uint64_t time = events.now();
  for (Event step : steps) {
    step.time = time;
    events.report(step, source);
  }
}

}  // namespace

void Events::report(Event event, const EventSource& source) const {
  event.window = source.window;
  if (event.time == 0) event.time = now();
  for (EventSink* sink = first_.load(); sink != nullptr; sink = sink->next_)
    sink->on(event, source);
}

void WindowEvents::report_step(EventKind kind, const Epoch& epoch, const Target* target) const {
  EventSource source = source_;
  source.epoch = &epoch;
  source.target = target;
  events_.report(target == nullptr ? step_of(kind, epoch) : step_of(kind, epoch, *target), source);
}

void WindowEvents::free_lock_acquired(const Epoch& epoch) const {
  report_free_lock(
      events_, source_, epoch,
      {step_of(EventKind::epoch_opened, epoch), step_of(EventKind::epoch_activated, epoch),
       step_of(EventKind::granted, epoch, epoch.one)});
}

void WindowEvents::free_lock_released(const Epoch& epoch) const {
  report_free_lock(
      events_, source_, epoch,
      {step_of(EventKind::epoch_closed, epoch), step_of(EventKind::told, epoch, epoch.one),
       step_of(EventKind::epoch_completed, epoch)});
}

void WindowEvents::report_issued(const Operation& operation, Protocol protocol) const {
  Event issued = event_of(EventKind::operation_issued, operation, protocol);
  issued.time = events_.now();
  report_operation(events_, source_, issued, operation.notify_arg);
}

void WindowEvents::report_done(const RecordedOperation& recorded) const {
  const Operation& operation = recorded.operation;
  const bool question = operation.kind == OperationKind::acknowledge;
  const std::uint16_t failed = recorded.error != Error::none ? event_flag::failed : 0;
  // MPI_Wait does not know for which window it waits.
  if (question || operation.completion != nullptr) {
    events_.report({.rank = operation.target,
                    .kind = EventKind::answered,
                    .detail = detail_of(operation.kind),
                    .flags = failed},
                   source_);
  }
  if (question) return;  // not an operation of the program
  Event done = event_of(EventKind::operation_done, operation, recorded.protocol);
  done.flags |= failed;
  events_.report(done, source_);
}

void WindowEvents::carried_out(const Event& issued, const NotifyArg& notify_arg) const {
  constexpr std::uint64_t long_one = std::uint64_t{16} * 1024;  // takes a microsecond
  EventSource source = source_;
  source.hot_path = true;
  report_operation(events_, source, issued, notify_arg);
  if (issued.number < long_one) return;
  Event done = issued;
  done.kind = EventKind::operation_done;
  done.time = 0;
  events_.report(done, source);
}

void WindowEvents::matched(const Notification& notification) const {
  report(event_of(EventKind::notification_matched, notification.source,
                  {NotifyKind::tag, notification.tag, notification.bytes}));
}

void WindowEvents::counted(std::int32_t counter, std::uint64_t more) const {
  report(event_of(EventKind::notification_counted, -1, {NotifyKind::counter, counter, more}));
}

Wait WindowEvents::begin_wait(const Wait& wait) const {
  Wait begun = wait;
  begun.number = events_.begin_wait();
  report(event_of(EventKind::wait_begun, begun));
  return begun;
}

void WindowEvents::wait_lasts(const Wait& wait) const {
  report(event_of(EventKind::wait_lasts, wait));
}

void WindowEvents::end_wait(const Wait& wait) const {
  events_.end_wait();
  report(event_of(EventKind::wait_ended, wait));
}

}  // namespace oriel
