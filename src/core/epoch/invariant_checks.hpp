// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "core/epoch/events.hpp"

namespace oriel {

/// Ends the program with a sentence when an event contradicts invariant 3 or 6 of
/// docs/design/README.md: counters never run ahead, and an epoch completes once. Debug builds and
/// simulated jobs have one for each process.
class InvariantChecks final : public EventSink {
 public:
  void epoch(const EventSource& source, EpochStep step, const Epoch& epoch) override;
  void told(const EventSource& source, const Epoch& epoch, const Target& target) override;

 private:
  using Pair = std::pair<std::uint32_t, int>;  // a window, and a rank of it

  // Begun so far, of each pair: what the numbers of the two ranks may be at most.
  std::map<Pair, std::uint64_t> accesses_;
  std::map<Pair, std::uint64_t> exposures_;
};

}  // namespace oriel
