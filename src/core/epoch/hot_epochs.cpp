// SPDX-License-Identifier: BSD-3-Clause
// How hot epochs move to the list, and the targets of the hot lock_all epoch.
#include "core/epoch/epochs.hpp"

namespace oriel {

void Epochs::report_hot_opening() {
  hot_lock_.opened_at = ++steps_;
  hot_lock_.one.used.store(false);
  events_.free_lock_acquired(hot_lock_);
}

/// True if a lock epoch on the target, opened now, need not wait for any epoch that is closed or
/// deferred: for what queue_for() returns null, and lock_all epochs have no targets.
bool Epochs::overtakes_all(const EpochPeer& locked) const {
  if (!deferred_of_[at(EpochKind::lock)].empty()) return false;
  for (std::size_t kind = 0; kind < closed_of_.size(); ++kind) {
    if (closed_of_[kind].first() != nullptr &&
        !may_overlap(static_cast<EpochKind>(kind), EpochKind::lock, reorder_)) {
      return false;
    }
  }
  return closed_of_[at(EpochKind::lock_all)].first() == nullptr && !locked.entry_wanted();
}

/// Activates an epoch that has just been created and replaces a hot epoch. `report`: the sinks have
/// not received its opening yet.
void Epochs::activate_listed(Epoch& epoch, bool report) {
  if (report) {
    events_.step(EventKind::epoch_opened, epoch);
    events_.step(EventKind::epoch_activated, epoch);
  }
  epoch.active = true;
  active_.append(epoch);
}

Epoch& Epochs::list_hot_lock() {
  Epoch& epoch = create(EpochKind::lock);
  epoch.exclusive = hot_lock_.exclusive;
  if (all_locks_) epoch.opened_at = hot_lock_.opened_at;
  activate_listed(epoch, !all_locks_);
  Target& target = add_target(epoch, hot_lock_.one.rank);
  target.access = Target::Access::granted;
  if (hot_lock_.one.used.load()) mark(target.used);
  EpochPeer& locked = peer(target.rank);
  locked.lock = locked.locking = locked.entitled = &epoch;
  if (locked.ready.load() != nullptr) {
    locked.ready.store(&target, std::memory_order_release);
  }
  hot_lock_open_ = false;
  return epoch;
}

Epoch& Epochs::list_hot_lock_all() {
  Epoch& epoch = create(EpochKind::lock_all);
  epoch.nonblocking = hot_lock_all_.nonblocking;
  // The thread that opened it is not known: in a process of several threads, its locks are in no
  // order with those of their epochs.
  lock_order_.assign_position(epoch, *this, all_threads);
  activate_listed(epoch, true);
  epoch.awaited = rank_ + 1;  // the rank's own lock is held, or not needed
  access_ = &epoch;
  if (own_lock_held_ && peer(rank_).touched != &hot_lock_all_) {
    link(rank_).make_ready(add_hot_target(rank_));
  }
  for (const Target& hot : hot_lock_all_) {
    Target& target = touch(epoch, hot.rank);
    target.access = Target::Access::granted;
    EpochPeer& other = peer(hot.rank);
    other.locking = &epoch;
    if (other.ready.load() != nullptr) other.ready.store(&target, std::memory_order_release);
  }
  hot_lock_all_.targets = nullptr;
  return epoch;
}

/// The target lives as long as the window: threads without the lock may use it while its epoch
/// moves to the list.
Target& Epochs::create_hot_target(int rank) {
  Target& target = pools_.targets.acquire();
  target.rank = rank;
  target.access = Target::Access::granted;
  target.passive = target.lasting = true;
  peer(rank).hot_target = &target;
  hot_targets_.push_back(&target);
  return target;
}

}  // namespace oriel
