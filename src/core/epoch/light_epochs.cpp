// SPDX-License-Identifier: BSD-3-Clause
// What a light epoch becomes when something has to wait in it.
#include "core/epoch/epochs.hpp"

namespace oriel {

Epoch& Epochs::list_light() {
  Epoch& epoch = create(EpochKind::lock);
  epoch.exclusive = light_.exclusive;
  events_.epoch(EpochStep::opened, epoch);
  events_.epoch(EpochStep::activated, epoch);
  epoch.active = true;
  active_.append(epoch);
  Target& target = add_target(epoch, light_.one.rank);
  target.access = Target::Access::granted;
  EpochPeer& locked = peer(target.rank);
  locked.lock = locked.locking = locked.entitled = &epoch;
  if (locked.ready.load() != nullptr) {
    locked.ready.store(&target, std::memory_order_release);
  }
  light_held_ = false;
  return epoch;
}

Epoch& Epochs::list_light_all() {
  Epoch& epoch = create(EpochKind::lock_all);
  events_.epoch(EpochStep::opened, epoch);
  events_.epoch(EpochStep::activated, epoch);
  epoch.active = true;
  epoch.awaited = light_all_.awaited;
  active_.append(epoch);
  access_ = &epoch;
  Target* others = nullptr;
  if (light_all_.targets != nullptr) {
    Target& first = touch(epoch, light_all_.one.rank);
    first.access = Target::Access::granted;
    // The others keep their places in memory: threads without the lock may be at them.
    others = light_all_.one.next;
    first.next = others;
    if (others != nullptr) epoch.last_target = light_all_.last_target;
    epoch.untold = light_all_.untold;
  }
  for (Target& target : epoch) {
    EpochPeer& other = peer(target.rank);
    other.touched = other.locking = &epoch;
    if (other.ready.load() != nullptr) other.ready.store(&target, std::memory_order_release);
  }
  clear_light_all();
  return epoch;
}

void Epochs::clear_light_all() {
  light_all_.targets = light_all_.last_target = nullptr;
  light_all_.untold = 0;
}

bool Epochs::may_unlock_all_lightly() const {
  if (access_ != &light_all_) return false;
  for (const Target& target : light_all_) {
    if (peers_[target.rank].inlined.load()) return false;
  }
  return true;
}

}  // namespace oriel
