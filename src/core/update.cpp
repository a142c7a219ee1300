// SPDX-License-Identifier: BSD-3-Clause
#include "core/update.hpp"

namespace oriel {

bool Update::ask(ControlBlock& target, int origin, Transport& transport, bool asymmetric,
                 bool alone) {
  const std::uint32_t mine = first_alone + static_cast<std::uint32_t>(origin);
  for (;;) {
    std::uint32_t holder = enter(target, asymmetric);
    if (holder == mine) return true;
    if (holder == everybody && !alone) return false;
    // Whoever changes the word may be waiting for us.
    slot_.updating.store(0, std::memory_order_release);
    if (holder == changing ||
        !target.updater.compare_exchange_strong(holder, changing, std::memory_order_seq_cst)) {
      transport.relax();
      continue;
    }
    if (holder != nobody) {
      transport.fence_peers();
      for (std::uint32_t rank = 0; rank < target.ranks; ++rank) {
        const std::atomic<std::uint32_t>& updating = target.slots()[rank].updating;
        while (updating.load(std::memory_order_seq_cst) != 0) transport.relax();
      }
    }
    // The first to come, and who must, has it alone; a second origin with single elements shares.
    const bool takes = alone || holder == nobody;
    slot_.updating.store(1, std::memory_order_relaxed);
    target.updater.store(takes ? mine : everybody, std::memory_order_release);
    return takes;
  }
}

}  // namespace oriel
