// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The parts of LockLine for a lock that is not simply free.
#include "core/lock/lock_line.hpp"
#include "core/lock/sharers.hpp"

namespace oriel {

template <typename Words>
bool BasicLockLine<Words>::acquire_guard(std::uint32_t& waiting) {
  for (Patience<Words> patience(sharers_);;) {
    std::uint64_t line = queue_.line.load(std::memory_order_relaxed);
    const auto guard = static_cast<std::uint32_t>(line >> guard_shift);
    if (guard != 0) {
      if (!patience.wait(guard - 1)) return false;
    } else if (queue_.line.compare_exchange_weak(line, line | guarded_by_us(),
                                                 std::memory_order_seq_cst)) {
      waiting = static_cast<std::uint32_t>(line);
      return true;
    } else {
      patience.retry();
    }
  }
}

template <typename Words>
bool BasicLockLine<Words>::keep(int origin) {
  auto& locked = control_.slots()[origin].locked;
  locked.store(by_keeper, std::memory_order_release);
  std::uint64_t free = 0;
  const bool acquired =
      queue_.holders.compare_exchange_strong(free, kept_by(origin), std::memory_order_seq_cst);
  // A request may have entered the queue, and been served, since we read `contended`: no keeper
  // then.
  if (acquired && queue_.contended.load(std::memory_order_seq_cst) == 0) return true;
  if (acquired) queue_.holders.store(held_by(origin), std::memory_order_seq_cst);
  locked.store(0, std::memory_order_release);
  return acquired;
}

template <typename Words>
void BasicLockLine<Words>::keep_again(int origin) {
  queue_.streak = 0;
  auto& locked = control_.slots()[origin].locked;
  locked.store(by_keeper, std::memory_order_release);
  queue_.holders.store(kept_by(origin), std::memory_order_seq_cst);
  queue_.contended.exchange(0, std::memory_order_seq_cst);
  // Either we read that a request is in the queue, or that request reads contended = 0 and fences.
  if (queue_.line.load(std::memory_order_seq_cst) == 0) return;
  queue_.contended.store(1, std::memory_order_seq_cst);
  queue_.holders.store(held_by(origin), std::memory_order_seq_cst);
  locked.store(0, std::memory_order_release);
}

template <typename Words>
bool BasicLockLine<Words>::acquire_shared(int origin) {
  if (queue_.contended.load(std::memory_order_relaxed) != 0 &&
      queue_.shared_streak.load(std::memory_order_relaxed) < Words::long_streak) {
    if (!acquire_by_holders(origin, false)) return false;
    // Other holders may store at the same time: the number is approximate.
    queue_.shared_streak.store(queue_.shared_streak.load(std::memory_order_relaxed) + 1,
                               std::memory_order_relaxed);
    return true;
  }
  const std::uint64_t number = queue_.phases.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t phase = uncounted_bit | (number << phase_shift & (uncounted_bit - 1));
  std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  while ((holders & (exclusive_bit | kept_bit | uncounted_bit)) == 0 ||
         holders == kept_by(origin)) {
    const std::uint64_t others = holders == kept_by(origin) ? 0 : holders;
    if (queue_.holders.compare_exchange_weak(holders, phase | others, std::memory_order_seq_cst)) {
      return acquire_by_word(origin, phase);
    }
  }
  return (holders & uncounted_bit) != 0 && acquire_by_word(origin, holders & ~counted);
}

template <typename Words>
bool BasicLockLine<Words>::confirm(int origin, std::uint64_t mode) {
  std::uint32_t waiting = 0;
  const bool entered = acquire_guard(waiting);
  // If the guard is lost, no rank takes the lock away any more.
  const std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  // In any phase: the next owner of the guard reads our word.
  const bool ours = (mode & kept_bit) != 0 ? holders == mode : (holders & uncounted_bit) != 0;
  if (!ours) control_.slots()[origin].locked.store(0, std::memory_order_release);
  if (entered) release_guard(waiting);
  return ours;
}

template <typename Words>
bool BasicLockLine<Words>::any_uncounted() {
  for (const int rank : sharers_.ranks()) {
    if (control_.slots()[rank].locked.load(std::memory_order_seq_cst) == uncounted) return true;
  }
  return false;
}

template <typename Words>
bool BasicLockLine<Words>::acquire_or_revoke(int origin, bool exclusive) {
  std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  if ((holders & kept_bit) != 0) {
    const std::uint64_t keeper = holders & ~kept_bit;
    return control_.slots()[keeper].locked.load(std::memory_order_seq_cst) != by_keeper &&
           queue_.holders.compare_exchange_strong(holders, exclusive ? held_by(origin) : 1,
                                                  std::memory_order_seq_cst);
  }
  if (exclusive && (holders & uncounted_bit) != 0) {
    if ((holders & counted) != 0 || any_uncounted() ||
        !queue_.holders.compare_exchange_strong(holders, held_by(origin),
                                                std::memory_order_seq_cst)) {
      return false;
    }
    queue_.shared_streak.store(0, std::memory_order_relaxed);
    return true;
  }
  return acquire_by_holders(origin, exclusive);
}

template <typename Words>
std::uint32_t BasicLockLine<Words>::let_join(std::vector<int>& woken) {
  std::uint32_t joined = 0;
  auto* link = &queue_.head;
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
    woken.push_back(static_cast<int>(name) - 1);
    node.state.store(LockNode::granted, std::memory_order_release);
  }
  return joined;
}

template <typename Words>
bool BasicLockLine<Words>::acquire(int origin, bool exclusive, bool joins) {
  if (try_acquire(origin, exclusive)) return true;
  LockNode& node = nodes_[origin];
  std::uint32_t waiting = 0;
  if (!acquire_guard(waiting)) {
    node.state.store(LockNode::waiting, std::memory_order_relaxed);
    return false;
  }
  // Follows the store of the guard in the total order of seq_cst operations: either we read that a
  // keeper has cleared `contended`, or the keeper reads our guard (keep_again()).
  if (queue_.contended.load(std::memory_order_seq_cst) == 0 || has_uncounted()) {
    queue_.contended.store(1, std::memory_order_seq_cst);
    sharers_.fence();
  }
  if ((waiting == 0 && acquire_or_revoke(origin, exclusive)) || (joins && join())) {
    release_guard(waiting);
    return true;
  }
  node.state.store(LockNode::waiting, std::memory_order_relaxed);
  node.exclusive = exclusive ? 1 : 0;
  node.joins = joins ? 1 : 0;
  queue_.joiners += node.joins;
  node.next = 0;
  node.has_piggyback = 0;
  const auto name = static_cast<std::uint32_t>(origin) + 1;
  if (queue_.tail != 0) {
    nodes_[queue_.tail - 1].next = name;
  } else {
    queue_.head = name;
  }
  queue_.tail = name;
  release_guard(waiting + 1);
  return false;
}

template <typename Words>
bool BasicLockLine<Words>::add_piggyback(int origin, const Piggyback& piggyback) {
  std::uint32_t waiting = 0;
  if (!acquire_guard(waiting)) return false;
  LockNode& node = nodes_[origin];
  const bool waits = node.state.load(std::memory_order_relaxed) == LockNode::waiting;
  if (waits) {
    node.piggyback = piggyback;
    node.has_piggyback = 1;
  }
  release_guard(waiting);
  return waits;
}

}  // namespace oriel
