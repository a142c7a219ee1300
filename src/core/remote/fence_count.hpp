// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oriel {

/// The reduce-scatter at the beginning of a closing fence, on windows with remote ranks (S2). It
/// gives each rank the number of origins that have sent it operations; the rank then waits for
/// their marks. Its end also means that all ranks have entered the fence.
///
/// The index of a count is the distance of its rank from this rank. In step s, from the highest to
/// step 0, a rank sends the counts of distances 2^s to 2^(s+1)-1 to the rank 2^s after it, where
/// they are added to those of distances 0 to 2^s-1: ceil(log2 n) messages sent and received, n-1
/// counts in all, for any n. A step is sent when all earlier ones have arrived. In the end count 0
/// is this rank's own.
///
/// Calls are numbered from 1. A rank is at most one call ahead of another, because it cannot end a
/// call that the other has not entered. So two calls are kept, by parity. Invariant: each step of a
/// call that this rank has not ended arrives once.
class FenceCount {
 public:
  /// `rank`: this rank; `ranks`: the number of ranks.
  FenceCount(int rank, int ranks);

  /// A step to be sent: `counts` are for `target`, and are valid until the next call of this
  /// object.
  struct Step {
    int target;
    unsigned number;
    std::span<const std::uint32_t> counts;
  };

  /// Enters the next call and returns its number. add() has been called for every target to which
  /// this rank has sent operations.
  std::uint64_t enter();
  void add(int target) { ++current().counts[distance(target)]; }
  /// The call that this rank has entered, or will enter next.
  std::uint64_t call() const { return ended_calls_ + 1; }

  /// Receives a piece of step `number` of `call` from rank `origin`: the counts from index `first`
  /// on. False if it is invalid; nothing has been changed then.
  bool arrived(std::uint64_t call, int origin, unsigned number, std::uint64_t first, bool last,
               std::span<const std::uint32_t> counts);
  /// Receives a mark: an origin has sent all its operations of the epoch before `call`. False if
  /// invalid.
  bool marked(std::uint64_t call);

  /// Calls send(step) for every step that can be sent.
  template <typename Send>
  void advance(Send&& send) {
    Call& one = current();
    while (one.entered && one.next > 0 && arrived_before(one, one.next - 1)) {
      --one.next;
      send(step(one, one.next));
    }
  }
  /// Returns whether all ranks have entered the call and all marks for this rank have arrived.
  bool over() {
    const Call& one = current();
    return one.entered && one.next == 0 && one.steps_in == all_steps() &&
           one.marks == one.counts[0];
  }
  /// Ends the call. Only after over().
  void end();

  unsigned steps() const { return steps_; }
  /// The rank to which this rank sends a step, and the one that sends the step to this rank.
  int target(unsigned number) const { return ring(rank_ + (std::int64_t{1} << number)); }
  int origin(unsigned number) const { return ring(rank_ - (std::int64_t{1} << number)); }
  /// Returns whether this rank has entered call().
  bool entered() { return current().entered; }
  /// Returns whether all of a step of call() has arrived.
  bool has_step(unsigned number) { return (current().steps_in >> number & 1) != 0; }

 private:
  struct Call {
    bool entered = false;
    unsigned next = 0;           // the steps below this number have not been sent
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
  /// The call of this number; null if no rank can be in that call.
  Call* expected(std::uint64_t number) {
    return number == ended_calls_ + 1 || number == ended_calls_ + 2 ? &at(number) : nullptr;
  }
  std::size_t distance(int rank) const {
    return static_cast<std::size_t>(rank >= rank_ ? rank - rank_ : rank - rank_ + ranks_);
  }
  int ring(std::int64_t rank) const { return static_cast<int>((rank + ranks_) % ranks_); }
  std::uint64_t all_steps() const { return (std::uint64_t{1} << steps_) - 1; }
  /// Returns whether all steps above `number`, which are the earlier ones, have arrived.
  bool arrived_before(const Call& one, unsigned number) const {
    const std::uint64_t above = all_steps() & ~((std::uint64_t{2} << number) - 1);
    return (one.steps_in & above) == above;
  }
  /// The index behind the last count of a step.
  std::size_t end_of(unsigned number) const;
  Step step(Call& one, unsigned number) const;

  int rank_;
  int ranks_;
  unsigned steps_;
  std::uint64_t ended_calls_ = 0;  // number of calls that this rank has ended
  std::array<Call, 2> calls_;
};

}  // namespace oriel
