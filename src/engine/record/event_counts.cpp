// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/event_counts.hpp"

#include <cstddef>

namespace oriel {

void EventCounts::listen(Events& events) {
  if (events_ != nullptr) return;
  events_ = &events;
  earlier_waits_ = events.waits();
  events.add(*this);
}

void EventCounts::reset() {
  events_ = nullptr;
  counts_ = {};
  running_ = {};
}

EventCounts::Counts EventCounts::counts() const {
  Counts counts = counts_;
  const std::uint64_t now = events_ != nullptr ? events_->now() : 0;
  for (std::size_t i = 0; i < counts.waits.size(); ++i) {
    counts.waits[i].amount += running_[i] * now;
  }
  return counts;
}

void EventCounts::on(const Event& event, const EventSource& source) {
  if (source.hot_path) return;
  switch (event.kind) {
    case EventKind::epoch_opened:
    case EventKind::epoch_renewed:
      ++counts_.epochs[event.detail].times;
      break;
    case EventKind::epoch_deferred:
      ++counts_.deferred[event.detail].times;
      break;
    case EventKind::operation_issued:
      ++counts_.operations[event.flags].times;
      counts_.operations[event.flags].amount += event.number;
      break;
    case EventKind::wait_begun:
      ++running_[event.detail];
      counts_.waits[event.detail].amount -= event.time;
      break;
    case EventKind::wait_ended:
      if (event.number <= earlier_waits_) break;
      --running_[event.detail];
      ++counts_.waits[event.detail].times;
      counts_.waits[event.detail].amount += event.time;
      break;
    case EventKind::copy_chosen:
      ++counts_.copies[event.detail].times;
      break;
    case EventKind::detached_accessed:
      ++counts_.detached.times;
      break;
    default:
      break;
  }
}

}  // namespace oriel
