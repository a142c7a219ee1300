// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/region/region.hpp"
#include "core/remote/fence_count.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"

namespace oriel {

/// The ranks that have not entered a closing fence between nodes, for the stall report.
///
/// A rank that waits for long reads which mapped ranks have not entered (ControlBlock::entered),
/// and queries the origins of the steps that it lacks for others. An origin that has not entered
/// reports itself. One that has entered lacks an earlier step, and reports the ranks that were
/// reported to it for its own earlier steps. So a report travels from the late rank along the
/// steps that wait for it. It does not travel in a circle, because a rank passes on only reports
/// that it received for steps above the queried one. If several ranks are late, a rank may learn of
/// some of them only.
class LateRanks {
 public:
  LateRanks(Region& region, Sender& sender, FenceCount& count)
      : region_(region), sender_(sender), count_(count) {}

  /// Appends the late ranks of FenceCount::call() that are known, and queries for others.
  void find(std::vector<int>& late);

  bool receive_query(const Message& message);
  bool receive_report(const Message& message, std::span<const std::byte> payload);

 private:
  /// The answer of the origin of a step: the ranks for which the step waits.
  struct Report {
    std::uint64_t call = 0;  // the call of FenceCount
    bool queried = false;    // an answer is to come
    std::vector<int> late;   // remote ranks
  };
  // The ranks of one report, and of one answer.
  static constexpr std::size_t most_late = 64;

  void add(std::uint64_t call, unsigned first_step, std::vector<int>& late);
  void query(unsigned step);

  Region& region_;
  Sender& sender_;
  FenceCount& count_;
  std::vector<Report> reports_;  // by step; empty before the first long wait
};

}  // namespace oriel
