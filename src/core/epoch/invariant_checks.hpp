// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "core/epoch/events.hpp"

namespace oriel {

/// Ends the program with a message when an event contradicts invariant 6 of docs/design/README.md,
/// an epoch completes once, or the part of invariant 3, counters never run ahead, that one rank can
/// check: a target is told once, with none of its operations pending, of an access or exposure that
/// has begun. Used in processes of debug builds and of simulated jobs.
class InvariantChecks final : public EventSink {
 public:
  void on(const Event& event, const EventSource& source) override;

 private:
  using Pair = std::pair<std::uint32_t, int>;  // a window, and a rank of it

  void check_told(const EventSource& source, const Epoch& epoch, const Target& target);

  // For each pair, how many have begun so far: upper bounds of the numbers between the two ranks.
  std::map<Pair, std::uint64_t> accesses_;
  std::map<Pair, std::uint64_t> exposures_;
};

}  // namespace oriel
