// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The general path of an update: it waits for its turn, or changes `updater`.
#include "core/lock/sharers.hpp"
#include "core/lock/update.hpp"

namespace oriel {

template <typename Words>
std::uint32_t BasicUpdate<Words>::acquire(Sharers& sharers, bool whole) {
  for (Patience<Words> patience(sharers);;) {
    std::uint32_t holder = enter(target_, self_, sharers);
    if (holder == alone_by(self_)) return all;
    if (holder == everybody && !whole) return elements;
    if (holder == turns) {
      const std::uint32_t right = await_turn(sharers);
      if (right != in_turn || count_turn(target_, whole)) return right;
      end_turn(target_);
    }
    // A changer of the word may be waiting for us.
    self_.word().store(0, std::memory_order_release);
    if ((holder & changing) != 0) {
      const std::uint32_t changer = holder & ~changing;
      if (!patience.wait(changer)) return first_lost + changer;
      continue;
    }
    if (!target_.updater.compare_exchange_strong(holder, changing | sharers.self(),
                                                 std::memory_order_seq_cst)) {
      patience.retry();
      continue;
    }
    if (holder != nobody) {
      const std::uint32_t right = await_others(sharers);
      if (right >= first_lost) {
        target_.updater.store(holder, std::memory_order_release);
        return right;
      }
    }
    if (holder != nobody && whole) {
      target_.singles = 0;  // no updater has the turn: the changer has awaited all
      target_.updater.store(turns, std::memory_order_release);
      continue;
    }
    self_.word().store(target_.name, std::memory_order_relaxed);
    target_.updater.store(holder == nobody ? alone_by(self_) : everybody,
                          std::memory_order_release);
    return holder == nobody ? all : elements;
  }
}

template <typename Words>
std::uint32_t BasicUpdate<Words>::try_turn(BasicControlBlock<Words>& target, const Updater& one) {
  std::uint32_t holder = 0;
  target.turn.compare_exchange_strong(holder, 1 + one.number(), std::memory_order_acquire);
  return holder;
}

template <typename Words>
bool BasicUpdate<Words>::count_turn(BasicControlBlock<Words>& target, bool whole) {
  target.singles = whole ? 0 : target.singles + 1;
  return target.singles < Words::singles_in_a_row;
}

template <typename Words>
std::uint32_t BasicUpdate<Words>::await_turn(Sharers& sharers) {
  for (Patience<Words> patience(sharers);;) {
    const std::uint32_t holder = try_turn(target_, self_);
    if (holder == 0) return in_turn;
    const std::uint32_t rank = Updater::origin(holder - 1);
    if (!patience.wait(rank)) return first_lost + rank;
  }
}

/// Returns when no other updater is within an update that began before `updater` was changed.
template <typename Words>
std::uint32_t BasicUpdate<Words>::await_others(Sharers& sharers) {
  sharers.fence();
  for (const int rank : sharers.ranks()) {
    const auto named = static_cast<std::uint32_t>(rank);
    const auto& updating = target_.slots()[rank].updating;
    for (Patience<Words> patience(sharers); updating.load(std::memory_order_seq_cst) != 0;) {
      if (!patience.wait(named)) return first_lost + named;
    }
    for (const auto& thread : sharers.threads(rank)) {
      for (Patience<Words> patience(sharers);
           thread.updating.load(std::memory_order_seq_cst) == target_.name;) {
        if (!patience.wait(named)) return first_lost + named;
      }
    }
  }
  return all;
}

}  // namespace oriel
