// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/record/event_counts.hpp"

namespace oriel {

class Engine;

/// The counts of a process for `oriel run --info`, which adds up the counts of all processes and
/// prints them at the end of the run.
class RunStatistics {
 public:
  /// Starts counting if `oriel run --info` has started this process.
  void start(Events& events, EventCounts& counts);
  /// Writes the counts, with those of the agent, the line keeper and the notification queues, to a
  /// file in the run's folder. The engine must exist, and the agent must have stopped.
  void report(Engine& engine, const EventCounts& events);

 private:
  bool counting_ = false;
};

}  // namespace oriel
