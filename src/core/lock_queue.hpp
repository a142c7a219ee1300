// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/control.hpp"
#include "core/transport.hpp"

namespace oriel {

/// The lock of one target: first come first served, readers together, taken and handed on by the
/// origins alone. The target takes no part (E12, and "a rank that computes delays nobody").
///
/// LockQueue::word holds everything the uncontended case needs:
///   bit 63 exclusive holder, bit 62 guard, bits 20..39 waiting requests, bits 0..19 shared
///   holders.
/// Nobody waiting: one compare-exchange takes it, one gives it back. Otherwise the guard is taken
/// for the few instructions that change the list; while it is set nobody else changes any of the
/// word.
///
/// Invariants (guard free): an exclusive holder excludes every other holder; waiting > 0 implies
/// somebody holds the lock; who waits is granted in the order of arrival.
/// Acquire: every taking compare-exchange, and the load that sees LockNode::state. Release: every
/// giving-back compare-exchange or store of the word, and the store of LockNode::state. So what one
/// holder wrote into the window is seen by the next.
class LockLine {
 public:
  LockLine(ControlBlock& control, Transport& transport)
      : queue_(control.lock), nodes_(control.nodes()), transport_(transport) {}

  /// Takes the lock if nobody holds it against us and nobody waits.
  static bool try_acquire(LockQueue& queue, bool exclusive) {
    std::uint64_t word = queue.word.load(std::memory_order_relaxed);
    if (exclusive) {
      return word == 0 &&
             queue.word.compare_exchange_strong(word, exclusive_bit, std::memory_order_acquire,
                                                std::memory_order_relaxed);
    }
    while ((word & (exclusive_bit | guard_bit | waiting_mask)) == 0) {
      if (queue.word.compare_exchange_weak(word, word + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  /// Gives it back if nobody waits; false: release() has to hand it on.
  static bool try_release(LockQueue& queue, bool exclusive) {
    std::uint64_t word = queue.word.load(std::memory_order_relaxed);
    while ((word & guard_bit) == 0 && (word & waiting_mask) == 0) {
      const std::uint64_t next = exclusive ? word & ~exclusive_bit : word - 1;
      if (queue.word.compare_exchange_weak(word, next, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  /// Takes the lock (true) or puts `origin` at the end of the line (false); LockNode::state of the
  /// origin then says when it has been granted.
  bool acquire(int origin, bool exclusive);

  /// Leaves an errand with the waiting request of `origin`; false if the lock was granted
  /// meanwhile.
  bool leave(int origin, const Errand& errand);

  /// Gives the lock back and hands it on. Errands found at the head of the line are run, one after
  /// the other as the lock comes round to them, by `run(errand)`; the origins that something has
  /// happened for are appended to `told`.
  template <typename Run>
  void release(bool exclusive, std::vector<int>& told, Run&& run) {
    if (try_release(queue_, exclusive)) return;
    std::uint64_t word = enter();
    word = exclusive ? word & ~exclusive_bit : word - 1;
    while (queue_.head != 0 && (word & exclusive_bit) == 0) {
      LockNode& node = nodes_[queue_.head - 1];
      if (node.exclusive != 0 && (word & holders_mask) != 0) break;
      std::uint32_t state = LockNode::granted;
      if (node.errand.bytes != 0) {
        run(node.errand);
        state = LockNode::carried_out;
      } else {
        word = node.exclusive != 0 ? word | exclusive_bit : word + 1;
      }
      word -= one_waiting;
      told.push_back(static_cast<int>(queue_.head) - 1);
      queue_.head = node.next;
      if (queue_.head == 0) queue_.tail = 0;
      // Last look at the node: its origin may reuse it as soon as it sees this.
      node.state.store(state, std::memory_order_release);
    }
    queue_.word.store(word, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t exclusive_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t guard_bit = std::uint64_t{1} << 62;
  static constexpr unsigned waiting_shift = 20;
  static constexpr std::uint64_t one_waiting = std::uint64_t{1} << waiting_shift;
  static constexpr std::uint64_t holders_mask = one_waiting - 1;
  static constexpr std::uint64_t waiting_mask = holders_mask << waiting_shift;

  std::uint64_t enter();

  LockQueue& queue_;
  LockNode* nodes_;
  Transport& transport_;
};

}  // namespace oriel
