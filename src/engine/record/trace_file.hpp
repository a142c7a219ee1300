// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/epoch/events.hpp"

namespace oriel {

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

}  // namespace oriel
