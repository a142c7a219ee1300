// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/collective/own_op.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// Bytes of a buffer in a row, by their number as they travel: all of them, or some.
struct Stretch : Buffer {
  Stretch() = default;
  Stretch(const Buffer& whole) : Buffer(whole) {}
  Stretch(const Buffer& whole, std::uint64_t from, std::uint64_t how_many)
      : Buffer(whole), first(from), bytes(how_many) {}

  std::uint64_t first = 0;
  std::uint64_t bytes = ~std::uint64_t{0};  // as many as there are, if there are fewer
};

/// What one rank does in a persistent collective: what it sends and receives, and what it copies
/// itself. Its k-th send to a rank is what that rank receives as its k-th from here, so both list
/// them in the same order, those of no bytes too, but for the last ones. There may be fewer bytes
/// than the receiver has space for, and none, but a send of its own for each receive of some.
///
/// Steps order what depends on one another: when a step begins, its copies are made, then its
/// combinations, then its sends begin (in step 0 the sends go first); the next step begins when all
/// receives up to this one have arrived. Receives may arrive from the start on, whatever their
/// step, so nothing else may touch their memory before they have; but copies of the step
/// `before_all` are made before anything can arrive.
struct Schedule {
  static constexpr int before_all = -1;

  struct Send {
    int to = 0;  // rank; not our own
    Stretch from;
    int step = 0;
  };
  struct Receive {
    int from = 0;  // rank; not our own
    Stretch into;
    int step = 0;
  };
  struct Copy {
    Stretch from;
    Stretch into;
    int step = 0;
  };
  /// into[i] = into[i] op from[i], of so many elements in a row; by an own op from[i] op into[i],
  /// which is what MPI's functions do.
  struct Combination {
    const void* from = nullptr;
    void* into = nullptr;
    std::uint64_t count = 0;
    Reduction reduction;
    int step = 0;
  };

  std::vector<Send> sends;                // by step
  std::vector<Receive> receives;          // those from one rank in the order in which it sends them
  std::vector<Copy> copies;               // by step
  std::vector<Combination> combinations;  // by step
  /// Carries out all combinations, instead of their reductions.
  std::shared_ptr<OwnOp> own_op;
  /// What comes from a rank may wait for others, because ranks hand on what they have got: a use
  /// that is under way fails where any rank has ended, not only those that we hear from.
  bool needs_all = false;
  /// Some ranks only send, and wait for nobody: they may be several uses ahead of the others.
  bool one_way = false;

  int last_step() const {
    int last = 0;
    for (const Send& send : sends) last = std::max(last, send.step);
    for (const Receive& receive : receives) last = std::max(last, receive.step);
    for (const Copy& copy : copies) last = std::max(last, copy.step);
    for (const Combination& combination : combinations) last = std::max(last, combination.step);
    return last;
  }
};

}  // namespace oriel
