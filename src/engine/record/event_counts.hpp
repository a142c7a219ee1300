// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "core/epoch/activation.hpp"
#include "core/epoch/events.hpp"
#include "core/operation/protocol.hpp"

namespace oriel {

/// Counts the events of a process: operations of the general path, epochs, waits. There is one
/// object for all readers of the counts. With the process lock.
class EventCounts final : public EventSink {
 public:
  struct Count {
    std::uint64_t times = 0;
    std::uint64_t amount = 0;  // bytes of operations, nanoseconds of waits
  };
  struct Counts {
    std::array<Count, protocol_count> operations;
    std::array<Count, wait_reasons> waits;
    std::array<Count, epoch_kinds> epochs;
    std::array<Count, epoch_kinds> deferred;  // of `epochs`: those that were deferred
    std::array<Count, copy_methods> copies;
    Count detached;  // operations on detached memory
  };

  /// Starts counting, unless it has started. An engine never stops reporting to a sink.
  void listen(Events& events);
  /// Called when the engine has ended: the next engine's counts start from 0.
  void reset();
  /// The counts. They include the time so far of waits that have not ended, so that a reader within
  /// a wait can separate the time before a call from the time after it.
  Counts counts() const;

  void on(const Event& event, const EventSource& source) override;

 private:
  const Events* events_ = nullptr;   // null: not listening
  std::uint64_t earlier_waits_ = 0;  // had begun before counting started
  // Amount of a wait reason: the sum of the ends less the sum of the beginnings, modulo 2^64.
  Counts counts_;
  std::array<std::uint64_t, wait_reasons> running_{};  // waits that have not ended
};

}  // namespace oriel
