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

  void epoch(const EventSource& source, EpochStep step, const Epoch& epoch) override;
  void told(const EventSource& source, const Epoch& epoch, const Target& target) override;
  void free_lock_acquired(const EventSource& source, const Epoch& epoch) override;
  void free_lock_released(const EventSource& source, const Epoch& epoch) override;
  void issued(const EventSource& source, const Operation& operation, Protocol protocol) override;
  void done(const EventSource& source, const RecordedOperation& recorded) override;
  void wait_begun(const EventSource& source, Wait& wait) override;
  void wait_ended(const EventSource& source, const Wait& wait) override;
  void served(const EventSource& source, int origin) override;
  void queue_full(const EventSource& source, int target) override;
  void queue_freed(const EventSource& source, int target) override;
  void use_begun(const EventSource& source, const CollectiveUse& use) override;
  void use_over(const EventSource& source, const CollectiveUse& use) override;
  void copy_chosen(const EventSource& source, CopyMethod method) override;

 private:
  [[gnu::format(printf, 3, 4)]] void write(const EventSource& source, const char* format, ...);
  void write_use(const EventSource& source, const char* step, const CollectiveUse& use);

  int file_ = -1;
};

}  // namespace oriel
