// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

#include "core/epoch/events.hpp"
#include "engine/record/event_counts.hpp"
#include "engine/record/recorder.hpp"

namespace oriel {

class Engine;

/// The folder in which `oriel run` collects the reports of a run's processes; null: there is none.
/// The variable is not a setting: only `oriel run` sets it. A privileged program ignores it,
/// because it must not create files at a path from the environment.
inline const char* run_folder() {
  return ::secure_getenv("ORIEL_LOAD_REPORT");
}

/// Writes a line per event to the file that ORIEL_TRACE names, to which all processes of a node
/// append; for debugging Oriel. Each line is written when its event is reported, so that the file
/// shows where a run has stopped.
class TraceFile final : public EventSink {
 public:
  /// Opens the file, if ORIEL_TRACE is set, and receives events from then on. Reports a file that
  /// cannot be opened on standard error, once.
  void start(Events& events);
  void stop();

  void on(const Event& event, const EventSource& source) override;

 private:
  int file_ = -1;
};

/// The sinks of an engine that count, record and trace the events of its process. With the process
/// lock.
class Records {
 public:
  EventCounts counts;
  Recorder recorder;

  /// Called when the engine has started. find_own_rank() is called if the process is recorded.
  void start(Engine& engine, WorldRank (*find_own_rank)());
  /// Called before the engine stops, when its agent has stopped. If `oriel run --info` has started
  /// this process, writes its counts, with those of the agent, the line keeper and the notification
  /// queues, to a file in the run's folder. The command adds up the counts of all processes.
  void stop(Engine& engine);
  /// Called in the child of a fork: only the parent has records.
  void disown();

 private:
  void write_statistics(Engine& engine) const;

  TraceFile trace_file_;
  bool writes_statistics_ = false;
};

}  // namespace oriel
