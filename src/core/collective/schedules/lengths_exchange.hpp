// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/schedules/block_lengths.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// Distributes the block lengths that a gathered exchange needs: a gathered exchange of one number
/// for each block, through the ranks that will handle the block. Used once.
class LengthsExchange {
 public:
  /// `sends`: by rank.
  LengthsExchange(const NodeMap& node_map, std::span<const Buffer> sends, const Limits& limits);

  const Schedule& schedule() const { return made_.schedule; }
  /// The lengths, after the use of its plan is over.
  BlockLengths lengths() const;

 private:
  std::vector<BlockLengths::Word> to_;
  std::vector<BlockLengths::Word> from_;
  MadeSchedule made_;
};

}  // namespace oriel
