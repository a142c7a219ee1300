// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oriel {

/// The reduce-scatter at the beginning of a closing fence, on windows with remote ranks (S2): tells
/// each rank how many origins have sent it operations, whose marks it then waits for. Its end also
/// means that all ranks have entered the fence.
///
/// Counts are numbered by the distance of their rank from ours. In step s, from the highest to step
/// 0, a rank passes the counts of distance 2^s to 2^(s+1)-1 on to the rank 2^s further, where they
/// are of distance 0 to 2^s-1: ceil(log2 n) messages out and in, n-1 counts in all, for any n. A
/// step is sent when those before it have arrived. What remains is our own count.
///
/// Calls are numbered from 1. A rank is at most one call ahead of another (it cannot end a call
/// that the other has not entered), so two calls at a time are kept, by parity. Invariant: of a
/// call that we have not ended, each step arrives once.
class FenceCount {
 public:
  /// `ranks` in all, of which we are `rank`.
  FenceCount(int rank, int ranks);

  /// A step to be sent: `counts` go to `target`, and stay valid until the next call of this object.
  struct Step {
    int target;
    unsigned number;
    std::span<const std::uint32_t> counts;
  };

  /// We have entered the next call; returns its number. add() has been called for every target that
  /// we have sent operations.
  std::uint64_t enter();
  void add(int target) { ++current().counts[distance(target)]; }
  /// The call that we are in, or shall enter next.
  std::uint64_t call() const { return left_ + 1; }

  /// A piece of step `number` of `call`, from rank `origin`, has arrived: counts from `first` on.
  /// False if it cannot be: nothing has been changed then.
  bool arrived(std::uint64_t call, int origin, unsigned number, std::uint64_t first, bool last,
               std::span<const std::uint32_t> counts);
  /// An origin has sent all its operations of the epoch before `call`. False if it cannot be.
  bool marked(std::uint64_t call);

  /// Calls send(step) for every step that can go out.
  template <typename Send>
  void advance(Send&& send) {
    Call& one = current();
    while (one.entered && one.next > 0 && arrived_before(one, one.next - 1)) {
      --one.next;
      send(step(one, one.next));
    }
  }
  /// All ranks have entered the call, and the marks for us are here.
  bool over() {
    const Call& one = current();
    return one.entered && one.next == 0 && one.steps_in == all_steps() &&
           one.marks == one.counts[0];
  }
  /// After over(): the call is done with.
  void leave();

 private:
  struct Call {
    bool entered = false;
    unsigned next = 0;           // steps not yet sent: those below
    std::uint64_t steps_in = 0;  // bit s: step s has arrived
    std::uint64_t marks = 0;
    std::vector<std::uint32_t> counts;  // by distance; empty before the first use
  };

  Call& at(std::uint64_t number) {
    Call& one = calls_[number % 2];
    if (one.counts.empty()) one.counts.resize(static_cast<std::size_t>(ranks_));
    return one;
  }
  Call& current() { return at(call()); }
  /// The call of this number, unless it is not one that somebody can be in.
  Call* expected(std::uint64_t number) {
    return number == left_ + 1 || number == left_ + 2 ? &at(number) : nullptr;
  }
  std::size_t distance(int rank) const {
    return static_cast<std::size_t>(rank >= rank_ ? rank - rank_ : rank - rank_ + ranks_);
  }
  std::uint64_t all_steps() const { return (std::uint64_t{1} << steps_) - 1; }
  /// Steps above `number`, which come first, have arrived.
  bool arrived_before(const Call& one, unsigned number) const {
    const std::uint64_t above = all_steps() & ~((std::uint64_t{2} << number) - 1);
    return (one.steps_in & above) == above;
  }
  /// Where the counts of a step end.
  std::size_t end_of(unsigned number) const;
  Step step(Call& one, unsigned number) const;

  int rank_;
  int ranks_;
  unsigned steps_;
  std::uint64_t left_ = 0;  // calls that we have ended
  std::array<Call, 2> calls_;
};

}  // namespace oriel
