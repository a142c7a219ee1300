// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "core/epoch/events.hpp"

namespace oriel::boundary {

/// Counts a process's events for `oriel run --info`, which adds up all processes' counts and prints
/// them at the end of the run.
class RunStatistics final : public EventSink {
 public:
  /// Counts, if `oriel run --info` has started this process.
  void start(Events& events);
  /// Leaves the counts in the folder of the run, with what the agent, the line keeper and the
  /// notification queues have counted. The engine exists, and the agent has stopped.
  void report();

  void epoch(const EventSource& source, EpochStep step, const Epoch& epoch) override;
  void issued(const EventSource& source, const Operation& operation, Protocol protocol) override;
  void wait_begun(const EventSource& source, Wait& wait) override;
  void wait_ended(const EventSource& source, const Wait& wait) override;
  void copy_chosen(const EventSource& source, CopyMethod method) override;

 private:
  struct Count {
    std::uint64_t times = 0;
    std::uint64_t amount = 0;  // bytes of operations, nanoseconds of waits
  };

  struct Counts {
    std::array<Count, protocol_count> operations;
    std::array<Count, wait_reasons> waits;
    std::array<Count, epoch_kinds> epochs;
    std::array<Count, epoch_kinds> deferred;  // of these
    std::array<Count, copy_methods> copies;
  };

  bool counting_ = false;
  Counts counts_;
};

}  // namespace oriel::boundary
