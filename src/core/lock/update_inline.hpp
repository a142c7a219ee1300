// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How the right to update changes hands.
#include "core/lock/patience.hpp"
#include "core/lock/update.hpp"

namespace oriel {

template <typename Words>
std::uint32_t BasicUpdate<Words>::ask(BasicControlBlock<Words>& target, Sharers& sharers,
                                      bool alone) {
  for (Patience<Words> patience(sharers);;) {
    std::uint32_t holder = enter(target, self_, sharers);
    if (holder == alone_by(self_)) return all;
    if (holder == everybody && !alone) return elements;
    // Whoever changes the word may be waiting for us.
    self_.word().store(0, std::memory_order_release);
    if ((holder & changing) != 0) {
      const std::uint32_t changer = holder & ~changing;
      if (!patience.wait(changer)) return first_lost + changer;
      continue;
    }
    if (!target.updater.compare_exchange_strong(holder, changing | sharers.self(),
                                                std::memory_order_seq_cst)) {
      patience.retry();
      continue;
    }
    if (holder != nobody) {
      const std::uint32_t right = await_others(target, sharers);
      if (right >= first_lost) {
        target.updater.store(holder, std::memory_order_release);
        return right;
      }
    }
    // The first to come, and who must, has it alone; a second one with single elements shares.
    const bool takes = alone || holder == nobody;
    self_.word().store(target.name, std::memory_order_relaxed);
    target.updater.store(takes ? alone_by(self_) : everybody, std::memory_order_release);
    return takes ? all : elements;
  }
}

/// Until nobody else is within an update that has begun before `updater` was changed.
template <typename Words>
std::uint32_t BasicUpdate<Words>::await_others(BasicControlBlock<Words>& target, Sharers& sharers) {
  sharers.fence();
  for (const int rank : sharers.ranks()) {
    const auto named = static_cast<std::uint32_t>(rank);
    const auto& updating = target.slots()[rank].updating;
    for (Patience<Words> patience(sharers); updating.load(std::memory_order_seq_cst) != 0;) {
      if (!patience.wait(named)) return first_lost + named;
    }
    for (const auto& thread : sharers.threads(rank)) {
      for (Patience<Words> patience(sharers);
           thread.updating.load(std::memory_order_seq_cst) == target.name;) {
        if (!patience.wait(named)) return first_lost + named;
      }
    }
  }
  return all;
}

}  // namespace oriel
