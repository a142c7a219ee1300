// SPDX-License-Identifier: BSD-3-Clause
// How light epochs move to the list, and the targets of the light lock_all epoch.
#include "core/epoch/epochs.hpp"

namespace oriel {

void Epochs::report_light_opening() {
  light_.opened_at = ++steps_;
  light_.one.used.store(false);
  events_.free_lock_acquired(light_);
}

/// Activates an epoch that has just been created and takes the place of a light epoch. `report`: a
/// sink has not received its opening yet.
void Epochs::activate_listed(Epoch& epoch, bool report) {
  if (report) {
    events_.step(EventKind::epoch_opened, epoch);
    events_.step(EventKind::epoch_activated, epoch);
  }
  epoch.active = true;
  active_.append(epoch);
}

Epoch& Epochs::list_light() {
  Epoch& epoch = create(EpochKind::lock);
  epoch.exclusive = light_.exclusive;
  if (all_locks_) epoch.opened_at = light_.opened_at;
  activate_listed(epoch, !all_locks_);
  Target& target = add_target(epoch, light_.one.rank);
  target.access = Target::Access::granted;
  if (light_.one.used.load()) mark(target.used);
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
  // If the process has several threads, the order of their epochs does not include it.
  lock_order_.assign_place(epoch, *this, all_threads);
  activate_listed(epoch, true);
  epoch.awaited = rank_ + 1;  // its own lock is held, or not needed
  access_ = &epoch;
  if (light_own_ && peer(rank_).touched != &light_all_) {
    link(rank_).make_ready(touch_lightly(rank_));
  }
  for (const Target& light : light_all_) {
    Target& target = touch(epoch, light.rank);
    target.access = Target::Access::granted;
    EpochPeer& other = peer(light.rank);
    other.locking = &epoch;
    if (other.ready.load() != nullptr) other.ready.store(&target, std::memory_order_release);
  }
  light_all_.targets = nullptr;
  return epoch;
}

/// The target lives as long as the window: threads without the lock may use it while its epoch
/// moves to the list.
Target& Epochs::make_light_target(int rank) {
  Target& target = pools_.targets.acquire();
  target.rank = rank;
  target.access = Target::Access::granted;
  target.passive = target.lasting = true;
  peer(rank).light = &target;
  light_targets_.push_back(&target);
  return target;
}

}  // namespace oriel
