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
  node.granted.store(0, std::memory_order_relaxed);
  node.exclusive = exclusive ? 1 : 0;
  node.next = 0;
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

void LockLine::release(bool exclusive, std::vector<int>& granted) {
  if (try_release(queue_, exclusive)) return;
  std::uint64_t word = enter();
  word = exclusive ? word & ~exclusive_bit : word - 1;
  while (queue_.head != 0 && (word & exclusive_bit) == 0) {
    LockNode& node = nodes_[queue_.head - 1];
    if (node.exclusive != 0 && (word & holders_mask) != 0) break;
    word = (node.exclusive != 0 ? word | exclusive_bit : word + 1) - one_waiting;
    granted.push_back(static_cast<int>(queue_.head) - 1);
    queue_.head = node.next;
    if (queue_.head == 0) queue_.tail = 0;
    // Last look at the node: its origin may reuse it as soon as it sees this.
    node.granted.store(1, std::memory_order_release);
  }
  queue_.word.store(word, std::memory_order_release);
}

}  // namespace oriel
