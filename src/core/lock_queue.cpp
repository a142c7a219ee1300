// SPDX-License-Identifier: BSD-3-Clause
#include "core/lock_queue.hpp"

namespace oriel {

std::uint32_t LockLine::enter() {
  for (;;) {
    std::uint32_t line = queue_.line.load(std::memory_order_relaxed);
    if ((line & guard_bit) == 0 &&
        queue_.line.compare_exchange_weak(line, line | guard_bit, std::memory_order_seq_cst)) {
      return line;
    }
    transport_.relax();
  }
}

bool LockLine::keep(int origin) {
  std::atomic<std::uint32_t>& locked = control_.slots()[origin].locked;
  locked.store(1, std::memory_order_relaxed);
  std::uint64_t free = 0;
  const bool taken =
      queue_.holders.compare_exchange_strong(free, kept_by(origin), std::memory_order_seq_cst);
  // Somebody may have lined up, and been served, since we looked: then nobody keeps it any more.
  if (taken && queue_.contended.load(std::memory_order_seq_cst) == 0) return true;
  if (taken) queue_.holders.store(exclusive_bit, std::memory_order_seq_cst);
  locked.store(0, std::memory_order_release);
  return taken;
}

void LockLine::keep_again(int origin) {
  queue_.streak = 0;
  std::atomic<std::uint32_t>& locked = control_.slots()[origin].locked;
  locked.store(1, std::memory_order_relaxed);
  queue_.holders.store(kept_by(origin), std::memory_order_seq_cst);
  queue_.contended.exchange(0, std::memory_order_seq_cst);
  // Either we see who has lined up, or whoever lines up sees that it has to fence.
  if (queue_.line.load(std::memory_order_seq_cst) == 0) return;
  queue_.contended.store(1, std::memory_order_seq_cst);
  queue_.holders.store(exclusive_bit, std::memory_order_seq_cst);
  locked.store(0, std::memory_order_release);
}

bool LockLine::settle(int origin) {
  const std::uint32_t waiting = enter();
  const bool ours = keeps(origin);
  if (!ours) control_.slots()[origin].locked.store(0, std::memory_order_relaxed);
  leave_guard(waiting);
  return ours;
}

bool LockLine::take_or_take_away(bool exclusive) {
  std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  if ((holders & kept_bit) == 0) return take(exclusive);
  const std::uint64_t keeper = holders & ~kept_bit;
  return control_.slots()[keeper].locked.load(std::memory_order_seq_cst) == 0 &&
         queue_.holders.compare_exchange_strong(holders, exclusive ? exclusive_bit : 1,
                                                std::memory_order_seq_cst);
}

std::uint32_t LockLine::let_join(std::vector<int>& told) {
  std::uint32_t joined = 0;
  std::uint32_t* link = &queue_.head;
  std::uint32_t last = 0;
  while (*link != 0) {
    const std::uint32_t name = *link;
    LockNode& node = nodes_[name - 1];
    if (node.joins == 0) {
      last = name;
      link = &node.next;
      continue;
    }
    if (!join()) break;
    *link = node.next;
    if (queue_.tail == name) queue_.tail = last;
    --queue_.joiners;
    ++joined;
    told.push_back(static_cast<int>(name) - 1);
    node.state.store(LockNode::granted, std::memory_order_release);
  }
  return joined;
}

bool LockLine::acquire(int origin, bool exclusive, bool joins) {
  if (try_acquire(origin, exclusive)) return true;
  const std::uint32_t waiting = enter();
  if (queue_.contended.load(std::memory_order_relaxed) == 0) {
    queue_.contended.store(1, std::memory_order_seq_cst);
    transport_.fence_peers();
  }
  if ((waiting == 0 && take_or_take_away(exclusive)) || (joins && join())) {
    leave_guard(waiting);
    return true;
  }
  LockNode& node = nodes_[origin];
  node.state.store(LockNode::waiting, std::memory_order_relaxed);
  node.exclusive = exclusive ? 1 : 0;
  node.joins = joins ? 1 : 0;
  queue_.joiners += node.joins;
  node.next = 0;
  node.errand.bytes = 0;
  const auto name = static_cast<std::uint32_t>(origin) + 1;
  if (queue_.tail != 0) {
    nodes_[queue_.tail - 1].next = name;
  } else {
    queue_.head = name;
  }
  queue_.tail = name;
  leave_guard(waiting + 1);
  return false;
}

bool LockLine::leave(int origin, const Errand& errand) {
  const std::uint32_t waiting = enter();
  LockNode& node = nodes_[origin];
  const bool waits = node.state.load(std::memory_order_relaxed) == LockNode::waiting;
  if (waits) node.errand = errand;
  leave_guard(waiting);
  return waits;
}

}  // namespace oriel
