// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/record/event_counts.hpp"

namespace oriel {

/// The counts of a process for `oriel run --info`, which adds up all processes' counts and prints
/// them at the end of the run.
class RunStatistics {
 public:
  /// Has the events counted, if `oriel run --info` has started this process.
  void start(Events& events, EventCounts& counts);
  /// Leaves the counts in the folder of the run, with what the agent, the line keeper and the
  /// notification queues have counted. The engine exists, and the agent has stopped.
  void report(const EventCounts& events);

 private:
  bool counting_ = false;
};

}  // namespace oriel
