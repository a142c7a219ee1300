// SPDX-License-Identifier: BSD-3-Clause
#include "core/epoch/lock_order.hpp"

#include <algorithm>
#include <bit>

#include "core/epoch/epochs.hpp"

namespace oriel {

void LockOrder::assign_place(Epoch& epoch, Epochs& owner, ThreadSet thread) {
  epoch.owner = &owner;
  epoch.lock_number = ++entered_;
  epoch.lock_queue = Epoch::no_lock_queue;
  if (thread == no_threads) return;
  // A process with one thread names all_threads, and threads without a line share the last bit.
  const int queue = thread == all_threads ? 0 : std::countr_zero(thread) + 1;
  epoch.lock_queue = static_cast<std::uint8_t>(queue);
  epoch.opened_within = queues_[epoch.lock_queue].open.last();
  epoch.opened_within_number =
      epoch.opened_within != nullptr ? epoch.opened_within->lock_number : 0;
  queues_used_ = std::max(queues_used_, static_cast<std::size_t>(queue) + 1);
}

const Epoch* LockOrder::first_before(const Epoch& epoch) const {
  if (epoch.lock_queue == Epoch::no_lock_queue) return nullptr;
  const Queue& queue = queues_[epoch.lock_queue];
  const auto before = [&](const Epoch* first) {
    return first != nullptr && first->lock_number < epoch.lock_number ? first : nullptr;
  };
  const Epoch* open = before(queue.open.first());
  const Epoch* closed = before(queue.closed.first());
  if (closed != nullptr && epoch.owner->reorder().access_after_access) closed = within(epoch);
  if (open == nullptr || closed == nullptr) return open != nullptr ? open : closed;
  return open->lock_number < closed->lock_number ? open : closed;
}

/// The last of the epochs that were open when this one was opened, if its locks are still due: then
/// the locks of the others were granted earlier.
const Epoch* LockOrder::within(const Epoch& epoch) {
  const Epoch* last = epoch.opened_within;
  // Else it is over, and the object may be another epoch now.
  const bool same = last != nullptr && last->lock_number == epoch.opened_within_number;
  return same && last->locks_due != 0 ? last : nullptr;
}

void LockOrder::add_due_lock(Epoch& epoch, Target& target) {
  if (target.lock_due || epoch.lock_queue == Epoch::no_lock_queue) return;
  target.lock_due = true;
  if (epoch.locks_due++ != 0) return;
  insert(list_of(queues_[epoch.lock_queue], epoch), epoch);
  epochs_.store(epochs_.load() + 1);
  epoch.locks_deferred = !permits(epoch);
  if (epoch.locks_deferred) epoch.owner->work().add();  // sweep() requests them
}

/// Nearly always at the end: only a lock_all epoch comes again, for another target.
void LockOrder::insert(EpochsByLockOrder& list, Epoch& epoch) {
  Epoch* previous = list.last();
  while (previous != nullptr && previous->lock_number > epoch.lock_number) {
    previous = EpochsByLockOrder::before(*previous);
  }
  list.insert(epoch, previous);
}

void LockOrder::note_closed(Epoch& epoch) {
  if (epoch.locks_due == 0) return;
  Queue& queue = queues_[epoch.lock_queue];
  queue.open.remove(epoch);
  insert(queue.closed, epoch);
}

void LockOrder::unlink(Epoch& epoch) {
  list_of(queues_[epoch.lock_queue], epoch).remove(epoch);
  epochs_.store(epochs_.load() - 1);
  if (epoch.locks_deferred) epoch.owner->work().remove();
}

bool LockOrder::sweep() {
  bool moved = false;
  for (std::size_t i = 0; i < queues_used_ && !empty(); ++i) {
    // When the first epoch has its locks, the next one may request its own.
    for (Epoch* first = queues_[i].open.first(); first != nullptr && first->active;) {
      moved |= first->owner->request_locks(*first);
      Epoch* next = queues_[i].open.first();
      if (next == first) break;
      first = next;
    }
  }
  return moved;
}

}  // namespace oriel
