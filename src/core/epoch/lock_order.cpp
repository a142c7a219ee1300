// SPDX-License-Identifier: BSD-3-Clause
#include "core/epoch/lock_order.hpp"

#include <algorithm>
#include <bit>

#include "core/epoch/epochs.hpp"

namespace oriel {

void LockOrder::assign_position(Epoch& epoch, Epochs& owner, ThreadSet thread) {
  epoch.owner = &owner;
  epoch.lock_number = ++entered_;
  epoch.lock_queue = Epoch::no_lock_queue;
  // Threads that share a bit are in no order: one thread would wait for a lock of another one.
  if (thread == no_threads || thread == further_threads) return;
  const int queue = thread == all_threads ? 0 : std::countr_zero(thread) + 1;
  epoch.lock_queue = static_cast<std::uint8_t>(queue);
  epoch.opened_within = queues_[epoch.lock_queue].last();
  epoch.opened_within_number =
      epoch.opened_within != nullptr ? epoch.opened_within->lock_number : 0;
  queues_used_ = std::max(queues_used_, static_cast<std::size_t>(queue) + 1);
}

const Epoch* LockOrder::first_before(const Epoch& epoch) const {
  if (epoch.lock_queue == Epoch::no_lock_queue) return nullptr;
  const Epoch* first = queues_[epoch.lock_queue].first();
  return first != nullptr && first->lock_number < epoch.lock_number ? first : within(epoch);
}

/// The last epoch with due locks that was open when `epoch` was opened; it may have been closed
/// since. Null if its locks are no longer due; then the locks of the others were granted before.
const Epoch* LockOrder::within(const Epoch& epoch) {
  const Epoch* last = epoch.opened_within;
  // Otherwise that epoch is over, and the object may be another epoch now.
  const bool same = last != nullptr && last->lock_number == epoch.opened_within_number;
  return same && last->locks_due != 0 ? last : nullptr;
}

bool LockOrder::behind_nonblocking(const Epoch& epoch) const {
  if (empty() || epoch.lock_queue == Epoch::no_lock_queue) return false;
  const auto nonblocking = [](const Epoch& earlier) {
    return earlier.nonblocking || earlier.left_pending() || earlier.owner->behind_pending(earlier);
  };
  for (const Epoch* open = queues_[epoch.lock_queue].first();
       open != nullptr && open->lock_number < epoch.lock_number;
       open = EpochsByLockOrder::after(*open)) {
    if (nonblocking(*open)) return true;
  }
  for (const Epoch* last = within(epoch); last != nullptr; last = within(*last)) {
    if (nonblocking(*last)) return true;
  }
  return false;
}

void LockOrder::add_due_lock(Epoch& epoch, Target& target) {
  if (target.lock_due || epoch.lock_queue == Epoch::no_lock_queue) return;
  target.lock_due = true;
  if (epoch.locks_due++ != 0) return;
  if (!epoch.closed) {
    // Usually at the end: only a lock_all epoch is inserted again, for another target.
    queues_[epoch.lock_queue].insert(
        epoch, [&](const Epoch& earlier) { return earlier.lock_number < epoch.lock_number; });
    ++open_epochs_;
  }
  epochs_.store(epochs_.load() + 1);
  epoch.locks_deferred = !permits(epoch);
  if (epoch.locks_deferred) epoch.owner->work().add();  // sweep() requests them
}

void LockOrder::mark_closed(Epoch& epoch) {
  if (epoch.locks_due != 0) drop_from_queue(epoch);
}

void LockOrder::drop_from_queue(Epoch& epoch) {
  queues_[epoch.lock_queue].remove(epoch);
  --open_epochs_;
}

void LockOrder::unlink(Epoch& epoch) {
  if (!epoch.closed) drop_from_queue(epoch);
  epochs_.store(epochs_.load() - 1);
  if (epoch.locks_deferred) epoch.owner->work().remove();
}

bool LockOrder::sweep() {
  bool moved = false;
  for (std::size_t i = 0; i < queues_used_ && !empty(); ++i) {
    // When the first epoch holds its locks, the next one may request its own.
    for (Epoch* first = queues_[i].first(); first != nullptr && first->active;) {
      moved |= first->owner->request_locks(*first);
      Epoch* next = queues_[i].first();
      if (next == first) break;
      first = next;
    }
  }
  return moved;
}

}  // namespace oriel
