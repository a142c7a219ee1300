// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <utility>

#include "support/stress/self.hpp"

namespace stress {

/// Puts and gets of one thread's own lots, of which it knows what they hold.
class Transfers {
 public:
  explicit Transfers(Self& self) : self_(self) {}

  void any(Goal goal) { any(goal, self_.job.handle(goal, self_.random)); }
  void any(Goal goal, Handle by) {
    // A type that is gone before the operation is known to be complete, or one that all share.
    const int kind = self_.random.below(10);
    if (kind < 2) {
      Shape own = Shape::derived(self_.random);
      shaped(goal, by, own);
      own.release();
    } else if (kind < 5 && !self_.job.shapes().empty()) {
      const auto& shapes = self_.job.shapes();
      shaped(goal, by, shapes[self_.random.below(shapes.size())]);
    } else {
      const Shape bytes = Shape::plain(length(goal));
      transfer(goal, by, bytes, bytes, 1);
    }
  }

 private:
  struct Sides {
    const Shape& origin;
    const Shape& target;
  };

  MPI_Aint length(Goal goal) {
    Region& region = self_.job.region(goal.region);
    const int kind = self_.random.below(100);
    MPI_Aint most = 64;
    if (kind >= 60) most = 4096;
    if (kind >= 95) most = region.area.lot_bytes();
    const MPI_Aint units = 1 + self_.random.below(most / region.unit);
    return kind < 10 ? region.unit : units * region.unit;
  }
  /// One side of this shape at least.
  void shaped(Goal goal, Handle by, const Shape& shape) {
    const Shape words = Shape::words(shape.bytes);
    switch (self_.random.below(3)) {
      case 0:
        return transfer(goal, by, shape, shape, 4);
      case 1:
        return transfer(goal, by, shape, words, 4);
      default:
        return transfer(goal, by, words, shape, 4);
    }
  }
  void transfer(Goal goal, Handle by, const Shape& origin, const Shape& target,
                MPI_Aint alignment) {
    const Region& region = self_.job.region(goal.region);
    const MPI_Aint step = std::max<MPI_Aint>(alignment, region.unit);
    const MPI_Aint within =
        self_.random.below((region.area.lot_bytes() - target.extent) / step + 1) * step;
    Operation next;
    next.goal = goal;
    next.by = by;
    next.writes = self_.random.chance(55);
    next.at = region.area.lot(self_.job.rank(), self_.thread) + within;
    next.bytes = target.extent;
    if (self_.pending.in_the_way_of(next)) {
      if (!passive(self_.epoch(goal))) return;
      self_.flush(goal);
    }
    std::byte* lot = self_.job.lot(self_.thread, goal) + within;
    next.writes ? put(std::move(next), {origin, target}, lot)
                : get(std::move(next), {origin, target}, lot);
  }

  void put(Operation next, Sides sides, std::byte* lot) {
    Bytes payload(static_cast<std::size_t>(sides.target.bytes));
    const std::uint64_t seed = self_.random.next();
    for (std::size_t i = 0; i < payload.size(); ++i) {
      payload[i] = static_cast<std::byte>(seed * (2 * i + 1) >> 29);
    }
    sides.target.store(lot, payload);
    next.buffer = sides.origin.image(payload);
    issue_put(self_.pending.add(std::move(next)), sides);
  }
  void issue_put(Operation& made, Sides sides) {
    const auto& [origin, target] = sides;
    const int rank = made.goal.target;
    const MPI_Aint at = self_.displacement(made.goal, made.at);
    switch (manner(made.goal)) {
      case 0:
        MUST(MPI_Rput(made.buffer.data(), origin.count, origin.type, rank, at, target.count,
                      target.type, made.by.win, &made.request));
        break;
      case 1:
        made.told = true;
        MUST(remote_completion().Rrput(made.buffer.data(), origin.count, origin.type, rank, at,
                                       target.count, target.type, made.by.win, &made.request));
        break;
      default:
        MUST(MPI_Put(made.buffer.data(), origin.count, origin.type, rank, at, target.count,
                     target.type, made.by.win));
    }
  }

  void get(Operation next, Sides sides, const std::byte* lot) {
    next.buffer = Bytes(static_cast<std::size_t>(sides.origin.extent), std::byte{0xee});
    next.expected = sides.origin.image(sides.target.load(lot));
    issue_get(self_.pending.add(std::move(next)), sides);
  }
  void issue_get(Operation& made, Sides sides) {
    const auto& [origin, target] = sides;
    const int rank = made.goal.target;
    const MPI_Aint at = self_.displacement(made.goal, made.at);
    if (manner(made.goal) == 0) {
      MUST(MPI_Rget(made.buffer.data(), origin.count, origin.type, rank, at, target.count,
                    target.type, made.by.win, &made.request));
    } else {
      MUST(MPI_Get(made.buffer.data(), origin.count, origin.type, rank, at, target.count,
                   target.type, made.by.win));
    }
  }
  /// 0 and 1: with requests, which only passive epochs have.
  int manner(Goal goal) { return passive(self_.epoch(goal)) ? self_.random.below(6) : 2; }

  Self& self_;
};

}  // namespace stress
