// SPDX-License-Identifier: BSD-3-Clause
#include "core/lock_queue.hpp"

namespace oriel {

std::uint64_t LockLine::enter() {
  for (;;) {
    std::uint64_t word = queue_.word.load(std::memory_order_relaxed);
    if ((word & guard_bit) == 0 &&
        queue_.word.compare_exchange_weak(word, word | guard_bit, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
      return word;
    }
    transport_.relax();
  }
}

bool LockLine::acquire(int origin, bool exclusive) {
  if (try_acquire(queue_, exclusive)) return true;
  std::uint64_t word = enter();
  const bool held_against_us =
      (word & exclusive_bit) != 0 || (exclusive && (word & holders_mask) != 0);
  if (!held_against_us && (word & waiting_mask) == 0) {
    word = exclusive ? word | exclusive_bit : word + 1;
    queue_.word.store(word, std::memory_order_release);
    return true;
  }
  LockNode& node = nodes_[origin];
  node.state.store(LockNode::waiting, std::memory_order_relaxed);
  node.exclusive = exclusive ? 1 : 0;
  node.next = 0;
  node.errand.bytes = 0;
  const auto name = static_cast<std::uint32_t>(origin) + 1;
  if (queue_.tail != 0) {
    nodes_[queue_.tail - 1].next = name;
  } else {
    queue_.head = name;
  }
  queue_.tail = name;
  queue_.word.store(word + one_waiting, std::memory_order_release);
  return false;
}

bool LockLine::leave(int origin, const Errand& errand) {
  const std::uint64_t word = enter();
  LockNode& node = nodes_[origin];
  const bool waits = node.state.load(std::memory_order_relaxed) == LockNode::waiting;
  if (waits) node.errand = errand;
  queue_.word.store(word, std::memory_order_release);
  return waits;
}

}  // namespace oriel
