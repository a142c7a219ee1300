// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/event_counts.hpp"

#include <cstddef>
#include <utility>

#include "transport/shm/clock.hpp"

namespace oriel {

void EventCounts::listen(Events& events) {
  if (!std::exchange(listening_, true)) events.add(*this);
}

void EventCounts::reset() {
  listening_ = false;
  counts_ = {};
  running_ = {};
}

EventCounts::Counts EventCounts::counts() const {
  Counts counts = counts_;
  const std::uint64_t now = nanoseconds_now();
  for (std::size_t i = 0; i < counts.waits.size(); ++i) {
    counts.waits[i].amount += running_[i] * now;
  }
  return counts;
}

void EventCounts::epoch(const EventSource&, EpochStep step, const Epoch& epoch) {
  const auto kind = static_cast<std::size_t>(epoch.kind);
  if (step == EpochStep::opened || step == EpochStep::renewed) ++counts_.epochs[kind].times;
  if (step == EpochStep::deferred) ++counts_.deferred[kind].times;
}

void EventCounts::issued(const EventSource&, const Operation& operation, Protocol protocol) {
  Count& count = counts_.operations[static_cast<std::size_t>(protocol)];
  ++count.times;
  count.amount += operation.bytes();
}

void EventCounts::wait_begun(const EventSource&, Wait& wait) {
  wait.begun = nanoseconds_now();
  const auto reason = static_cast<std::size_t>(wait.reason);
  ++running_[reason];
  counts_.waits[reason].amount -= wait.begun;
}

void EventCounts::wait_ended(const EventSource&, const Wait& wait) {
  if (wait.begun == 0) return;  // it began before counting started
  const auto reason = static_cast<std::size_t>(wait.reason);
  --running_[reason];
  ++counts_.waits[reason].times;
  counts_.waits[reason].amount += nanoseconds_now();
}

void EventCounts::copy_chosen(const EventSource&, CopyMethod method) {
  ++counts_.copies[static_cast<std::size_t>(method)].times;
}

}  // namespace oriel
